"""TaintToleration: NoSchedule and NoExecute taints refuse, PreferNoSchedule ones cost points."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import (
    UNRESOLVABLE,
    PreFilterResult,
    StaticScore,
    Status,
    default_normalise,
    static_result,
)
from planner.scheduler.framework.state import SchedulingState
from planner_models.taints import HARD_EFFECTS, Taint, Toleration, first_untolerated

REASON = "node(s) had untolerated taint(s)"


class TaintToleration:
    """`spec.taints` of nodes against `spec.tolerations` of pods."""

    name: ClassVar[str] = "TaintToleration"
    reasons: ClassVar[tuple[str, ...]] = (REASON,)

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes with a hard taint that the pod does not tolerate."""
        tolerations = group.spec.tolerations
        key = ("untolerated", tolerations)
        return state.facts.once(key, lambda: self._untolerated(state, tolerations))

    def _untolerated(
        self, state: SchedulingState, tolerations: tuple[Toleration, ...]
    ) -> PreFilterResult:
        verdicts = _per_taints(
            state, lambda taints: first_untolerated(taints, tolerations, HARD_EFFECTS) is not None
        )
        status = Status(self.name, UNRESOLVABLE, (REASON,))
        return static_result(verdicts, (status,))

    def pre_score(self, state: SchedulingState, group: PodGroup) -> _PreferNoSchedule:
        """Count the soft taints that the pod does not tolerate; fewer are better."""
        soft = tuple(t for t in group.spec.tolerations if t.effect in ("", "PreferNoSchedule"))
        return state.facts.once(
            ("intolerable", soft),
            lambda: _PreferNoSchedule(_per_taints(state, lambda t: _intolerable(t, soft))),
        )


class _PreferNoSchedule(StaticScore):
    local: ClassVar[bool] = False

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """100 for the nodes with the fewest, by DefaultNormalizeScore in reverse."""
        return default_normalise(raw, reverse=True)


def _intolerable(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> int:
    return sum(
        taint.effect == "PreferNoSchedule" and not any(t.tolerates(taint) for t in tolerations)
        for taint in taints
    )


def _per_taints(state: SchedulingState, judge: Callable[[tuple[Taint, ...]], int]) -> IntArray:
    """Nodes carry few distinct sets of taints: each is judged once."""
    distinct, of_node = state.taint_sets
    return np.array([int(judge(taints)) for taints in distinct], np.int64)[of_node]
