"""The report of `planner fleet`: which clusters Fleet picks, round by round, and the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.report.html.map_view import FleetMap, Member, Region, Step, Tone
from planner.report.html.repair_cards import fleet_cards
from planner.report.html.spread_charts import band, bar
from planner.report.html.view import (
    Badge,
    ChartRow,
    Fact,
    Group,
    Names,
    Page,
    Row,
    Section,
    SpreadChart,
    SpreadSection,
    TableSection,
    TextSection,
)
from planner.report.html.words import sentence, words
from planner.report.tables import fleet_table
from planner.report.tables.fleet_rounds import round_table
from planner.report.text.blocks import Table, plain_text
from planner.report.text.wording import name_some
from planner.words import count_of, short_key
from planner_models.fleet_decision import FleetConstraint, FleetDecision, FleetDecisionList
from planner_models.member_cluster import MemberCluster

BADGES: dict[str, Badge] = {
    "fulfilled": Badge("Fulfilled", "good"),
    "deadlock": Badge("Dead-lock", "warn"),
    "impossible": Badge("Impossible", "bad"),
    "undecided": Badge("Undecided", "warn"),
}
CHART_NOTE = (
    "The shaded band is what the constraint allows: from the domain with the fewest picked "
    "clusters up to maxSkew above it."
)
WITHOUT = "without the label"
SPREAD = "TopologySpreadConstraints"
"""Whom it refuses stands in the rounds."""


def fleet_page(members: Sequence[MemberCluster], decisions: Sequence[FleetDecision]) -> Page:
    """One placement, or several one after the other."""
    names = tuple(sorted({member.name for member in members}))
    numbers = {name: i for i, name in enumerate(names)}
    labels = {member.name: member.metadata.labels for member in members}
    pages = [_Decision(decision, labels, numbers) for decision in decisions]
    single = pages[0] if len(pages) == 1 else None
    text = plain_text(fleet_table.blocks(FleetDecisionList(items=tuple(decisions)), wide=True))
    return Page(
        command="planner fleet",
        badge=single.badge if single else _worst(decisions),
        headline=_headline(decisions) if single is None else single.title,
        lead=single.decision.narrative if single else (),
        facts=tuple(single.facts() if single else _facts(decisions, len(names))),
        sections=(
            *(single.sections() if single else [page.group() for page in pages]),
            TextSection("The same as text", (text,), code=True, folded=True),
        ),
        names=Names((), names, "Cluster"),
        words=words("round", "skew", "maxSkew", "domain"),
        notices=tuple(dict.fromkeys(n.text for each in decisions for n in each.notices)),
    )


def _headline(decisions: Sequence[FleetDecision]) -> str:
    met = sum(each.verdict == "fulfilled" for each in decisions)
    return f"{met} of {len(decisions)} placements get the clusters they ask for."


def _worst(decisions: Sequence[FleetDecision]) -> Badge:
    order = ("impossible", "deadlock", "undecided", "fulfilled")
    return BADGES[min((each.verdict for each in decisions), key=order.index)]


def _facts(decisions: Sequence[FleetDecision], clusters: int) -> Iterator[Fact]:
    met = sum(each.verdict == "fulfilled" for each in decisions)
    tone: Tone = "good" if met == len(decisions) else "warn"
    yield Fact(f"{met} of {len(decisions)}", "placements fulfilled", tone)
    yield Fact(f"{clusters:,}", "member clusters")


class _Decision:
    """One placement while it is laid out."""

    def __init__(
        self,
        decision: FleetDecision,
        labels: Mapping[str, Mapping[str, str]],
        numbers: Mapping[str, int],
    ) -> None:
        self.decision = decision
        self._labels = labels
        self._numbers = numbers

    @property
    def badge(self) -> Badge:
        return BADGES[self.decision.verdict]

    @property
    def title(self) -> str:
        """The headline without its verdict, which the badge says."""
        verdict, _, rest = self.decision.headline.partition(": ")
        said = rest if verdict in ("dead-lock", "impossible", "undecided") else None
        return sentence(said or self.decision.headline, (self.decision.placement,))

    def group(self) -> Group:
        """Everything about the placement, among others."""
        sections = tuple(self.sections())
        return Group(self.title, self.badge, self.decision.narrative, sections)

    def facts(self) -> Iterator[Fact]:
        decision = self.decision
        picked, wanted = len(decision.picked), decision.wanted
        value = str(picked) if wanted is None else f"{picked} of {wanted}"
        short = wanted is not None and picked < wanted
        yield Fact(value, "clusters picked", "bad" if short else "good")
        yield Fact(str(decision.clusters), "member clusters")
        if decision.rounds:
            yield Fact(
                str(len(decision.rounds)), "round" if len(decision.rounds) == 1 else "rounds"
            )
        for each in decision.constraints[:1]:
            tone: Tone = "good" if each.holds else "bad"
            best = "" if each.optimal_skew is None else f", {each.optimal_skew} at best"
            key = short_key(each.topology_key)
            yield Fact(str(each.skew), f"{key} skew, {each.max_skew} allowed{best}", tone)

    def sections(self) -> Iterator[Section]:
        decision = self.decision
        yield self._map()
        charts = tuple(map(_chart, decision.constraints))
        if charts:
            yield SpreadSection("Picked clusters per domain", CHART_NOTE, charts)
        cards = fleet_cards(decision)
        if cards is not None:
            yield cards
        for block in round_table(decision, wide=True):
            if isinstance(block, Table):
                yield self._rounds(block)
        reasons = tuple(
            Row((name, "; ".join(reasons)), nodes=self._nodes([name]))
            for name, reasons in decision.filtered.items()
            if decision.failing_plugins[name] != (SPREAD,)
        )
        if reasons:
            yield TableSection("Not eligible, and why", "", ("Cluster", "Fleet's reasons"), reasons)
        if decision.optimal is not None:
            yield self._optimum()
        if decision.verdict != "fulfilled" and decision.condition is not None:
            yield TextSection("What Fleet says", (decision.condition.message,))

    def _nodes(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._numbers[name] for name in names if name in self._numbers)

    def _rounds(self, table: Table) -> TableSection:
        header = tuple(name.capitalize() for name in table.header)
        place = table.header.index("CLUSTER")
        rows = tuple(
            Row(
                row,
                nodes=self._nodes([row[place]]),
                tone="good" if style == "green" else "bad" if style == "red" else "",
                step=int(row[0]),
            )
            for row, style in zip(table.rows, table.styles, strict=True)
        )
        note = "In each round the candidates are ranked and the first is picked."
        return TableSection("Round by round", note, header, rows, frozenset({0}))

    def _optimum(self) -> TableSection:
        best = self.decision.optimal
        assert best is not None
        rows = tuple(
            Row(
                (fleet_table.OBJECTIVES[each.name], str(each.fleet), str(each.value)),
                tone="" if each.fleet == each.value else "warn",
            )
            for each in best.objectives
        )
        proven = "proven" if best.status == "optimal" else "not proven to be the best"
        same = "Fleet's own choice is as good." if not self.decision.differs else ""
        note = f"The best choice ({proven}): {name_some(best.picked)}. {same}".strip()
        header = ("", "Fleet", "Best")
        return TableSection("Beside the best choice", note, header, rows, frozenset({1, 2}))

    # The map

    def _map(self) -> FleetMap:
        decision = self.decision
        key = decision.constraints[0].topology_key if decision.constraints else None
        boxes: dict[str, list[str]] = {}
        for name in sorted(self._labels):
            domain = "all clusters" if key is None else self._labels[name].get(key, WITHOUT)
            boxes.setdefault(domain, []).append(name)
        regions = tuple(
            Region(domain, self._summary(names), tuple(map(self._member, names)))
            for domain, names in sorted(boxes.items(), key=lambda box: (box[0] == WITHOUT, box[0]))
        )
        where = "" if key is None else f" by {short_key(key)}"
        note = "A star marks the clusters of the best choice." if decision.differs else ""
        return FleetMap(f"Member clusters{where}", note, regions, self._steps())

    def _summary(self, names: Sequence[str]) -> str:
        picked = sum(name in self.decision.picked for name in names)
        return f"{picked} of {count_of(len(names), 'cluster')} picked"

    def _steps(self) -> tuple[Step, ...]:
        rounds = [each for each in self.decision.rounds if each.picked]
        if not rounds:
            return ()
        kept = count_of(len(self.decision.kept), "cluster")
        before = Step("Before", f"Before: {kept} picked")
        return (
            before,
            *(
                Step(f"Round {each.round}", f"Round {each.round}: {name_some(each.picked)} picked")
                for each in rounds
            ),
            Step("After", f"After: {count_of(len(self.decision.picked), 'cluster')} picked"),
        )

    def _member(self, name: str) -> Member:
        decision = self.decision
        scores = decision.scores.get(name)
        dropped = {each.cluster: each.text for each in decision.dropped}
        best = decision.optimal is not None and name in decision.optimal.picked
        step: int | None = None
        outcome, tone, reason = "not picked", "", ""
        if name in decision.kept:
            outcome, tone, step = "kept", "good", 0
        elif name in decision.picked:
            number = scores.round if scores is not None and scores.round is not None else 0
            step = self._position(number)
            outcome, tone = f"picked in round {number}" if number else "picked", "good"
        elif name in dropped:
            outcome, tone, reason = "given up", "bad", dropped[name]
        elif name in decision.filtered:
            spread = decision.failing_plugins[name] == (SPREAD,)
            outcome, tone = ("refused", "bad") if spread else ("not eligible", "")
            reason = "; ".join(decision.filtered[name])
        marked = best and decision.differs
        return Member(self._numbers[name], name, outcome, _as_tone(tone), step, reason, marked)

    def _position(self, number: int) -> int:
        """The place of a round on the slider, where rounds without a pick are left out."""
        rounds = [each.round for each in self.decision.rounds if each.picked]
        return rounds.index(number) + 1 if number in rounds else 0


def _as_tone(text: str) -> Tone:
    return "good" if text == "good" else "bad" if text == "bad" else ""


def _chart(constraint: FleetConstraint) -> SpreadChart:
    skew = constraint.max_skew
    now = [domain.before for domain in constraint.domains]
    after = [domain.picked for domain in constraint.domains]
    largest = max((*now, *after), default=0)
    widest = max(1, min(max(largest, min(after, default=0) + skew), 2 * max(largest, 1)))
    over_now, over_after = _over(now, skew), _over(after, skew)
    rows = tuple(
        ChartRow(
            domain.domain, bar(now[i], over_now[i], widest), bar(after[i], over_after[i], widest)
        )
        for i, domain in enumerate(constraint.domains)
    )
    soft = "" if constraint.when_unsatisfiable == "DoNotSchedule" else ", ScheduleAnyway"
    return SpreadChart(
        title=short_key(constraint.topology_key),
        rule=f"maxSkew {skew}{soft}",
        workloads=(),
        rows=rows,
        now=band(min(now, default=0), skew, widest),
        after=band(min(after, default=0), skew, widest),
        excess_now=sum(over_now),
        excess_after=sum(over_after),
        distribution=False,
    )


def _over(counts: Sequence[int], skew: int) -> list[int]:
    return [max(0, count - min(counts) - skew) for count in counts]
