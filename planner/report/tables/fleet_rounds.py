"""The rounds of a `FleetDecision`: every candidate with its domains, skews and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from planner.report.text.blocks import WIDTH, Block, Paragraph, Style, Table
from planner.words import count_of, short_key
from planner_models.fleet_decision import FleetCandidate, FleetDecision, FleetRound, SkewStep

ROWS = 24
"""Up to here every candidate is shown, above that only the picked ones; `wide` shows all."""

STYLES: dict[str, Style] = {"picked": "green", "refused": "red", "passed": ""}


class _Row(NamedTuple):
    round: FleetRound
    candidate: FleetCandidate
    outcome: str


class _Column(NamedTuple):
    name: str
    cell: Callable[[_Row], str]
    needed: int
    """Columns with the smallest number are left out first where 80 columns are not enough."""


def round_table(document: FleetDecision, *, wide: bool) -> Iterator[Block]:
    """The candidates of each round, best first."""
    rows = [
        _Row(each, candidate, _outcome(each, index, document))
        for each in document.rounds
        for index, candidate in enumerate(each.candidates)
    ]
    hidden = sum(each.left_out for each in document.rounds)
    shown = rows
    if not wide and len(rows) > ROWS:
        shown = [row for row in rows if row.candidate.outcome == "picked"][:ROWS]
    if shown:
        yield _table(shown, _columns(document, rows), wide=wide)
    hidden += len(rows) - len(shown)
    if hidden:
        where = "-o json has more" if wide else "-o wide shows more"
        yield Paragraph(f"and {count_of(hidden, 'more candidate')}; {where}", "dim")


def _table(rows: Sequence[_Row], columns: Sequence[_Column], *, wide: bool) -> Table:
    chosen = list(columns)
    while True:
        table = Table(
            tuple(column.name for column in chosen),
            tuple(tuple(column.cell(row) for column in chosen) for row in rows),
            tuple(STYLES[row.candidate.outcome] for row in rows),
        )
        least = min(column.needed for column in chosen)
        fits = table.width <= WIDTH
        if wide or fits or all(column.needed == least for column in chosen):
            return table
        chosen = [column for column in chosen if column.needed > least]


def _columns(document: FleetDecision, rows: Sequence[_Row]) -> list[_Column]:
    keys = [each.topology_key for each in document.constraints]
    found = [
        _Column("ROUND", lambda row: str(row.round.round), 9),
        _Column("CLUSTER", lambda row: row.candidate.cluster, 9),
    ]
    for place, key in enumerate(keys):
        name = short_key(key).upper()
        found.append(_Column(name, _of_step(place, _domain), 2))
        found.append(_Column("SKEW", _of_step(place, _skew), 1))
    if keys:
        found.append(_Column("SPREAD SCORE", _spread, 8))
    if any(row.candidate.affinity for row in rows):
        found.append(_Column("AFFINITY", lambda row: _number(row.candidate.affinity), 7))
    if any(row.candidate.previous for row in rows):
        found.append(_Column("BEFORE", lambda row: "yes" if row.candidate.previous else "", 3))
    found.append(_Column("OUTCOME", lambda row: row.outcome, 9))
    return found


def _of_step(place: int, text: Callable[[SkewStep], str]) -> Callable[[_Row], str]:
    return lambda row: text(row.candidate.skews[place])


def _domain(step: SkewStep) -> str:
    return "-" if step.domain is None else step.domain


def _skew(step: SkewStep) -> str:
    return "-" if step.before is None else f"{step.before} -> {step.after}"


def _spread(row: _Row) -> str:
    spread = row.candidate.spread
    if spread is None:
        return "refused"
    return f"+{spread}" if spread > 0 else str(spread)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _outcome(cycle: FleetRound, index: int, document: FleetDecision) -> str:
    candidate = cycle.candidates[index]
    if candidate.outcome == "refused":
        return _refused(candidate, document)
    if candidate.outcome == "passed":
        return ""
    if len(cycle.picked) > 1 or cycle.left_out:
        return "picked"
    return f"picked: {_why(candidate, cycle.candidates[index + 1 :])}"


def _why(winner: FleetCandidate, others: Sequence[FleetCandidate]) -> str:
    """The first thing that sets the winner apart from the next best."""
    passed = [each for each in others if each.outcome == "passed"]
    if not passed:
        return "nothing else passes" if others else "the only one left"
    second = passed[0]
    if winner.spread != second.spread:
        return "best spread"
    if winner.affinity != second.affinity:
        return "best affinity"
    return "picked before" if winner.previous != second.previous else "last by name"


def _refused(candidate: FleetCandidate, document: FleetDecision) -> str:
    """`2 > maxSkew 1`, with the label where there are several."""
    several = len(document.constraints) > 1
    for constraint, step in zip(document.constraints, candidate.skews, strict=True):
        hard = constraint.when_unsatisfiable == "DoNotSchedule"
        if hard and step.after is not None and step.after > constraint.max_skew:
            key = f"{short_key(constraint.topology_key)} " if several else ""
            return f"{key}{step.after} > maxSkew {constraint.max_skew}"
    return candidate.reason or ""
