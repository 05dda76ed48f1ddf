"""Pods per domain of every hard spread constraint that matters, against what it allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.spread import (
    SpreadConstraint,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    minimum,
)
from planner.cluster.topology import IntArray
from planner.report.html.names import Index
from planner.report.html.story import Story
from planner.report.html.view import Band, Bar, ChartRow, SpreadChart, SpreadSection
from planner.words import NAMED, conjoined, count_of, short_key

CHARTS = 24
STEADY = 6
"""So many are shown where nothing is uneven and nothing changes."""
DOMAINS = 10
"""With more domains the chart counts domains instead of naming them."""
TITLE = "Pods per domain against what the spread rules allow"
ASKED_TITLE = "Its spread rules in numbers"
NOTE = (
    "The shaded band is what the rule allows: from the domain with the fewest pods up to maxSkew "
    "above it. What sticks out is marked red and counts as over the limit."
)


@dataclass(frozen=True, eq=False)
class _Counted:
    """A constraint with its counts now and, if anything changes, after."""

    spread: SpreadConstraint
    now: IntArray
    after: IntArray | None

    @property
    def excess_now(self) -> int:
        return int(excess(self.now, self.spread).sum())

    @property
    def excess_after(self) -> int | None:
        return None if self.after is None else int(excess(self.after, self.spread).sum())

    @property
    def changes(self) -> bool:
        return self.after is not None and not np.array_equal(self.now, self.after)


def spread_section(story: Story, only: Collection[int] | None = None) -> SpreadSection | None:
    """The constraints that are uneven or change, or those of the groups asked about."""
    found = sorted(_counted(story, only), key=lambda each: -each.excess_now)
    uneven = [each for each in found if each.excess_now or each.excess_after]
    chosen = found if only is not None else uneven or found[:STEADY]
    if not chosen:
        return None
    quiet = [each for each in found if each.changes and each not in chosen]
    hidden = len(chosen) - CHARTS
    cluster, asked = story.cluster, only is not None and not story.stages
    return SpreadSection(
        title=TITLE if only is None else ASKED_TITLE,
        note=NOTE,
        charts=tuple(_chart(cluster, each, asked=asked) for each in chosen[:CHARTS]),
        steady=tuple(_chart(cluster, each) for each in quiet[: CHARTS // 2]),
        more=f"and {count_of(hidden, 'more constraint')}, less uneven" if hidden > 0 else "",
    )


def situation(story: Story) -> str:
    """What is wrong now, in one sentence; nothing where all is even."""
    who: dict[str, None] = {}
    above: set[str] = set()
    below: set[str] = set()
    keys = set()
    for each in sorted(_counted(story, None), key=lambda each: -each.excess_now):
        if not each.excess_now:
            break
        domains, over = each.spread.scope.topology.domains, excess(each.now, each.spread)
        low = minimum(each.now, each.spread)
        eligible = np.flatnonzero(each.spread.scope.domains).tolist()
        above |= {domains[d] for d in eligible if over[d]}
        below |= {domains[d] for d in eligible if each.now[d] == low and not over[d]}
        keys.add(each.spread.constraint.topology_key)
        owners = sorted({story.cluster.workloads[c.group] for c in each.spread.carriers})
        who.update(dict.fromkeys(owner.name for owner in owners))
    if not who:
        return ""
    names = list(who)
    subject = conjoined(names) if len(names) <= NAMED else f"{len(names):,} workloads"
    verb = "has" if len(names) == 1 else "have"
    below -= above
    if len(keys) > 1 or not below or max(len(above), len(below)) > NAMED:
        return f"Now {subject} {verb} more pods in some domains than their spread rules allow."
    where = f"in {conjoined(sorted(above))} and too few in {conjoined(sorted(below))}"
    return f"Now {subject} {verb} too many pods {where} for their spread rules."


def uneven_workloads(story: Story) -> tuple[int, int]:
    """How many workloads have a domain above its limit, now and after."""
    now: set[object] = set()
    after: set[object] = set()
    for each in _counted(story, None):
        owners = {story.cluster.workloads[carrier.group] for carrier in each.spread.carriers}
        now |= owners if each.excess_now else set()
        after |= owners if each.excess_after or (each.after is None and each.excess_now) else set()
    return len(now), len(after)


def _counted(story: Story, only: Collection[int] | None) -> Iterator[_Counted]:
    now = counted_pods(story.cluster)
    after = counted_pods(story.after) if story.stages else None
    for spread in hard_constraints(story.cluster):
        if only is None or any(carrier.group in only for carrier in spread.carriers):
            counts = domain_counts(now, spread)
            yield _Counted(spread, counts, None if after is None else domain_counts(after, spread))


def _chart(cluster: Cluster, counted: _Counted, *, asked: bool = False) -> SpreadChart:
    spread = counted.spread
    owners = sorted({cluster.workloads[carrier.group] for carrier in spread.carriers})
    numbers = Index(cluster).workloads
    some = [owner.name for owner in owners[:3]]
    title = conjoined(some) if len(owners) <= 3 else f"{', '.join(some)} and {len(owners) - 3} more"
    least = spread.constraint.min_domains
    rule = f"per {short_key(spread.constraint.topology_key)}, maxSkew {spread.constraint.max_skew}"
    eligible = np.flatnonzero(spread.scope.domains)
    distribution = len(eligible) > DOMAINS
    if distribution:
        rows = _distribution(counted, eligible)
    else:
        rows = _domains(counted, eligible, asked=asked)
    widest = _widest(counted, eligible)
    return SpreadChart(
        title=title,
        rule=f"{rule}, minDomains {least}" if least else rule,
        workloads=tuple(numbers[owner] for owner in owners),
        rows=tuple(rows),
        now=_band(counted.now, spread, widest),
        after=None if counted.after is None else _band(counted.after, spread, widest),
        excess_now=counted.excess_now,
        excess_after=counted.excess_after,
        distribution=distribution,
    )


def _widest(counted: _Counted, eligible: IntArray) -> int:
    """The longest bar or the end of the longest band: what 100 percent stands for."""
    found = [1]
    for counts in _states(counted):
        limit = minimum(counts, counted.spread) + counted.spread.constraint.max_skew
        found += [int(counts[eligible].max(initial=0)), limit]
    largest = max(int(counts[eligible].max(initial=0)) for counts in _states(counted))
    return min(max(found), max(1, 2 * largest))


def _states(counted: _Counted) -> Sequence[IntArray]:
    return [counted.now] if counted.after is None else [counted.now, counted.after]


def _band(counts: IntArray, spread: SpreadConstraint, widest: int) -> Band:
    return band(minimum(counts, spread), spread.constraint.max_skew, widest)


def band(low: int, skew: int, widest: int) -> Band:
    """From the minimum to maxSkew above it."""
    start, end = (_part(min(count, widest), widest) for count in (low, low + skew))
    return Band(low, low + skew, start, round(end - start, 2))


def _domains(counted: _Counted, eligible: IntArray, *, asked: bool) -> Iterator[ChartRow]:
    """`asked`: whether somebody wants to know where one more pod may go."""
    spread, widest = counted.spread, _widest(counted, eligible)
    for domain in eligible.tolist():
        now, *after = (
            bar(int(counts[domain]), int(excess(counts, spread)[domain]), widest)
            for counts in _states(counted)
        )
        name = spread.scope.topology.domains[domain]
        remark = _room(counted, domain) if asked else ""
        yield ChartRow(name, now, after[0] if after else None, remark)


def _room(counted: _Counted, domain: int) -> str:
    """Whether kube-scheduler lets one more pod of the constraint's owner land there."""
    spread, counts = counted.spread, counted.now
    more = int(spread.carriers[0].self_match)
    skew = int(counts[domain]) + more - minimum(counts, spread)
    return "takes one more" if skew <= spread.constraint.max_skew else "full"


