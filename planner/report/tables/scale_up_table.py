"""A `NodePlan` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from planner.report.tables.scale_up_moves import act, evicted, eviction_blocks, moves_remarks
from planner.report.tables.scale_up_paper import on_paper
from planner.report.tables.scale_up_words import batches_of, cost_of, nodes_text
from planner.report.text.blocks import GAP, Block, Paragraph, Table
from planner.report.text.notices import notice_blocks
from planner.words import conjoined, count_of, named_or_counted
from planner_models.node_plan import (
    NodeAlternative,
    NodeBaseline,
    NodePlan,
    StuckRollout,
    WaitingPods,
)


def blocks(document: NodePlan, *, wide: bool) -> Sequence[Block]:
    """What never runs, the nodes, what they do, what was tried, and what is proven."""
    found: list[Block] = list(_never(document))
    found.append(Paragraph(headline(document), "bold"))
    if document.adds or evicted(document):
        found.extend((GAP, adds_table(document)))
    found.extend(eviction_blocks(document, wide=wide))
    found.extend(Paragraph(text) for text in remarks(document))
    if document.alternatives:
        found.extend((GAP, Paragraph("Not as good, each tried:")))
        tried = alternatives(document)
        found.extend(Paragraph(f"  {nodes}: {wrong}", indent=4) for nodes, wrong in tried)
    if document.baselines:
        found.extend((GAP, baselines_table(document)))
    if document.adds or evicted(document):
        found.extend((GAP, Paragraph(proof(document))))
        found.extend(Paragraph(text) for text in on_paper(document))
    if document.notices:
        found.extend((GAP, *notice_blocks(document.notices, wide=wide)))
    return found


def names(document: NodePlan) -> Iterable[str]:
    """`c7i.large/eu-1a=2`, a line each; a pool without zones has none. Then pods to evict.

    Of several batches each line says its own.
    """
    several = batches_of(document) > 1
    for each in document.adds:
        batch = f" batch={each.batch}" if several else ""
        yield f"{each.pool}{f'/{each.zone}' if each.zone else ''}={each.nodes}{batch}"
    yield from (f"pod/{each.pod.rpartition('/')[2]}" for each in evicted(document))


def headline(document: NodePlan) -> str:
    """The answer in a sentence or two."""
    if not document.pending:
        return "Nothing to add: no pod waits."
    runnable = document.pending - len(document.never)
    if not runnable:
        return "Nothing to add: no node of these pools helps."
    pods = count_of(runnable, "pending pod")
    batches = batches_of(document)
    steps = f" in {batches} batches" if batches > 1 else ""
    answer = f"{act(document)}{steps} for {pods}: {cost_of(document, document.cost)}."
    match document.status:
        case "optimal":
            kept = " with rollouts kept" if _stopping(document) else ""
            return f"{answer} Optimal{kept}."
        case "feasible":
            return f"{answer} Feasible, not proven the cheapest."
        case "impossible":
            return f"No set of nodes within the limits of these pools is enough for {pods}."
        case "undecided":
            return f"No set of nodes was found that is enough for {pods}, and none is excluded."


def adds_table(document: NodePlan) -> Table:
    """The new nodes, batch by batch, and those that are there and get pods as well."""
    several = batches_of(document) > 1
    rows = [
        (
            *((str(each.batch),) if several else ()),
            str(each.nodes),
            each.pool,
            each.zone or "-",
            _pods(each.pods) or "-",
            f"{each.cpu_requested} of {each.cpu}",
        )
        for each in document.adds
    ]
    rows += [
        (
            *(("",) if several else ()),
            "",
            f"{each.node} (there)",
            each.zone or "-",
            _pods(each.pods),
            f"{each.cpu_requested} of {each.cpu}",
        )
        for each in document.there
    ]
    header = ("ADD", "POOL", "ZONE", "FOR", "CPU THEN REQUESTED")
    return Table((*(("BATCH",) if several else ()), *header), tuple(rows))


def remarks(document: NodePlan) -> Iterator[str]:
    """What kube-scheduler makes of the nodes, and what they change for others."""
    if document.left_out:
        yield (
            f"{named_or_counted(document.left_out, 'pod')}: gated, or another scheduler's; "
            "took no part."
        )
    if document.moves is not None or document.moves_instead is not None:
        yield from moves_remarks(document)
    if not document.adds and not document.waiting and not evicted(document):
        return
    yield from _then_runs(document)
    if document.rollouts is not None and document.status in ("optimal", "feasible"):
        tried = count_of(document.rollouts.workloads, "Deployment")
        seeds = count_of(document.rollouts.seeds, "tie seed")
        yield f"No rollout that completes today gets stuck ({tried} tried, {seeds} each)."
    if document.survives is not None:
        kind, failures = document.survives.kind, document.survives.tried
        tried_once = f"{failures} tried, 1 tie seed each"
        yield f"If any single {kind} fails and is removed, nobody waits ({tried_once})."
    yield from _side_effects(document)


def _then_runs(document: NodePlan) -> Iterator[str]:
    """Who runs by kube-scheduler's own choice; with evictions that is told with them."""
    if document.waiting:
        yield f"With the nodes that help most, {_waiting(document.waiting)}."
    elif document.fills.agree == document.fills.seeds and not evicted(document):
        runnable = document.pending - len(document.never)
        who = "It then runs" if runnable == 1 else f"All {runnable} then run"
        yield (
            f"{who} by kube-scheduler's own choice, in {document.fills.agree} of "
            f"{document.fills.seeds} tie seeds."
        )
        if batches_of(document) > 1:
            yield (
                "Add a batch only when the one before is full: when kube-scheduler has placed "
                "whoever finds room there, and the others still wait."
            )
            yield (
                "Assumed: the nodes of a batch join at once, and pods are tried in the order of "
                "kube-scheduler's queue."
            )
        elif document.pending > 1:
            yield (
                "Assumed: the nodes join at once, and pods are tried in the order of "
                "kube-scheduler's queue."
            )


