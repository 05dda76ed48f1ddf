from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import planner
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.like_descheduler import descheduler_plan
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions
from planner.report.emit import to_json, to_text
from planner.report.tables import evict_table
from planner.report.text.formats import Output
from planner.scheduler.profile import default_profile
from planner_models.documents import json_schema
from planner_models.evictions import Convergence, EvictionPlan

TESTS = Path(__file__).resolve().parent.parent
OPTIONS = EvictOptions(seeds=6)


def plan(example: str) -> EvictionPlan:
    cluster = planner.load(example=example).snapshot
    return make_eviction_plan(cluster, OPTIONS, default_profile())


def like_descheduler(example: str) -> EvictionPlan:
    cluster = planner.load(example=example).snapshot
    ours = find_evictions(cluster, OPTIONS, default_profile())
    return descheduler_plan(cluster, None, "usual policy", ours)


def table(document: EvictionPlan) -> str:
    return to_text(document, Output.TABLE, evict_table)


CASES: dict[str, Callable[[], EvictionPlan]] = {
    "zone-outage": lambda: plan("zone-outage"),
    "rack-row-grid": lambda: plan("rack-row-grid"),
    "zone-outage-before": lambda: plan("zone-outage-before"),
    "zone-outage-like-descheduler": lambda: like_descheduler("zone-outage"),
}


def written(name: str) -> EvictionPlan:
    """A plan as it once was, so that texts don't depend on which of several equals is found."""
    text = (TESTS / "data" / "plans" / f"evict-{name}.json").read_text()
    return EvictionPlan.model_validate_json(text)


@pytest.mark.parametrize("name", CASES)
def test_the_text_of_an_eviction_plan_is_as_agreed(name: str) -> None:
    expected = (TESTS / "snapshots" / f"evict-{name}.txt").read_text()
    assert table(written(name)) == expected


@pytest.mark.parametrize("name", CASES)
def test_what_matters_does_not_depend_on_which_of_several_equals_is_found(name: str) -> None:
    then, now = written(name), CASES[name]()
    assert evict_table.headline(now) == evict_table.headline(then)
    assert (now.converges, now.fewest) == (then.converges, then.fewest)
    assert (now.before.excess, now.after.excess) == (then.before.excess, then.after.excess)
    assert now.baselines == then.baselines


def test_no_line_is_wider_than_80_columns() -> None:
    text = table(plan("zone-outage")) + table(like_descheduler("zone-outage"))
    assert max(map(len, text.splitlines())) <= 80


def test_a_plan_that_depends_on_ties_says_so_first() -> None:
    unsure = plan("zone-outage").model_copy(
        update={
            "converges": False,
            "convergence": Convergence(seeds=6, gone=4, terminating=3, replanned=4, replanned_of=4),
        }
    )
    second = " ".join(table(unsure).split("\n\n")[0].splitlines()[1:])
    assert "Does not converge: 3 of 6 tie seeds end worse than planned" in second
    assert "with a new plan after every wave 4 of 4 end well" in second


def test_the_document_survives_a_round_trip() -> None:
    document = plan("zone-outage")
    assert EvictionPlan.model_validate_json(to_json(document)) == document


def test_the_schema_names_what_checks_rely_on() -> None:
    schema = json_schema("EvictionPlan")
    assert {"evictions", "converges", "checkedSeeds", "after", "baselines"} <= set(
        schema["properties"]
    )
    eviction = schema["$defs"]["PlannedEviction"]["properties"]
    assert {"pod", "node", "reason", "expectedNodes", "wave"} <= set(eviction)


def test_names_are_pods_wave_by_wave() -> None:
    lines = to_text(written("rack-row-grid"), Output.NAME, evict_table).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("pod/store-64f7-")


def test_pods_that_wait_are_named_where_nothing_is_evicted() -> None:
    quiet = plan("zone-outage-before")
    after = quiet.after.model_copy(update={"pending": 959})
    open_ = quiet.model_copy(update={"after": after, "fewest": False})
    assert evict_table.headline(open_) == (
        "Nothing to evict: no rule is broken that --for spread repairs. "
        "959 pods stay pending, and no eviction was found for them."
    )
    proven = open_.model_copy(update={"fewest": True})
    assert evict_table.headline(proven).endswith("no eviction lets them run.")