def bar(count: int, over: int, widest: int) -> Bar:
    """So many pods, of which some are above the limit."""
    return Bar(count, _part(count - over, widest), _part(over, widest))


def _part(count: int, widest: int) -> float:
    return round(100 * count / widest, 2)


def _distribution(counted: _Counted, eligible: IntArray) -> Iterator[ChartRow]:
    """How many domains have how many pods; the largest numbers share a row."""
    tables = [Counter(counts[eligible].tolist()) for counts in _states(counted)]
    limits = [
        minimum(counts, counted.spread) + counted.spread.constraint.max_skew
        for counts in _states(counted)
    ]
    values = sorted({value for table in tables for value in table})
    named, rest = values[: DOMAINS - 1], values[DOMAINS - 1 :]
    rows = [[value] for value in named] + ([rest] if rest else [])
    for row in rows:
        label = count_of(row[0], "pod") if len(row) == 1 else f"{row[0]} pods or more"
        now, *after = (
            _share(table, row, limit, len(eligible))
            for table, limit in zip(tables, limits, strict=True)
        )
        yield ChartRow(label, now, after[0] if after else None)


def _share(table: Counter[int], values: Sequence[int], limit: int, domains: int) -> Bar:
    count = sum(table[value] for value in values)
    part = _part(count, domains)
    return Bar(count, 0 if values[0] > limit else part, part if values[0] > limit else 0)
