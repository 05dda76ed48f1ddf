"""`planner run`."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer

import planner
from planner.cli.evict import IgnoredStrategies
from planner.cli.live_options import live_given
from planner.cli.options import IgnoredPlugins, SchedulerConfig, Verbose, named

PolicyFile = Annotated[
    str,
    named(
        "--policy",
        "A RunPolicy, or a DeschedulerPolicy as it is; read again before every round.",
        "FILE",
    ),
]
Mode = Annotated[
    str | None,
    named("--mode", "DryRun or Apply, in place of what the policy says.", "MODE"),
]
Cordons = Annotated[
    bool,
    typer.Option("--cordons", help="Allow cordons where the policy doesn't.", show_default=False),
]
Once = Annotated[
    bool,
    typer.Option("--once", help="One round, as a CronJob has it.", show_default=False),
]
Port = Annotated[
    int,
    typer.Option("--port", min=0, max=65535, help="Of /healthz, /readyz and /metrics."),
]
LogFormat = Annotated[
    str, typer.Option("--log-format", metavar="json|text", help="How the log is written.")
]
RoundTimeout = Annotated[
    str,
    typer.Option("--round-timeout", metavar="TIME", help="When a step of a round is given up."),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", metavar="SECONDS", help="When to stop looking for fewer."),
]
OwnNamespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="Where planner keeps its Lease and its state, by default in its own namespace.",
        show_default=False,
    ),
]


def run(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    policy: PolicyFile,
    mode: Mode = None,
    cordons: Cordons = False,
    ignored_strategies: IgnoredStrategies = None,
    once: Once = False,
    log_format: LogFormat = "json",
    port: Port = 8080,
    time_limit: TimeLimit = 60.0,
    round_timeout: RoundTimeout = "30m",
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    namespace: OwnNamespace = None,
    verbose: Verbose = False,
) -> int:
    """Keep a running cluster within a policy, round after round.

    A round reads the cluster, looks for evictions after which kube-scheduler repairs it, and with
    mode: Apply carries them out. DryRun, the default, writes nothing but its Lease, its state and
    events on pods that wait. Beside planner apply it is the only command that changes a cluster.
    Exit code 3 with --once if a rule stays broken, or the plan was stopped.

    \b
    planner run --policy policy.yaml --log-format text
    planner run --policy policy.yaml --mode Apply --once
    planner evict --run-policy policy.yaml
    """
    return planner.run_policy(
        policy,
        live=live_given(context),
        mode=cast("Literal['DryRun', 'Apply'] | None", mode),
        cordons=cordons,
        ignored_strategies=ignored_strategies or (),
        once=once,
        port=port,
        log_format=cast("Literal['json', 'text']", log_format),
        time_limit=time_limit,
        round_timeout=round_timeout,
        scheduler=scheduler_config,
        ignored_plugins=ignored or (),
    )
