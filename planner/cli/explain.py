"""`planner explain`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.input import own_namespace, read_cluster
from planner.cli.options import (
    AllNamespaces,
    AllowJobs,
    AllowOwners,
    Cache,
    Example,
    Filenames,
    IgnoredPlugins,
    MaxInput,
    Namespace,
    NewNodePools,
    OutputFormat,
    ReportFile,
    SchedulerConfig,
    Selector,
    SkipInvalid,
    Targets,
    Verbose,
    named,
)
from planner.cli.output import show
from planner.errors import UsageError
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED
from planner.repair_costs import COSTS
from planner.report.text.formats import Output

if TYPE_CHECKING:
    from planner import Diagnosis

ROWS = (Output.TABLE, Output.NAME)
"""Formats that show a line for each workload."""

AllPending = Annotated[
    bool,
    typer.Option("--all-pending", help="A line per workload with pending pods, the worst first."),
]
BarePods = Annotated[
    bool,
    typer.Option("--allow-bare-pods", help="Pods without a controller may be evicted, too."),
]
Costs = Annotated[
    list[str] | None,
    named(
        "--cost",
        "What a kind of change costs, such as addNode=5: cheaper ones come first. Repeatable; "
        "the kinds and their costs are listed above.",
        "KIND=N",
    ),
]
States = Annotated[
    int,
    typer.Option("--states", min=1, help="States that the search for evictions may look at."),
]
Cells = Annotated[
    int,
    typer.Option(
        "--cells",
        min=1,
        help="Pairs of workload and node up to which the solver is asked about evictions.",
    ),
]


def _cost_table() -> str:
    """What changes cost, in three columns, as the help shows it."""
    told = [f"{kind} {cost}" for kind, cost in COSTS.items() if kind != "combined"]
    told += [f"combined: the sum and {COSTS['combined']}"]
    rows = -(-len(told) // 3)
    columns = [told[i : i + rows] for i in range(0, len(told), rows)]
    widths = [max(map(len, column)) for column in columns]
    lines = zip_longest(*columns, fillvalue="")
    cells = ([t.ljust(w) for t, w in zip(line, widths, strict=True)] for line in lines)
    return "\n    ".join("   ".join(row).rstrip() for row in cells)


def explain(  # noqa: PLR0913, PLR0917 - the options of the command
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
    all_pending: AllPending = False,
    allow_bare_pods: BarePods = False,
    allow_jobs: AllowJobs = False,
    allow_owners: AllowOwners = None,
    cost: Costs = None,
    states: States = 60_000,
    cells: Cells = 20_000,
    pools: NewNodePools = None,
    scheduler_config: SchedulerConfig = None,
    ignored: IgnoredPlugins = None,
    output: OutputFormat = Output.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Say why pods can't run, and the cheapest changes that let them.

    Exit code 3 if a pod is stuck or impossible, 4 if that is undecided.

    \b
    planner explain pod/web-1
    planner explain --example docs-conflicting-constraints pod/mypod
    planner explain -f cluster.json deploy/web -o wide
    planner explain -f cluster.json --all-pending

    What helps is sorted by cost: an act that restarts nothing is cheapest, then a
    number in a rule, then giving up a rule; what loses data comes last.

    \b
    {costs}
    """
    costs = costs_of(cost or ())
    if all_pending and targets:
        raise UsageError("--all-pending goes without names")
    cluster = read_cluster(context, filenames, example)
    if not targets:
        namespace = own_namespace(cluster, namespace, all_namespaces)
    ask: Callable[..., Diagnosis] = (
        partial(cluster.explain, *targets)
        if targets
        else partial(cluster.explain_pending, brief=report is None and output in ROWS)
    )
    found = ask(
        namespace=namespace,
        all_namespaces=all_namespaces,
        selector=selector,
        allow_bare_pods=allow_bare_pods,
        allow_jobs=allow_jobs,
        allow_owners=allow_owners or (),
        costs=costs,
        states=states,
        cells=cells,
        pools=pools or (),
        scheduler=scheduler_config,
        ignored_plugins=ignored or (),
    )
    show(context, found, output, report)
    return _exit_code(found)


def _exit_code(found: Diagnosis) -> int:
    """The worst answer counts; gated pods wait for their owner."""
    verdicts = {found.verdict, *(part.verdict for part in found.parts)}
    if verdicts & {"stuck", "impossible"}:
        return NEGATIVE
    return UNDECIDED if "undecided" in verdicts else DONE


def costs_of(given: Sequence[str]) -> dict[str, int]:
    """`addNode=5` by kind; what is no number is out of every range."""
    pairs = (text.partition("=") for text in given)
    return {kind: int(n) if n.isascii() and n.isdigit() else -1 for kind, _, n in pairs}


explain.__doc__ = (explain.__doc__ or "").replace("{costs}", _cost_table())