def _side_effects(document: NodePlan) -> Iterator[str]:
    for effect in document.side_effects:
        if effect.kind == "newDomain":
            noun = "a new zone" if len(effect.domains) == 1 else "new zones"
            verb = "is" if len(effect.domains) == 1 else "are"
            yield f"{conjoined(effect.domains)} {verb} {noun} for every rule that spreads by zone."
        else:
            who = conjoined([_name(each) for each in effect.workloads])
            verb = "is" if len(effect.workloads) == 1 else "are"
            yield (
                f"{who} {verb} uneven then (excess {effect.excess}): next, planner evict or "
                "planner solve --rebalance."
            )


def alternatives(document: NodePlan) -> Iterator[tuple[str, str]]:
    """Sets that cost no more, and what is wrong with each."""
    for each in document.alternatives:
        yield f"{nodes_text(each.adds)} ({each.cost:.10g})", _wrong(each)


def baselines_table(document: NodePlan) -> Table:
    """Planner's nodes beside those of autoscalers, which are emulated."""
    cost = {"price": "PER HOUR", "cpu": "CPU", "nodes": "COST"}[document.objective]
    waiting = sum(each.pods for each in document.waiting)
    nodes = sum(each.nodes for each in document.adds)
    moves = f", {count_of(len(evicted(document)), 'move')}" if evicted(document) else ""
    rounds = str(batches_of(document))
    rows = [(f"planner{moves}", str(nodes), f"{document.cost:.10g}", rounds, str(waiting), "")]
    rows += [
        (
            each.tool,
            str(each.nodes),
            f"{each.cost:.10g}",
            str(each.rounds),
            str(each.waiting),
            _remark(each),
        )
        for each in document.baselines
    ]
    return Table(("FOR THE SAME PODS", "NODES", cost, "ROUNDS", "WAITING", ""), tuple(rows))


def _remark(baseline: NodeBaseline) -> str:
    stuck = [_name(each.workload) for each in baseline.stuck_rollouts]
    return f"emulated; stops {_rollouts(stuck)}" if stuck else "emulated"


def _rollouts(names: Sequence[str]) -> str:
    return f"the rollout of {names[0]}" if len(names) == 1 else f"{len(names)} rollouts"


def proof(document: NodePlan) -> str:
    """What is known about cheaper sets."""
    limit = f"Limit: {document.time_limit:g}s."
    moves = document.moves
    within = "" if moves is None else f" with at most {count_of(moves.limit, 'move')}"
    if document.status == "optimal":
        text = f"Proven: no set of nodes of these pools{_kind(document)} is cheaper{within}."
        if _stopping(document) and any(each.cost < document.cost for each in _stopping(document)):
            text += " To take a cheaper one that stops rollouts: --no-keep-rollouts"
        return text
    if document.status == "feasible" and document.bound is not None:
        gap = 1 - document.bound / document.cost if document.cost else 0.0
        needed = (
            f"{cost_of(document, document.bound)} is needed{within}{_way(document)} (gap {gap:.0%})"
        )
        return f"At least {needed}. {limit}"
    if document.status == "impossible":
        sets = f"sets of these pools, within their limits{within}"
        return f"Proven: {sets}, leave some of the pods waiting."
    return limit


def _way(document: NodePlan) -> str:
    """How the nodes come that the bound is about, where they might come in batches."""
    if document.batches == 1:
        return ""
    return f" in {document.batches} batches" if batches_of(document) > 1 else " at once"


def _kind(document: NodePlan) -> str:
    """Which sets the proof is about, where nodes might have come in batches."""
    if document.batches == 1:
        return ""
    return _way(document) if batches_of(document) > 1 else " that comes at once"


def _never(document: NodePlan) -> Iterator[Block]:
    """Pods that no pool takes, by workload and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in document.never:
        found.setdefault((each.workload, each.reason), []).append(each.pod)
    for (workload, reason), pods in found.items():
        who = f"{count_of(len(pods), 'pod')} of {workload}"
        yield Paragraph(f"No pool's node takes {who}: {reason}.", "red")
    if found:
        yield GAP


def _stopping(document: NodePlan) -> Sequence[NodeAlternative]:
    return [each for each in document.alternatives if each.stuck_rollouts]


def _name(workload: str) -> str:
    return workload.partition("/")[2] or workload


def _pods(pods: Mapping[str, int]) -> str:
    return ", ".join(f"{_name(workload)} {n}" for workload, n in pods.items())


def _wrong(alternative: NodeAlternative) -> str:
    if alternative.waiting:
        return _waiting(alternative.waiting)
    if alternative.lost:
        verb = "waits" if alternative.waiting_then == 1 else "wait"
        pods = count_of(alternative.waiting_then, "pod")
        return f"without {alternative.lost}, {pods} {verb}"
    return f"the next rollout of {', that of '.join(map(_stuck, alternative.stuck_rollouts))}"


def _waiting(waiting: Sequence[WaitingPods]) -> str:
    """`5 web wait (hostname spread, CPU)`."""
    return conjoined(
        [
            f"{each.pods} {_name(each.workload)} {'waits' if each.pods == 1 else 'wait'}"
            + (f" ({', '.join(each.rules)})" if each.rules else "")
            for each in waiting
        ]
    )


def _stuck(stuck: StuckRollout) -> str:
    pods = count_of(stuck.of, "pod")
    return f"{_name(stuck.workload)} ends with {stuck.waiting} of {pods} waiting"
