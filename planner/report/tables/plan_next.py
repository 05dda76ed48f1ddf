"""What to try after a plan that leaves something to wish for, one thing a line."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.tables.plan_steps import PodNames
from planner.report.text.blocks import Block, Paragraph
from planner.report.text.commands import about
from planner.words import count_of
from planner_models.plan import Alternative, Plan

LONGER = 5
"""How many times the time limit the hint proposes."""


def hints(document: Plan) -> Iterator[Block]:
    """`Next: ...` and what follows below it."""
    for i, hint in enumerate(_hints(document)):
        yield Paragraph(f"{'      ' if i else 'Next: '}{hint}", "cyan", indent=6)


def _hints(document: Plan) -> Iterator[str]:
    options = document.options
    if document.stopped == "timeLimit":
        longer = f"--time-limit {max(1, round(LONGER * options.time_limit))}"
        yield f"{longer}, or take this plan." if document.status == "feasible" else f"{longer}."
    yield from _rebalance(document)
    if document.unplaced and not options.relax:
        yield "--relax shows what breaks least if everything must run."
    if document.unplaced:
        namespace, _, pod = document.unplaced[0].pod.partition("/")
        yield f"{about('explain', namespace, f'pod/{pod}')} says why and what helps."


def _rebalance(document: Plan) -> Iterator[str]:
    """What moving pods would do: in numbers where it was tried."""
    options = document.options
    if options.rebalance or options.relax:
        return
    for other in document.alternatives:
        if other.placed or other.excess < document.excess_after:
            yield _tried(document, other)
    if not document.alternatives and document.unplaced:
        yield "--rebalance may make room: it moves running pods."
    elif not document.alternatives and document.violations:
        yield "--rebalance moves the fewest pods that repair what is broken."


def _tried(document: Plan, other: Alternative) -> str:
    effect = f"leaves {other.excess} over the limit"
    if other.placed:
        effect = f"places {count_of(other.placed, 'more pod')}"
    if not other.moved:
        return f"{other.option} {effect}."
    returned = other.moved - len(other.moves)
    if returned:
        evictions = count_of(other.moved, "eviction")
        back = "one comes" if returned == 1 else f"{returned} come"
        return f"{other.option} {effect} with {evictions} ({back} back to the same node)."
    named = ""
    if len(other.moves) == 1:
        move = other.moves[0]
        named = f" ({PodNames(document)(move.pod)} {move.from_} -> {move.node})"
    return f"{other.option} {effect} with {count_of(other.moved, 'move')}{named}."
