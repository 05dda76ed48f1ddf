"""What was compared, what agreed, and how the differences read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

ASPECTS = (
    "replayed",
    "outcome",
    "prefilter",
    "filter",
    "feasible",
    "failing plugins",
    "message",
    "event message",
    "raw scores",
    "scores",
    "totals",
    "best",
    "volumes",
    "preemption code",
    "preemption message",
    "candidates",
    "nominated",
    "victims",
    "popped",
    "active",
    "gated",
    "evicted",
    "count",
    "invalid",
    "error",
    "snapshot",
    "cycles",
    "refused",
    "cluster scores",
    "picks",
    "picked",
    "given up",
    "condition",
    "decisions",
)
"""In the order of the report; scores count once per pod and plugin, all else once per pod, or with
Fleet once per case."""


@dataclass(frozen=True)
class Difference:
    """What was recorded, and what we say instead."""

    case: str
    subject: str
    """The pod, the queue, the strategy or the placement."""
    aspect: str
    got: Any
    want: Any

    def lines(self) -> Iterator[str]:
        """Of maps, only the entries that differ: a map may have 1,000 nodes."""
        yield f"{self.case} {self.subject}: {self.aspect}"
        if not (isinstance(self.got, dict) and isinstance(self.want, dict)):
            yield f"    recorded {self.want}"
            yield f"    ours     {self.got}"
            return
        for key in sorted(self.got.keys() | self.want.keys()):
            got, want = (side.get(key, "absent") for side in (self.got, self.want))
            if got != want:
                yield f"    {key}: recorded {want}, ours {got}"


@dataclass
class Comparison:
    """Agreement on the cases of one family."""

    family: str
    cases: int = 0
    pods: int = 0
    """What is decided about: with Fleet, member clusters."""
    noun: str = "pods"
    compared: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def check(
        self, case: str, subject: str, aspect: str, got: Any, want: Any, detail: str = ""
    ) -> None:
        """Count one comparison; `detail` names a part of the aspect, such as a plugin."""
        self.compared[aspect] += 1
        if got == want:
            self.agreed[aspect] += 1
        else:
            name = f"{aspect} of {detail}" if detail else aspect
            self.differences.append(Difference(case, subject, name, got, want))

    def add(self, other: Comparison) -> None:
        """The cases of the other as well."""
        self.cases += other.cases
        self.pods += other.pods
        self.compared += other.compared
        self.agreed += other.agreed
        self.differences += other.differences

    def line(self) -> str:
        """Agreement in one line, aspect by aspect."""
        counts = [
            f"{aspect} {self.agreed[aspect]}/{self.compared[aspect]}"
            for aspect in ASPECTS
            if self.compared[aspect]
        ]
        decided = f"{self.pods} {self.noun}"
        return f"{self.family}: {self.cases} cases, {decided}; {', '.join(counts)}"


def merge(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """One comparison per family, in the order in which families first appear."""
    found: dict[str, Comparison] = {}
    for each in comparisons:
        found.setdefault(each.family, Comparison(each.family, noun=each.noun)).add(each)
    return list(found.values())


def details(differences: Sequence[Difference], first: int) -> str:
    """The first differences in full; `first` counts differences, not lines."""
    shown = [line for difference in differences[:first] for line in difference.lines()]
    rest = len(differences) - first
    return "\n".join([*shown, *([f"... and {rest} more differences"] if rest > 0 else [])])
