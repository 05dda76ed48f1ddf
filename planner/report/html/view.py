"""What a report shows, as plain values: the templates only lay it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from planner.report.html.map_view import ClusterMap, FleetMap, Tone


@dataclass(frozen=True)
class Badge:
    """The answer in one word."""

    text: str
    tone: Tone


@dataclass(frozen=True)
class Fact:
    """A key number and what it counts."""

    value: str
    label: str
    tone: Tone = ""


@dataclass(frozen=True)
class Bar:
    """Pods in a domain, in percent of the widest bar; `over` is the part above the limit."""

    count: int
    inside: float
    over: float


@dataclass(frozen=True)
class ChartRow:
    """One domain, or in a distribution all domains with the same number of pods."""

    label: str
    now: Bar
    after: Bar | None
    remark: str = ""


@dataclass(frozen=True)
class Band:
    """What is allowed, in percent of the widest bar: from the minimum to minimum + maxSkew."""

    low: int
    high: int
    start: float
    width: float


@dataclass(frozen=True)
class SpreadChart:
    """Counts per domain of one hard spread constraint against what it allows."""

    title: str
    rule: str
    workloads: tuple[int, ...]
    rows: tuple[ChartRow, ...]
    now: Band
    after: Band | None
    excess_now: int
    excess_after: int | None
    distribution: bool


@dataclass(frozen=True)
class SpreadSection:
    """The charts, the most uneven first; those of rules that hold throughout are folded away."""

    template: ClassVar[str] = "spread.html.j2"
    title: str
    note: str
    charts: tuple[SpreadChart, ...]
    steady: tuple[SpreadChart, ...] = ()
    more: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table, with what the filter looks at."""

    cells: tuple[str, ...]
    workload: int | None = None
    nodes: tuple[int, ...] = ()
    tone: Tone = ""
    step: int | None = None


@dataclass(frozen=True)
class TableSection:
    """A table; rows beyond the first are drawn only when the filter asks for them."""

    template: ClassVar[str] = "table.html.j2"
    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: frozenset[int] = frozenset()
    """Columns with numbers, which are aligned to the right."""


@dataclass(frozen=True)
class Verdict:
    """What one rule says of one node."""

    allowed: bool
    text: str


@dataclass(frozen=True)
class RuleRow:
    """A rule and the nodes that it leaves; `verdicts` are in the order of the columns."""

    name: str
    leaves: str
    verdicts: tuple[Verdict, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class FunnelRow:
    """What a rule removes of the nodes that the rules above it have left."""

    rule: str
    which: str
    removed: int
    left: int
    start: float
    """Percent of all nodes that reach the rule, and that pass it."""
    end: float


@dataclass(frozen=True)
class Conflict:
    """Which rule leaves which nodes, and what all of them leave together."""

    template: ClassVar[str] = "conflict.html.j2"
    title: str
    note: str
    columns: tuple[tuple[str, str], ...]
    """(zone, node)."""
    rules: tuple[RuleRow, ...]
    together: RuleRow | None
    total: int
    funnel: tuple[FunnelRow, ...]


@dataclass(frozen=True)
class Card:
    """A change that helps: what, what then, at which price, and the text to copy."""

    text: str
    then: str
    price: str
    code: str
    tone: Tone = ""


@dataclass(frozen=True)
class CardSection:
    """Changes, the smallest first."""

    template: ClassVar[str] = "cards.html.j2"
    title: str
    note: str
    cards: tuple[Card, ...]
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextSection:
    """Paragraphs; as preformatted text if `code`, folded away if `folded`."""

    template: ClassVar[str] = "text.html.j2"
    title: str
    paragraphs: tuple[str, ...]
    code: bool = False
    folded: bool = False


@dataclass(frozen=True)
class FailureCell:
    """One failure: how bad it is from 0 to 10, and in words."""

    level: int
    text: str


@dataclass(frozen=True)
class FailureGroup:
    """Failures of one kind in one manner."""

    label: str
    summary: str
    cells: tuple[FailureCell, ...]


@dataclass(frozen=True)
class FailureMap:
    """A heat map of failures; `most` is what the strongest colour stands for."""

    template: ClassVar[str] = "failures.html.j2"
    title: str
    note: str
    groups: tuple[FailureGroup, ...]
    most: str


@dataclass(frozen=True)
class Dot:
    """A point of a curve in pixels, hollow where it is not proven, with its words."""

    x: int
    y: int
    label: str
    text: str
    proven: bool


@dataclass(frozen=True)
class CurveSection:
    """How one number grows with another."""

    template: ClassVar[str] = "curve.html.j2"
    title: str
    note: str
    width: int
    height: int
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Group:
    """Sections that belong together, such as all about one workload."""

    template: ClassVar[str] = "group.html.j2"
    title: str
    badge: Badge
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    folded: bool = False


Section = (
    ClusterMap
    | SpreadSection
    | TableSection
    | Conflict
    | CardSection
    | TextSection
    | FailureMap
    | CurveSection
    | FleetMap
    | Group
)


@dataclass(frozen=True)
class Names:
    """What the filter knows: workloads as (namespace, name), and nodes or clusters by name."""

    workloads: tuple[tuple[str, str], ...]
    nodes: tuple[str, ...]
    what: Literal["Node", "Cluster"] = "Node"

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Every namespace once."""
        return tuple(sorted({namespace for namespace, _ in self.workloads}))


@dataclass(frozen=True)
class Page:
    """A whole report: the answer, its key numbers, then the pictures."""

    command: str
    badge: Badge
    headline: str
    lead: tuple[str, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    names: Names
    words: tuple[tuple[str, str], ...] = ()
    """Words that the page uses in a sense of their own, and what they mean."""
    notices: tuple[str, ...] = ()
