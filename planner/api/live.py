"""Running clusters: which one to read, and what the user may not have been shown of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from planner.errors import PlannerError, UsageError

if TYPE_CHECKING:
    from planner.sources.live.connect import Wanted
    from planner.sources.live.reader import ReadProgress
    from planner.sources.live.snapshot import LiveRead
    from planner.sources.options import ReadOptions
    from planner.sources.read import Document

_DURATION = re.compile(r"(?P<number>[0-9]+(?:[.][0-9]+)?)(?P<unit>ms|s|m|h|)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1, "": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Live:
    """A running cluster, by the options of kubectl; without any, that of the current context.

    `namespace` is where manifests go that name none, and where targets are looked up; without it,
    that of the context. `request_timeout` is what one request may take, such as `"30s"`; 0 is no
    limit. `in_cluster` reads with the service account of the pod that planner runs in. `max_age`,
    such as `"10m"`, takes what an earlier reading kept in the user's cache, if it is young enough.
    """

    context: str | None = None
    kubeconfig: str | None = None
    namespace: str | None = None
    as_user: str | None = None
    as_groups: Sequence[str] = ()
    request_timeout: str | float | None = None
    in_cluster: bool = False
    max_age: str | float | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What a command line needs to read the same cluster."""
        named = (
            ("--context", self.context),
            ("--kubeconfig", self.kubeconfig),
            ("--as", self.as_user),
            *(("--as-group", group) for group in self.as_groups),
        )
        words = [word for name, value in named if value for word in (name, quote(value))]
        return (*words, *(("--in-cluster",) if self.in_cluster else ()))

    def wanted(self) -> Wanted:
        """The same for the sources."""
        from planner.sources.live.connect import TIMEOUT, Wanted

        if self.in_cluster and self.arguments != ("--in-cluster",):
            raise UsageError(
                "`in_cluster` reads with the service account of this pod",
                help="it goes without the options that choose a kubeconfig, a context or a user",
            )
        given = self.request_timeout
        timeout = TIMEOUT if given is None else seconds_of(given)
        return Wanted(
            self.context,
            self.kubeconfig,
            self.as_user,
            tuple(self.as_groups),
            timeout,
            self.in_cluster,
        )


def seconds_of(given: str | float, argument: str = "request_timeout") -> float | None:
    """`30s`, `5m` or a number of seconds; None for 0, which is no limit."""
    found = _DURATION.fullmatch(str(given))
    if not found:
        raise UsageError(
            f"`{argument}` is {given!r}, which is no time",
            help="such as 30s, 5m, or 0 for no limit",
        )
    return float(found["number"]) * _SECONDS[found["unit"]] or None


def read_live(
    live: Live,
    documents: Callable[[], Sequence[Document]],
    options: ReadOptions,
    progress: Callable[[ReadProgress], object] | None,
    *,
    keep_objects: bool,
) -> tuple[LiveRead, str]:
    """The cluster, and the namespace in which it is looked at.

    It takes kubectl a moment to start: files are read, and modules imported, meanwhile.
    """
    from planner.sources.live.connect import connect

    with closing(connect(live.wanted())) as api:
        from planner.sources.live.snapshot import read_snapshot

        given = documents()
        api.ready()
        namespace = live.namespace or api.namespace
        read = read_snapshot(
            api,
            given,
            options,
            progress or (lambda _: None),
            namespace=namespace,
            keep_objects=keep_objects,
        )
    return read, namespace


def most_seconds(live: Live) -> float:
    """How old what was read may be; 0 is never."""
    return 0.0 if live.max_age is None else seconds_of(live.max_age, "max_age") or 0.0


def cluster_name(live: Live) -> tuple[str, str]:
    """What tells this cluster and this reader from all others, and the namespace to look at."""
    from planner.sources.live.connect import connect

    with closing(connect(live.wanted())) as api:
        api.ready()
        files = live.kubeconfig or os.environ.get("KUBECONFIG", "")
        named = (api.place, files, live.as_user or "", *live.as_groups)
        return "\n".join(named), live.namespace or api.namespace


def live_names(live: Live, kind: str, *, waiting_first: bool = False) -> Sequence[tuple[str, str]]:
    """Names of pods of the namespace, of nodes or of namespaces, and a word about each."""
    from planner.sources.live.api import ApiError, UnreachableError
    from planner.sources.live.connect import connect
    from planner.sources.live.kinds import KINDS
    from planner.sources.live.names import names

    wanted = next(each for each in KINDS if each.resource == kind)
    with closing(connect(live.wanted())) as api:
        api.ready()
        namespace = live.namespace or api.namespace
        try:
            return tuple(names(api, wanted, namespace, waiting_first=waiting_first))
        except (ApiError, UnreachableError) as error:
            raise PlannerError(f"can't list {kind}", detail=str(error)) from error


def require_budgets(not_read: Sequence[str], command: str) -> None:
    """Whoever plans evictions has to know all disruption budgets."""
    if "poddisruptionbudgets" in not_read:
        from planner.sources.errors import SourceError

        raise SourceError(
            f"you may not list poddisruptionbudgets, and {command} must not plan around them",
            help="planner rbac > rbac.yaml is what an administrator would have to grant",
        )
