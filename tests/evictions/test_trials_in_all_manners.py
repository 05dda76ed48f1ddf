"""Repeated trials tell the same, whether these are carried out side by side or not."""

from __future__ import annotations

import pytest

from planner.disruption.budgets import allowances
from planner.evictions.goals import Goal, aim_of
from planner.evictions.repeated_trials import RepeatedTrials, Target, TriedWaves
from planner.replay import trial_work
from planner.scheduler.profile import default_profile
from tests.replay.test_trials_together import lost_zone

NEVER = 10**18


def tried(seed: int, worth: int, patience: int | None) -> TriedWaves | None:
    cluster, waves = lost_zone(seed)
    goals: tuple[Goal, ...] = ("spread",)
    aim = aim_of(cluster, goals, ())
    trials = RepeatedTrials(aim, default_profile(), allowances(cluster), Target(0, 0), seeds=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial_work, "WORTH_TOGETHER", worth)
        return trials.tried(waves, patience=patience) if waves else None


@pytest.mark.parametrize("patience", [None, 1, 3])
@pytest.mark.parametrize("seed", range(40))
def test_side_by_side_or_one_after_the_other(seed: int, patience: int | None) -> None:
    together, alone = tried(seed, 0, patience), tried(seed, NEVER, patience)
    if together is None or alone is None:
        return
    assert together.manners == alone.manners
    assert together.reached == alone.reached
    assert [list(run.landings) for run in together.runs] == [
        list(run.landings) for run in alone.runs
    ]
    assert together.choices.keys() == alone.choices.keys()
    for key, nodes in alone.choices.items():
        assert together.choices[key].tolist() == nodes.tolist()
