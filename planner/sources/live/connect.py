"""Which way leads to the cluster that the user means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.sources.live.api import Api
from planner.sources.live.in_cluster import InCluster, mounted
from planner.sources.live.kubectl_proxy import READING, Access, KubectlProxy

TIMEOUT = 60.0
"""Seconds that one request may take."""


@dataclass(frozen=True)
class Wanted:
    """A cluster, and as whom to read it; without anything, that of the current context."""

    context: str | None = None
    kubeconfig: str | None = None
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()
    timeout: float | None = TIMEOUT
    in_cluster: bool = False

    def flags(self) -> Iterator[str]:
        """The same for kubectl."""
        for name, value in (
            ("--kubeconfig", self.kubeconfig),
            ("--context", self.context),
            ("--as", self.as_user),
        ):
            if value is not None:
                yield f"{name}={value}"
        yield from (f"--as-group={group}" for group in self.as_groups)


def connect(wanted: Wanted, access: Access = READING) -> Api:
    """The way, not yet waited for; in a pod its own role is what limits access.

    As client-go has it: a kubeconfig that is named or there counts; without any, a pod uses its
    service account.
    """
    if wanted.in_cluster or (not any(wanted.flags()) and not _has_kubeconfig() and mounted()):
        return InCluster(wanted.timeout)
    return KubectlProxy(tuple(wanted.flags()), wanted.timeout, access)


def _has_kubeconfig() -> bool:
    return bool(os.environ.get("KUBECONFIG")) or (Path.home() / ".kube" / "config").is_file()
