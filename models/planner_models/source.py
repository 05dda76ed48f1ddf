"""`source`: which cluster a document is about, and when it was read."""

from __future__ import annotations

from datetime import datetime

from planner_models.base import Document


class ClusterSource(Document):
    """The cluster that was read.

    `cluster` is the uid of its namespace kube-system, which no other cluster has; it alone is known
    of files, where they hold that namespace. `context` is the kubeconfig's, `server` the version of
    the API server. All was read at `resourceVersion`, or soon after `readAt` where the server can't
    tell of one state; that took `readMilliseconds`. `notRead` are the kinds that the user may not
    list.
    """

    cluster: str | None = None
    context: str | None = None
    server: str | None = None
    resource_version: str | None = None
    read_at: datetime | None = None
    read_milliseconds: int | None = None
    not_read: tuple[str, ...] = ()
