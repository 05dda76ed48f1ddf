"""What carrying plans out may reach: the lists, and the few things that it writes.

Pods are evicted, never deleted, and a pod, a template or a secret can't be written at all:
kubectl's proxy answers 403 by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner.sources.live.kinds import NODES
from planner.sources.live.kubectl_proxy import READING, Access

NAME = "[a-z0-9][-a-z0-9.]*"
"""Names as Kubernetes has them: neither `..` nor anything with a slash."""

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
"""Who am I?"""


def node_path(name: str) -> str:
    """A node, which may be cordoned."""
    return f"{NODES.path}/{name}"


def eviction_path(namespace: str, pod: str) -> str:
    """The Eviction API of a pod."""
    return f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"


def leases_path(namespace: str) -> str:
    """The Leases of a namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"


def events_path(namespace: str) -> str:
    """The Events of a namespace."""
    return f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"


def writing(namespace: str, lease: str, more: Sequence[str] = ()) -> Access:
    """The access of `planner apply`, whose lock is this Lease; `more` are further paths.

    PUT and DELETE are refused altogether. A proxy can't tell methods apart by path: what is posted
    where is for `writing.py` to say, and for the user's role.
    """
    locks = leases_path(re.escape(namespace))
    return Access(
        (
            *READING.paths,
            node_path(NAME),
            eviction_path(NAME, NAME),
            locks,
            f"{locks}/{re.escape(lease)}",
            events_path(NAME),
            re.escape(REVIEWS),
            *more,
        ),
        rejected=("PUT", "DELETE"),
    )
