"""`planner evict`."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.errors import UsageError, quiet_when_nobody_reads
from planner.cli.input import input_paths, read_cluster, require_nodes
from planner.cli.options import (
    MAX_INPUT_TEXT,
    AllowJobs,
    AllowOwners,
    Example,
    Filenames,
    MaxInput,
    PlanFormat,
    ReportFile,
    SkipInvalid,
    Verbose,
)
from planner.cli.simulate import IgnoredPlugins, SchedulerConfig
from planner.cli.solve import MaxUnavailable, default_profile_of
from planner.report.text.formats import Output, PlanOutput
from planner.solver.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.evictions.goals import Goal
    from planner.evictions.suggestion import EvictOptions
    from planner.report.emit import Origin
    from planner.scheduler.profile import Profile
    from planner.sources.inventory import Inventory
    from planner_models.descheduler_policy import DeschedulerPolicy
    from planner_models.evictions import EvictionPlan

NEGATIVE = 3
MOST_SEEDS = 10_000

For = Annotated[
    list[str] | None,
    typer.Option(
        "--for",
        metavar="GOAL|NODE",
        help="spread (hard rules, the default), soft (ScheduleAnyway and PreferNoSchedule too, "
        "not preferred affinity), utilization (even load), consolidate (empty the least used "
        "nodes), or a node to empty, from which alone pods are evicted unless spread is given, "
        "too. Repeatable.",
        show_default=False,
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds",
        min=1,
        max=MOST_SEEDS,
        metavar="N",
        help="Tie seeds and orders of arrival to try; 20, fewer for very large plans.",
        show_default=False,
    ),
]
Total = Annotated[
    int | None,
    typer.Option("--max-evictions", min=0, metavar="N", help="In total.", show_default=False),
]
PerNode = Annotated[
    int | None,
    typer.Option(
        "--max-evictions-per-node", min=0, metavar="N", help="Per node.", show_default=False
    ),
]
PerNamespace = Annotated[
    int | None,
    typer.Option(
        "--max-evictions-per-namespace",
        min=0,
        metavar="N",
        help="Per namespace.",
        show_default=False,
    ),
]
BarePods = Annotated[
    bool, typer.Option("--allow-bare-pods", help="Evict pods that no controller brings back, too.")
]
LocalStorage = Annotated[
    bool, typer.Option("--allow-local-storage", help="Evict pods with local storage, too.")
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--priority-threshold",
        metavar="NUMBER|CLASS",
        help="Leave pods of this priority and above alone.",
        show_default=False,
    ),
]
PolicyFile = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="A DeschedulerPolicy to compare with.",
        show_default=False,
    ),
]
LikeDescheduler = Annotated[
    bool,
    typer.Option(
        "--like-descheduler", help="Show what the descheduler would do, round after round."
    ),
]
WaveNumber = Annotated[
    int | None,
    typer.Option("--wave", min=1, metavar="N", help="Show this wave only.", show_default=False),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", metavar="SECONDS", help="When to stop looking for fewer."),
]


def evict(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = MAX_INPUT_TEXT,
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
    wave: WaveNumber = None,
    time_limit: TimeLimit = 60.0,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    output: PlanFormat = PlanOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Suggest evictions after which kube-scheduler itself repairs the spread.

    Nothing is changed: -o script writes a shell script that does it.
    Exit code 3 if a rule stays broken, or the outcome depends on ties.

    \b
    planner evict -f cluster.json
    planner evict -f cluster.json --for node-7 --for spread -o script
    planner evict --example zone-outage --like-descheduler
    """
    if not 0 < time_limit < float("inf"):
        raise UsageError(f"--time-limit is {time_limit:g}; it must be above 0")
    from planner.cli.scheduler_config import read_filtering_profiles
    from planner.descheduler.strategies.limits import Limits
    from planner.disruption.movability import MovePolicy
    from planner.evictions.protection import Protection
    from planner.evictions.suggestion import EvictOptions
    from planner.report.emit import Origin

    paths = input_paths(context.command_path, filenames, example, sys.stdin.isatty())
    inventory, cluster = read_cluster(context, paths)
    require_nodes(cluster)
    profiles = read_filtering_profiles(inventory, scheduler_config, ignored or [])
    profile = default_profile_of(profiles)
    named, nodes = _goals(cluster, goals or ["spread"])
    options = EvictOptions(
        goals=named,
        nodes=nodes,
        protection=Protection(
            MovePolicy(
                bare_pods=allow_bare_pods,
                local_storage=allow_local_storage,
                jobs=allow_jobs,
                owners=frozenset(allow_owners or ()),
            ),
            _priority(cluster, priority_threshold),
        ),
        limits=Limits(max_evictions, per_node, per_namespace),
        seeds=seeds,
        max_unavailable=max_unavailable,
        time_limit=time_limit,
    )
    rules = _policy(inventory, policy)
    document = _document(cluster, options, profile, rules, like_descheduler, policy)
    code = exit_code(document)
    if report is not None:
        from planner.report.html.evict_page import evict_page
        from planner.report.html.render import write_report

        write_report(report, evict_page(cluster, document))
    with quiet_when_nobody_reads():
        _write(_only(document, wave), output, Origin("planner evict", filenames or (), cluster))
    return code


