"""What comes first decides: an order of placements may reach what no final state would allow."""

from __future__ import annotations

import planner
from tests.reality.dumps import DATA, dump, evictions

ORDER = DATA / "order-beats-final.json.gz"


def test_solve_finds_the_order_that_places_both_and_says_what_it_breaks() -> None:
    plan = planner.load(ORDER).solve()
    placed = [(each.pod.partition("/")[2], each.node) for each in plan.placements]
    assert placed == [("web-abc123-p0", "na"), ("x-abc123-p0", "na")]
    assert (plan.excess_before, plan.excess_after) == (0, 1)
    assert (plan.greedy.placed, plan.greedy.pending) == (1, 2)


def test_the_queue_decides_and_explain_says_so() -> None:
    cluster = planner.load(ORDER)
    alone = cluster.explain("deploy/web")
    assert alone.verdict == "schedulable"
    assert "in the order of the queue, it has no node" in alone.narrative[-1]
    outcomes = {pod.pod: pod.outcome for pod in cluster.simulate().pods}
    assert outcomes["default/web-abc123-p0"] == "unschedulable"
    assert outcomes["default/x-abc123-p0"] == "scheduled"


def test_an_eviction_whose_outcome_depends_on_the_queue_is_not_said_to_converge() -> None:
    plan = evictions(dump("order-beats-final"))
    assert len(plan.evictions) == 1
    assert not plan.converges
