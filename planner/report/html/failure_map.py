"""Single failures as a heat map: a cell each, coloured by the pods that do not run then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.html.view import FailureCell, FailureGroup, FailureMap
from planner.report.tables import whatif_singles
from planner.words import count_of
from planner_models.whatif import WhatIf, WhatIfSingle

LEVELS = 10


def failure_map(document: WhatIf) -> FailureMap:
    """A picture for each kind of failure and each manner; domains in the order of their names."""
    most = max((whatif_singles.worst(each) for each in document.singles), default=0)
    return FailureMap(
        title="Failures",
        note="Every cell names its failure; those without a place are counted in the table.",
        groups=tuple(_groups(document, most)),
        most=count_of(most, "pod"),
    )


def _groups(document: WhatIf, most: int) -> Iterator[FailureGroup]:
    for kind in dict.fromkeys(each.kind for each in document.singles):
        same = sorted((e for e in document.singles if e.kind == kind), key=lambda e: e.domain)
        for manner in same[0].waiting:
            numbers = [each.waiting[manner] for each in same]
            bad = sum(number > 0 for number in numbers)
            yield FailureGroup(
                label=f"{count_of(len(same), kind)}, {manner}",
                summary=f"{bad} of {len(same)} leave pods waiting",
                cells=tuple(_cells(same, numbers, most)),
            )


def _cells(
    same: Sequence[WhatIfSingle], numbers: Sequence[int], most: int
) -> Iterator[FailureCell]:
    for each, number in zip(same, numbers, strict=True):
        level = -(-LEVELS * number // most) if number else 0
        down = count_of(each.pods_down, "pod")
        yield FailureCell(level, f"{whatif_singles.named(each)}: {down} down, {number} waiting")
