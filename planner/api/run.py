"""`planner.run_policy` and `planner.run_status`: rounds in a cluster, and what became of them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from planner.api.arguments import one_of, require_at_least, require_time
from planner.api.live import Live, seconds_of
from planner.errors import UsageError

if TYPE_CHECKING:
    from planner_models.run_state import RunStatus

NAMESPACE = "planner-system"
"""Where the manifests of deploy/ put planner."""
MODES = ("DryRun", "Apply")
FORMATS = ("json", "text")
REQUEST_TIMEOUT = "10s"
"""Of the process that holds the Lease: it has to notice in time that it can't renew it."""


def run_policy(  # noqa: PLR0913 - options are keywords
    policy: str | os.PathLike[str],
    *,
    live: Live | None = None,
    mode: Literal["DryRun", "Apply"] | None = None,
    cordons: bool = False,
    ignored_strategies: Sequence[str] = (),
    once: bool = False,
    port: int | None = 8080,
    log_format: Literal["json", "text"] = "json",
    time_limit: float = 60.0,
    round_timeout: str | float = "30m",
    scheduler: str | None = None,
    ignored_plugins: Sequence[str] = (),
    stream: TextIO | None = None,
) -> int:
    """Keep a cluster within a policy, round after round, until SIGTERM or Ctrl-C.

    `policy` is the file of a RunPolicy or a DeschedulerPolicy; `mode` and `cordons` count in place
    of what it says. With `once` there is one round. Nothing is evicted unless the mode is `Apply`.
    The namespace of `live` is where planner keeps its Lease and its state.
    """
    require_time(time_limit)
    require_at_least("port", port, 0)
    one_of("log_format", log_format, FORMATS)
    if mode is not None:
        one_of("mode", mode, MODES)
    from planner.run.metrics import require_prometheus

    require_prometheus()
    from planner.run.policy import Overrides
    from planner.run.start import Start, start

    where = live or Live()
    if where.max_age is not None:
        raise UsageError("`max_age` is not for rounds: they read the cluster as it is")
    given = Live(**{**where.__dict__, "request_timeout": where.request_timeout or REQUEST_TIMEOUT})
    seconds = seconds_of(round_timeout, "round_timeout")
    planning = ["--scheduler-config", scheduler] if scheduler else []
    planning += [word for name in ignored_plugins for word in ("--ignore-plugin", name)]
    words = tuple(shlex.split(" ".join(where.arguments))) or ("--live",)
    if where.request_timeout is not None:
        words = (*words, "--request-timeout", str(where.request_timeout))
    return start(
        Start(
            file=os.fspath(policy),
            wanted=given.wanted(),
            namespace=where.namespace,
            overrides=Overrides(mode, cordons, tuple(ignored_strategies)),
            live=words,
            planning=tuple(planning),
            time_limit=time_limit,
            round_timeout=float("inf") if seconds is None else seconds,
            port=port,
            once=once,
            log_format=log_format,
        ),
        stream or sys.stderr,
    )


def run_status(*, live: Live | None = None) -> RunStatus:
    """What `planner run` does in a cluster, as its ConfigMap and its Lease tell."""
    from planner.run.start import status_of

    where = live or Live()
    return status_of(where.wanted(), where.namespace or NAMESPACE)
