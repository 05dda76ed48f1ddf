"""Every recorded decision of kube-scheduler, the descheduler and KubeFleet in data/ is ours too."""

from __future__ import annotations

import pytest

from tests.conformance.case import (
    DATA,
    DESCHEDULER_FAMILIES,
    FLEET,
    QUEUE,
    SCHEDULER_FAMILIES,
    SUFFIX,
)
from tests.conformance.report import details, merge
from tests.conformance.run import run, select

FAMILIES = sorted({*SCHEDULER_FAMILIES, QUEUE, *DESCHEDULER_FAMILIES})


FLEET_FILE = "fleet-public"


def test_every_family_is_recorded() -> None:
    recorded = {path.name.removesuffix(SUFFIX) for path in DATA.glob(f"*{SUFFIX}")}
    assert recorded == {*FAMILIES, FLEET_FILE}


@pytest.mark.parametrize(
    ("file", "family"), [*((each, each) for each in FAMILIES), (FLEET_FILE, FLEET)]
)
def test_planner_decides_as_recorded(file: str, family: str) -> None:
    (comparison,) = merge(run(select([DATA / f"{file}{SUFFIX}"])))
    assert comparison.family == family
    if comparison.differences:
        shown = details(comparison.differences, first=5)
        pytest.fail(f"{comparison.line()}\n{shown}", pytrace=False)
