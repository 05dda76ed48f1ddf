from __future__ import annotations

import pytest

from benchmarks.simulate import Scenario, build, measure


@pytest.mark.parametrize("in_turns", [False, True])
def test_sampled_decisions_equal_those_made_from_scratch(in_turns: bool) -> None:
    measured = measure(Scenario("tiny", 6, 3, 4, running_per_node=2, in_turns=in_turns), 1)
    assert (measured.pods, measured.scheduled) == (12, 12)
    assert measured.checked == 12
    assert measured.different == ()


def test_replicas_come_one_after_the_other_or_take_turns() -> None:
    one_by_one = build(Scenario("tiny", 2, 2, 2))
    in_turns = build(Scenario("tiny", 2, 2, 2, in_turns=True))
    assert [pod.name for pod in one_by_one.pods] == ["new-0-0", "new-0-1", "new-1-0", "new-1-1"]
    assert [pod.name for pod in in_turns.pods] == ["new-0-0", "new-1-0", "new-0-1", "new-1-1"]
