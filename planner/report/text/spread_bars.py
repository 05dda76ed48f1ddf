"""Counts per domain as bars against what is allowed: an uneven spread is seen before it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from planner.report.text.blocks import Block, Paragraph, Style, Table
from planner.words import NAMED, count_of, short_key

LONGEST = 8
ROWS = 20
LEGEND = "Bars: = up to the limit now (min + maxSkew), # above it"


@dataclass(frozen=True)
class Spread:
    """Matching pods per domain of one constraint; `limit` is min + maxSkew."""

    name: str
    topology_key: str
    domains: tuple[str, ...]
    counts: tuple[int, ...]
    limit: int

    @property
    def steady(self) -> bool:
        """Whether no domain is above the limit."""
        return max(self.counts, default=0) <= self.limit


def spread_bars(spreads: Iterable[Spread], *, wide: bool = False) -> Iterator[Block]:
    """One table per set of domains, and what the signs mean."""
    together: dict[tuple[str, tuple[str, ...]], list[Spread]] = {}
    every = list(spreads)
    shown = every if wide else every[:ROWS]
    for spread in shown:
        together.setdefault((spread.topology_key, spread.domains), []).append(spread)
    unit = -(-max((max(spread.counts) for spread in shown), default=1) // LONGEST)
    for (key, domains), members in together.items():
        yield _table(short_key(key), domains, members, max(unit, 1))
    hidden = len(every) - len(shown)
    if hidden:
        yield Paragraph(f"and {count_of(hidden, 'more constraint')}; -o wide shows all", "dim")
    if shown:
        scale = f"; a sign is {unit} pods" if unit > 1 else ""
        yield Paragraph(f"{LEGEND}{scale}.", "dim")


def _table(key: str, domains: Sequence[str], spreads: Sequence[Spread], unit: int) -> Table:
    """A column per domain; of many domains the fullest and the emptiest."""
    named = len(domains) <= NAMED
    head = domains if named else ("FULLEST", "EMPTIEST", "DOMAINS")
    rows = []
    for spread in spreads:
        cells = [_cell(count, spread.limit, unit) for count in spread.counts]
        if not named:
            most = max(range(len(cells)), key=lambda i: (spread.counts[i], -i))
            least = min(range(len(cells)), key=lambda i: (spread.counts[i], i))
            ends = [f"{domains[i]} {cells[i]}" for i in (most, least)]
            cells = [*ends, str(len(domains))]
        rows.append((spread.name, str(spread.limit), *cells))
    styles: tuple[Style, ...] = tuple("" if spread.steady else "red" for spread in spreads)
    return Table((f"BY {key.upper()}", "LIMIT NOW", *head), tuple(rows), styles)


def _cell(count: int, limit: int, unit: int) -> str:
    """`6 =#####`: rounded up, so that what is there is seen."""
    within = -(-min(count, limit) // unit)
    whole = -(-count // unit)
    return f"{count} {'=' * within}{'#' * (whole - within)}".rstrip()
