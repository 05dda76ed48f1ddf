"""Killed at every line of the journal, and run again: the same end, nobody evicted twice."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from planner.apply.refusals import Reviewed
from planner_models.apply_report import ApplyEntry, ApplyReport
from tests.apply.applying import Applying, drain_for, plan_for
from tests.apply.world_api import WorldApi, example_api
from tests.world.random_worlds import random_world

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"


class KilledError(BaseException):
    """kill -9: nothing of the process happens any more."""


def steered() -> tuple[WorldApi, Reviewed]:
    """Waves with cordons, one of which is held for the next."""
    api = WorldApi(random_world(59), 59)
    return api, plan_for(api, seeds=4)


def outage() -> tuple[WorldApi, Reviewed]:
    api = example_api()
    return api, plan_for(api, seeds=2)


def drain() -> tuple[WorldApi, Reviewed]:
    api = example_api("zone-outage-before")
    return api, drain_for(api, "b1")


CASES = {"steered": steered, "outage": outage, "drain": drain}


@cache
def plan_of(case: str) -> Reviewed:
    return CASES[case]()[1]


def fresh(case: str) -> WorldApi:
    if case == "steered":
        return WorldApi(random_world(59), 59)
    return example_api("zone-outage-before" if case == "drain" else "zone-outage")


def killed_after(number: int, api: WorldApi, applying: Applying, *, torn: bool) -> bool:
    """Whether it came so far."""
    seen = [0]

    def listener(entry: ApplyEntry) -> None:
        seen[0] += entry.event != "waits"
        if seen[0] == number:
            api.dead = True
            raise KilledError

    try:
        applying.run(listener)
    except KilledError:
        api.dead = False
        if torn:
            text = applying.journal.read_bytes().rstrip(b"\n")
            last = text.rfind(b"\n") + 1
            applying.journal.write_bytes(text[: last + (len(text) - last) // 2])
        return True
    return False


def check(case: str, api: WorldApi, report: ApplyReport) -> None:
    plan = plan_of(case)
    assert report.result == "done", report.reason
    planned = {each.uid for each in plan.evictions}  # type: ignore[union-attr]
    assert sorted(api.evicted) == sorted(planned)
    assert api.broken_budgets == []
    drained = ["b1"] if case == "drain" else []
    assert api.marked() == api.cordoned() == drained
    assert api.world.waiting() == [] or case == "steered"


def lines_of(case: str, folder: Path) -> int:
    api = fresh(case)
    applying = Applying(api, plan_of(case), folder)
    check(case, api, applying.run())
    return len(applying.lines())


@pytest.mark.parametrize("case", CASES)
def test_kill_at_every_line_of_the_journal_and_go_on(case: str, tmp_path: Path) -> None:
    """Of the longest journal every twelfth line, unless the long profile asks for all."""
    (tmp_path / "whole").mkdir()
    lines = lines_of(case, tmp_path / "whole")
    for number in range(1, lines + 1, 12 if case == "outage" and not LONG else 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        api = fresh(case)
        applying = Applying(api, plan_of(case), folder)
        assert killed_after(number, api, applying, torn=False)
        report = applying.run()
        check(case, api, report)
        evicted = [each.outcome for each in report.evictions]
        assert evicted == ["evicted"] * len(evicted), f"line {number}"


def test_a_line_that_was_cut_off_is_as_good_as_none(tmp_path: Path) -> None:
    """`evicting` is on the disk before its request; of the others the cluster tells the truth."""
    for number in (3, 5):
        folder = tmp_path / str(number)
        folder.mkdir()
        api = fresh("outage")
        applying = Applying(api, plan_of("outage"), folder)
        assert killed_after(number, api, applying, torn=True)
        check("outage", api, applying.run())


def test_a_journal_of_another_plan_is_refused(tmp_path: Path) -> None:
    from planner.errors import PlannerError

    api = fresh("outage")
    Applying(api, plan_of("outage"), tmp_path).run(last_wave=1)
    other = fresh("drain")
    with pytest.raises(PlannerError, match="is the journal of plan"):
        Applying(other, plan_of("drain"), tmp_path).run()


def test_what_was_done_is_told_when_it_is_run_once_more(tmp_path: Path) -> None:
    api = fresh("outage")
    applying = Applying(api, plan_of("outage"), tmp_path)
    first = applying.run()
    again = applying.run()
    assert (again.result, again.evicted, again.landed) == ("done", first.evicted, first.landed)
    assert applying.starts[-1].resuming == "all waves are done"
