"""`planner evict`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import (
    AllNamespaces,
    AllowJobs,
    AllowOwners,
    Cache,
    Example,
    Filenames,
    IgnoredPlugins,
    MaxInput,
    MaxUnavailable,
    Namespace,
    PlanFormat,
    ReportFile,
    SchedulerConfig,
    Seeds,
    Selector,
    SkipInvalid,
    Targets,
    Verbose,
    WaveNumber,
    limit,
    named,
)
from planner.cli.output import show, write_page
from planner.cli.progress import ProgressLine
from planner.cli.workers import Dask, Jobs, chosen_workers
from planner.errors import UsageError
from planner.exit_codes import DONE, INTERRUPTED, NEGATIVE, UNDECIDED
from planner.report.text.formats import PlanOutput

if TYPE_CHECKING:
    from planner_models.evictions import EvictionPlan

For = Annotated[
    list[str] | None,
    named(
        "--for",
        "spread (hard rules, the default), soft (ScheduleAnyway and PreferNoSchedule too, "
        "not preferred affinity), utilization (even load), consolidate (empty the least used "
        "nodes), or a node to empty, from which alone pods are evicted unless spread is given, "
        "too. Repeatable.",
        "GOAL|NODE",
    ),
]
Total = Annotated[int | None, limit("--max-evictions", "In total.")]
PerNode = Annotated[int | None, limit("--max-evictions-per-node", "Per node.")]
PerNamespace = Annotated[int | None, limit("--max-evictions-per-namespace", "Per namespace.")]
BarePods = Annotated[
    bool, typer.Option("--allow-bare-pods", help="Evict pods that no controller brings back, too.")
]
LocalStorage = Annotated[
    bool, typer.Option("--allow-local-storage", help="Evict pods with local storage, too.")
]
Threshold = Annotated[
    str | None,
    named("--priority-threshold", "Leave pods of this priority and above alone.", "NUMBER|CLASS"),
]
PolicyFile = Annotated[
    str | None, named("--policy", "A DeschedulerPolicy to compare with.", "FILE")
]
RunPolicyFile = Annotated[
    str | None,
    named(
        "--run-policy",
        "Plan as planner run would under this RunPolicy or DeschedulerPolicy: its goals, its "
        "limits, whom it spares.",
        "FILE",
    ),
]
IgnoredStrategies = Annotated[
    list[str] | None,
    named(
        "--ignore-strategy",
        "With --run-policy: go on without this strategy of a DeschedulerPolicy. Repeatable.",
        "NAME",
    ),
]
LeaveAlone = Annotated[
    list[str] | None,
    named(
        "--leave-alone",
        "With --run-policy: evict no pods of this workload, such as shop/deploy/api. Repeatable.",
        "NAMESPACE/KIND/NAME",
    ),
]
Cordons = Annotated[
    bool,
    typer.Option(
        "--cordons",
        help="With --run-policy: allow cordons where the policy doesn't.",
        show_default=False,
    ),
]
LikeDescheduler = Annotated[
    bool,
    typer.Option(
        "--like-descheduler", help="Show what the descheduler would do, round after round."
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", metavar="SECONDS", help="When to stop looking for fewer."),
]


def evict(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    targets: Targets = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = None,
    cache: Cache = False,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = None,
    goals: For = None,
    seeds: Seeds = None,
    max_evictions: Total = None,
    per_node: PerNode = None,
    per_namespace: PerNamespace = None,
    max_unavailable: MaxUnavailable = None,
    allow_bare_pods: BarePods = False,
    allow_local_storage: LocalStorage = False,
    allow_jobs: AllowJobs = False,
    allow_owners: AllowOwners = None,
    priority_threshold: Threshold = None,
    policy: PolicyFile = None,
    like_descheduler: LikeDescheduler = False,
    run_policy: RunPolicyFile = None,
    ignored_strategies: IgnoredStrategies = None,
    leave_alone: LeaveAlone = None,
    cordons: Cordons = False,
    wave: WaveNumber = None,
    time_limit: TimeLimit = 60.0,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    jobs: Jobs = None,
    dask: Dask = None,
    output: PlanFormat = PlanOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Suggest evictions after which kube-scheduler itself repairs the spread.

    Nothing is changed: -o script writes a shell script that does it.
    Exit code 3 if a rule stays broken, or the outcome depends on ties, 4 if nothing was found for
    pending pods and nothing is proven.

    \b
    planner evict -n shop
    planner evict -f cluster.json
    planner evict -f cluster.json --for node-7 --for spread -o script
    planner evict --example zone-outage --like-descheduler
    """
    _check_run_policy(context, run_policy)
    cluster = read_cluster(context, filenames, example)
    with (
        chosen_workers(context, jobs, dask) as workers,
        ProgressLine(sys.stderr, time_limit) as progress,
    ):
        plan = (
            cluster.evict_under(
                run_policy,
                ignored_strategies=ignored_strategies or (),
                leave_alone=leave_alone or (),
                cordons=cordons,
                seeds=seeds,
                time_limit=time_limit,
                scheduler=scheduler_config,
                ignored_plugins=ignored or (),
                jobs=workers,
                progress=progress,
            )
            if run_policy is not None
            else cluster.evict(
                *(targets or ()),
                namespace=namespace,
                all_namespaces=all_namespaces,
                selector=selector,
                goals=[word for each in goals or ["spread"] for word in each.split(",") if word],
                seeds=seeds,
                max_evictions=max_evictions,
                max_evictions_per_node=per_node,
                max_evictions_per_namespace=per_namespace,
                max_unavailable=max_unavailable,
                allow_bare_pods=allow_bare_pods,
                allow_local_storage=allow_local_storage,
                allow_jobs=allow_jobs,
                allow_owners=allow_owners or (),
                priority_threshold=priority_threshold,
                policy=policy,
                like_descheduler=like_descheduler,
                time_limit=time_limit,
                scheduler=scheduler_config,
                ignored_plugins=ignored or (),
                jobs=workers,
                progress=progress,
            )
        )
    write_page(context, plan, report)
    show(context, plan if wave is None else plan.only_wave(wave), output)
    return exit_code(plan)


UNDER_POLICY = ("ignored_strategies", "leave_alone", "cordons")
"""Parameters that go with a run policy."""
IN_PLACE_OF_POLICY = (
    *("targets", "namespace", "all_namespaces", "selector", "goals", "max_evictions", "per_node"),
    *("per_namespace", "max_unavailable", "allow_bare_pods", "allow_local_storage", "allow_jobs"),
    *("allow_owners", "priority_threshold", "policy", "like_descheduler"),
)
"""Parameters that a run policy speaks about itself."""


def _check_run_policy(context: typer.Context, run_policy: str | None) -> None:
    """A run policy says itself what others say by options."""
    other = UNDER_POLICY if run_policy is None else IN_PLACE_OF_POLICY
    given = {name for name in other if context.params.get(name)}
    for each in context.command.params:
        if each.name in given:
            word = "needs" if run_policy is None else "goes without"
            raise UsageError(f"{max(each.opts, key=len)} {word} --run-policy")


def exit_code(document: EvictionPlan) -> int:
    """0: the goals are reached whatever ties kube-scheduler draws.

    4: pods wait, and the search for evictions that help them ended without a proof.
    """
    if document.stopped == "interrupted":
        return INTERRUPTED
    if not document.converges or document.after.violations:
        return NEGATIVE
    found_nothing = not document.evictions and document.after.pending
    return UNDECIDED if found_nothing and document.stopped is not None else DONE
