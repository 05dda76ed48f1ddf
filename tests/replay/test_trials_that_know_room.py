"""What is known from room alone, against trials that ask the scheduler every time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.full_clusters import full_cluster
from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.replay.refused_groups import RefusedGroups
from planner.replay.trial import Trial, TrialRun, WavePlan
from planner.replay.trial_state import TrialState
from planner.scheduler.profile import default_profile
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.held_room import waves_with_held_room
from planner.sequences.plan import problem_of
from planner.sequences.scheduler_replay import departing, manner
from planner.sequences.waves import Waves
from planner.solver.problem.options import SolveOptions

PROFILE = default_profile()


def _waves(built: Cluster) -> Iterator[list[WavePlan]]:
    """All evictions at once, and one after the other under cordons."""
    problem = problem_of(built, SolveOptions(rebalance=True), PROFILE)
    for steps in few_evictions_each(problem, PROFILE, allowances(built)):
        yield departing(Waves((steps,)))
        yield departing(Waves(tuple(waves_with_held_room(problem, steps) or ())))


def _runs(built: Cluster, waves: list[WavePlan]) -> list[TrialRun]:
    evicted = [pod for wave in waves for pod in wave.evictions]
    trial = Trial(built, PROFILE, allowances(built), evicted)
    return [trial.run(waves, manner(seed), unlimited=True) for seed in range(4)]


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(("sizes", "flavours")))
def test_nothing_ends_otherwise_than_if_everything_is_asked(seed: int, shape: str) -> None:
    built = full_cluster(6, "sizes" if shape == "sizes" else "flavours", seed)
    for waves in _waves(built):
        quick = _runs(built, waves)
        with pytest.MonkeyPatch.context() as asking:
            asking.setattr(RefusedGroups, "still", lambda *_: False)
            asking.setattr(TrialState, "rest", lambda *_: None)
            asking.setattr(TrialState, "_may_preempt", lambda *_: True)
            slow = _runs(built, waves)
        assert [run.driven for run in quick] == [run.driven for run in slow]
        assert [run.landings for run in quick] == [run.landings for run in slow]
