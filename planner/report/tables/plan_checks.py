"""What was checked about a plan, what it asks of budgets, what kube-scheduler would do alone."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.tables.plan_counts import plan_counts
from planner.report.text.blocks import Block, Paragraph
from planner.words import NAMED, conjoined, count_of, short_key
from planner_models.plan import Plan

TOO_TIGHT = (
    "A budget allows no eviction now: the plan needs it raised for a while, or its steps are "
    "refused."
)


def checks(document: Plan) -> Iterator[Block]:
    """All of it, as quiet lines."""
    if document.waves:
        yield Paragraph(f"Checked: {_checked(document)}", "dim")
        yield from (Paragraph(text, "dim") for text in _budgets(document))
        yield from (Paragraph(text, "dim") for text in _hops(document))
        yield from (Paragraph(f"In doubt: {text}.", "dim") for text in document.verification.doubts)
    alone = _greedy(document)
    if alone:
        yield Paragraph(f"kube-scheduler alone: {alone}", "dim")


def _checked(document: Plan) -> str:
    seen = document.verification
    relaxed = "the filters that are not relaxed"
    filters = relaxed if document.options.relax else "kube-scheduler's filters"
    parts = [f"every step passes {filters} at its moment"]
    if plan_counts(document).evicted and seen.capacity:
        parts.append(f"capacity {'and budgets hold' if seen.budgets else 'holds'} throughout")
    if seen.steady:
        parts.append("afterwards no domain is above min + maxSkew (steady)")
    return f"{'; '.join(parts)}."


def _budgets(document: Plan) -> Iterator[str]:
    """Budgets that have to give, and how many pods are down together where there is none."""
    if document.verification.budgets is False:
        yield TOO_TIGHT
    most: dict[str, tuple[int, int]] = {}
    for number, wave in enumerate(document.waves, start=1):
        for each in wave.unbudgeted:
            if each.pods > max(1, most.get(each.workload, (0, 0))[0]):
                most[each.workload] = (each.pods, number)
    together: dict[tuple[int, int], list[str]] = {}
    for workload, seen in most.items():
        together.setdefault(seen, []).append(workload.partition("/")[2])
    if len(most) > NAMED:
        yield f"{len(most)} workloads have no budget; at most a quarter of each is down at once."
        return
    for (pods, number), workloads in sorted(together.items(), key=lambda item: item[0][1]):
        verb, whose = ("has", "its") if len(workloads) == 1 else ("have", "their")
        down = f"{pods} of {whose} pods are down at once in wave {number}"
        yield f"{conjoined(workloads)} {verb} no budget: {down}."


def _hops(document: Plan) -> Iterator[str]:
    """Pods that take a way round, because moves wait for each other in a circle."""
    if document.hops:
        who = "One pod runs" if document.hops == 1 else f"{document.hops} pods run"
        evictions = f"{document.evictions} evictions in all"
        yield f"{who} on another node for a while, where moves wait for each other: {evictions}."


def _greedy(document: Plan) -> str:
    alone, before = document.greedy, document.excess_before
    placed = alone.pending - len(document.unplaced)
    if alone.pending:
        text = f"places {alone.placed} of {alone.pending}"
        if placed > alone.placed:
            text += f"; {_reached(document, placed)}"
        if alone.displaced:
            text += f", {count_of(alone.displaced, 'other gives', 'others give')} way"
        over = f"; over the limit {before} -> {alone.excess}" if before or alone.excess else ""
        return f"{text}{over}.{_replayed(document)}"
    if plan_counts(document).evicted:
        return f"moves nothing, ever; {before} stay over the limit.{_replayed(document)}"
    return ""


def _reached(document: Plan, placed: int) -> str:
    """What the plan places: all that is possible only where that is proven."""
    some = f"{placed} of {document.greedy.pending}"
    if document.options.relax:
        return f"{some} with broken rules"
    verb = "is" if placed == 1 else "are"
    return f"{some} {verb} possible" if document.status == "optimal" else f"this plan {some}"


def _replayed(document: Plan) -> str:
    """What it makes of the plan's evictions if it chooses the nodes itself."""
    seen = document.verification.scheduler_replay
    if seen is None:
        return ""
    text = " If you evict these pods in these waves, its own choices reach the same counts"
    keys = {workload.topology_key for workload in document.workloads} - {None}
    per = f" per {short_key(keys.pop() or '')}" if len(keys) == 1 else ""
    return f"{text}{per} in {seen.agrees} of {seen.seeds} tie seeds."