def exit_code(document: EvictionPlan) -> int:
    """0: the goals are reached whatever ties kube-scheduler draws."""
    if document.stopped == "interrupted":
        return INTERRUPTED
    return 0 if document.converges and not document.after.violations else NEGATIVE


def _document(
    cluster: Cluster,
    options: EvictOptions,
    profile: Profile,
    policy: DeschedulerPolicy | None,
    like: bool,
    file: str | None,
) -> EvictionPlan:
    from planner.cli.progress import ProgressLine
    from planner.documents.eviction_plan import make_eviction_plan
    from planner.documents.like_descheduler import descheduler_plan
    from planner.evictions.suggest import find_evictions

    with ProgressLine(sys.stderr) as progress:
        if like:
            ours = find_evictions(cluster, options, profile, progress)
            name = "usual policy" if policy is None else (file or "policy")
            return descheduler_plan(cluster, policy, name, ours)
        policies = () if policy is None else (policy,)
        return make_eviction_plan(cluster, options, profile, policies=policies, progress=progress)


def _goals(cluster: Cluster, words: list[str]) -> tuple[tuple[Goal, ...], tuple[int, ...]]:
    """Goals by their name, nodes by theirs; `node/spread` is a node in any case."""
    from planner.evictions.goals import GOALS
    from planner.sources.errors import SourceError

    nodes: list[int] = []
    given: set[str] = set()
    for word in (part for each in words for part in each.split(",") if part):
        name = word.removeprefix("node/")
        if name == word and word in GOALS:
            given.add(word)
            continue
        if name not in cluster.node_index:
            close = get_close_matches(name, [*GOALS, *cluster.node_index], n=1)
            meant = f"did you mean {close[0]}? " if close else ""
            raise SourceError(
                f"--for {word}: there is no such goal and no such node",
                help=f"{meant}goals are {', '.join(GOALS)}",
            )
        nodes.append(cluster.node_index[name])
    return tuple(goal for goal in GOALS if goal in given), tuple(sorted(set(nodes)))


def _priority(cluster: Cluster, text: str | None) -> int | None:
    """A number, or the value of a PriorityClass of the input."""
    from planner_models.workload import SYSTEM_PRIORITY_CLASSES

    if text is None:
        return None
    if text.removeprefix("-").isdecimal():
        return int(text)
    classes = {**SYSTEM_PRIORITY_CLASSES, **cluster.priority_classes}
    if text not in classes:
        raise UsageError(
            f"--priority-threshold {text}: the input has no PriorityClass of that name",
            help=f"a number, or one of {', '.join(sorted(classes))}",
        )
    return classes[text]


def _policy(inventory: Inventory, file: str | None) -> DeschedulerPolicy | None:
    """The policy of the file, or the one in the input."""
    from planner.sources.errors import SourceError
    from planner.sources.load import load_paths

    found = (
        inventory.descheduler_policies if file is None else load_paths([file]).descheduler_policies
    )
    if file is not None and not found:
        raise SourceError(
            f"{file} holds no DeschedulerPolicy",
            help="apiVersion: descheduler/v1alpha2, kind: DeschedulerPolicy",
        )
    if len(found) > 1:
        raise SourceError(
            f"the input holds {len(found)} descheduler policies",
            help="--policy FILE names the one to use",
        )
    return found[0] if found else None


def _only(document: EvictionPlan, wave: int | None) -> EvictionPlan:
    from planner.documents.eviction_plan import wave_of_plan

    if wave is None:
        return document
    if wave > len(document.waves):
        raise UsageError(f"--wave {wave}: the plan has {len(document.waves)}")
    return wave_of_plan(document, wave)


def _write(document: EvictionPlan, output: PlanOutput, origin: Origin) -> None:
    from planner.report.emit import emit
    from planner.report.scripts import eviction_objects, eviction_script
    from planner.report.tables import evict_table

    match output:
        case PlanOutput.SCRIPT:
            sys.stdout.write(eviction_script(document))
        case PlanOutput.YAML:
            sys.stdout.write(eviction_objects(document))
        case _:
            emit(document, Output(output.value), evict_table, sys.stdout, origin)
