"""Every recorded decision of kube-scheduler and of the descheduler in data/ is ours too."""

from __future__ import annotations

import pytest

from tests.conformance.case import (
    DATA,
    DESCHEDULER_FAMILIES,
    QUEUE,
    SCHEDULER_FAMILIES,
    SUFFIX,
)
from tests.conformance.report import details, merge
from tests.conformance.run import run, select

FAMILIES = sorted({*SCHEDULER_FAMILIES, QUEUE, *DESCHEDULER_FAMILIES})


def test_every_family_is_recorded() -> None:
    recorded = {path.name.removesuffix(SUFFIX) for path in DATA.glob(f"*{SUFFIX}")}
    assert recorded == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_planner_decides_as_recorded(family: str) -> None:
    (comparison,) = merge(run(select([DATA / f"{family}{SUFFIX}"])))
    assert comparison.family == family
    if comparison.differences:
        shown = details(comparison.differences, first=5)
        pytest.fail(f"{comparison.line()}\n{shown}", pytrace=False)
