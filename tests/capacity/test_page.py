"""The report of `planner capacity`."""

from __future__ import annotations

from planner.api.capacity import Capacity
from planner.report.html.capacity_page import capacity_page
from planner.report.html.view import CurveSection
from planner_models.capacity import CapacityLine, CapacityNow, CapacitySubject, CurvePoint


def test_the_curve_has_a_dot_for_each_number_and_a_hollow_one_where_nothing_is_proven() -> None:
    line = CapacityLine(
        subject=(CapacitySubject(workload="deploy/train"),),
        now=CapacityNow(count=0),
        curve=(
            CurvePoint(count=1, moves=1, at_least=1, status="proven"),
            CurvePoint(count=3, moves=4, at_least=2, status="open"),
        ),
    )
    page = capacity_page(Capacity(nodes=12, lines=(line,)))
    (curve,) = (each for each in page.sections if isinstance(each, CurveSection))
    assert [(dot.text, dot.proven) for dot in curve.dots] == [
        ("1 more pod with 1 move", True),
        ("3 more pods with 4 moves, at least 2", False),
    ]
    first, last = curve.dots
    assert first.x < last.x
    assert first.y > last.y
