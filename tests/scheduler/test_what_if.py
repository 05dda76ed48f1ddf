"""What a node would say without some of its pods: sums in plain numbers, against the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.full_clusters import full_cluster
from planner.cluster import Cluster
from planner.scheduler.framework.plugin import Filter, StaticFilter
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins import default_preemption
from planner.scheduler.plugins.what_if import RoomWhatIf, StateWhatIf, WhatIf, what_if_of
from planner.scheduler.preemption import Preemption
from planner.scheduler.simulate import simulate


def asked_of_the_state(
    state: SchedulingState, filters: Sequence[Filter], nominated: Mapping[int, Sequence[int]]
) -> WhatIf:
    counting = [each for each in filters if not isinstance(each, StaticFilter)]
    return StateWhatIf(state, filters, counting, nominated)


Decided = tuple[int, int | None, Preemption | None]


def decisions(built: Cluster) -> list[Decided]:
    """Node and preemption of every pod that waits."""
    run = simulate(built)
    return [(each.pod, each.node, each.preemption) for each in run.results]


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(("sizes", "flavours")))
def test_the_same_pods_are_driven_off(seed: int, shape: str) -> None:
    built = full_cluster(6, "sizes" if shape == "sizes" else "flavours", seed)
    quick = decisions(built)
    with pytest.MonkeyPatch.context() as asking:
        asking.setattr(default_preemption, "what_if_of", asked_of_the_state)
        assert decisions(built) == quick


def test_sums_are_asked_where_only_room_depends_on_other_pods() -> None:
    used: list[type] = []

    def noting(
        state: SchedulingState, filters: Sequence[Filter], nominated: Mapping[int, Sequence[int]]
    ) -> WhatIf:
        found = what_if_of(state, filters, nominated)
        used.append(type(found))
        return found

    with pytest.MonkeyPatch.context() as watching:
        watching.setattr(default_preemption, "what_if_of", noting)
        outcomes = decisions(full_cluster(6, "sizes", 0))
    assert RoomWhatIf in used
    assert any(found and found.victims for _, _, found in outcomes)
