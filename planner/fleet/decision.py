"""What is found out about one placement, before it is written down."""

from __future__ import annotations

from dataclasses import dataclass

from planner.fleet.conflict import Conflict, minimal_conflict
from planner.fleet.optimum import TIME_LIMIT, Measures, Optimum, find_optimum, measure
from planner.fleet.reach import Reach, best_order
from planner.fleet.repairs import Trial, find_repairs
from planner.fleet.schedule import Picks, schedule
from planner.fleet.setting import Setting
from planner_models.fleet_decision import FleetVerdict


@dataclass(frozen=True)
class Decision:
    """Fleet's picks, the optimum beside them, and why they fall short if they do.

    Only PickN has an optimum: the other types leave nothing to choose.
    """

    setting: Setting
    picks: Picks
    measures: Measures
    verdict: FleetVerdict
    optimum: Optimum | None = None
    reach: Reach | None = None
    conflict: Conflict | None = None
    repairs: tuple[Trial, ...] = ()

    @property
    def other_order(self) -> tuple[int, ...]:
        """Picks by which Fleet's own rule would reach all that is wanted, if there are any."""
        if self.reach is None:
            return ()
        reached = len(self.reach.order) + len(self.setting.current)
        return self.reach.order if reached >= self.setting.wanted else ()

    @property
    def differs(self) -> bool:
        """Whether the optimum is better than Fleet's choice."""
        return self.optimum is not None and self.optimum.measures.rank < self.measures.rank


def decide(setting: Setting, time_limit: float = TIME_LIMIT) -> Decision:
    """Fleet's choice and the best one; if Fleet falls short, why and what helps."""
    picks = schedule(setting)
    measures = measure(setting, picks.picked)
    if setting.policy.placement_type != "PickN":
        nothing = setting.policy.placement_type == "PickAll" and not picks.picked
        verdict: FleetVerdict = "impossible" if nothing or picks.missing else "fulfilled"
        return Decision(setting, picks, measures, verdict)
    optimum = find_optimum(setting, picks.picked, time_limit)
    if picks.found >= setting.wanted:
        repairs = find_repairs(setting) if measures.excess else ()
        return Decision(setting, picks, measures, "fulfilled", optimum, repairs=repairs)
    return _short(setting, picks, measures, optimum)


def _short(setting: Setting, picks: Picks, measures: Measures, optimum: Optimum) -> Decision:
    """Fewer clusters than wanted: because of Fleet, or because there are no more."""
    possible = optimum.measures.clusters
    most = next(level.bound for level in optimum.levels if level.name == "clusters")
    stuck = possible > measures.clusters
    conflict = None
    if most is not None and most < setting.wanted:
        conflict = minimal_conflict(setting)
    verdict: FleetVerdict = "deadlock" if stuck else "impossible" if conflict else "undecided"
    return Decision(
        setting,
        picks,
        measures,
        verdict,
        optimum,
        best_order(setting) if stuck else None,
        conflict,
        find_repairs(setting),
    )
