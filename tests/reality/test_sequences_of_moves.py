"""Plans that real clusters proved wrong: a pod may land before an interchangeable one leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner

DATA = Path(__file__).parent / "data"


def solved(name: str) -> planner.Plan:
    return planner.load(DATA / f"{name}.json.gz").solve(rebalance=True)


@pytest.mark.parametrize("name", ["live-gross", "gross-arrivals"])
def test_a_pod_may_land_before_an_interchangeable_one_leaves(name: str) -> None:
    plan = solved(name)
    assert not plan.unplaced
    assert plan.status == "optimal"


def test_an_eviction_that_returns_to_its_node_is_shown() -> None:
    text = solved("return-trick").to_text()
    assert "1 to place, 0 to move, 1 to evict and bring back, 0 can't be placed" in text
    assert "x-abc123-p0    na evicted" in text
    assert "1 eviction, and fewer can't do (lower bound 1)" in text


def test_moves_and_evictions_that_return_are_counted_together() -> None:
    text = solved("live-gross").to_text()
    assert "2 to move, 1 to evict and bring back" in text
    assert "3 evictions, and fewer can't do (lower bound 3)" in text


def test_the_hint_at_rebalance_says_that_a_pod_comes_back() -> None:
    text = planner.load(DATA / "return-trick.json.gz").solve().to_text()
    hint = "--rebalance places 1 more pod with 1 eviction (one comes back to the same node)."
    assert hint in " ".join(text.split())
