"""NodeAffinity: nodeSelector, required and preferred node affinity, and the profile's own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import (
    SKIP,
    UNRESOLVABLE,
    PreFilterResult,
    StaticFilter,
    StaticScore,
    Status,
    default_normalise,
)
from planner.scheduler.framework.state import SchedulingState
from planner_models.affinity import NodeAffinity as NodeAffinityRules
from planner_models.selectors import NodeSelector

REASON_POD = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"

_POD, _ENFORCED = 1, 2


class NodeAffinity:
    """Rules about the labels and the name of the node itself."""

    name: ClassVar[str] = "NodeAffinity"
    reasons: ClassVar[tuple[str, ...]] = (REASON_POD, REASON_ENFORCED)

    def __init__(self, added: NodeAffinityRules | None = None) -> None:
        self._added = added or NodeAffinityRules()

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes that the profile's affinity or the pod's own rules don't match."""
        spec = group.spec
        required = spec.affinity.node_affinity.required
        if required is None and self._added.required is None and not spec.node_selector:
            return SKIP
        named = named_nodes(required)
        if named is not None and not named:
            rejection = Status(self.name, UNRESOLVABLE, (REASON_CONFLICT,))
            return PreFilterResult(rejection=rejection)
        verdicts = np.where(state.node_rules.affinity(spec), 0, _POD)
        if self._added.required is not None:
            verdicts[~state.node_rules.matching(self._added.required)] = _ENFORCED
        return PreFilterResult(
            StaticFilter(
                verdicts,
                (
                    Status(self.name, UNRESOLVABLE, (REASON_POD,)),
                    Status(self.name, UNRESOLVABLE, (REASON_ENFORCED,)),
                ),
            ),
            nodes=named,
        )

    def pre_score(self, state: SchedulingState, group: PodGroup) -> _Preferred | None:
        """The weights of the preferred terms that a node matches."""
        preferred = group.spec.affinity.node_affinity.preferred
        if not preferred and not self._added.preferred:
            return None
        total = np.zeros(len(state.cluster.nodes), np.int64)
        for term in (*self._added.preferred, *preferred):
            total += term.weight * state.node_rules.term(term.preference)
        return _Preferred(total)


class _Preferred(StaticScore):
    local: ClassVar[bool] = False

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """100 for the highest sum of weights."""
        return default_normalise(raw, reverse=False)


def named_nodes(required: NodeSelector | None) -> frozenset[str] | None:
    """The nodes that matchFields leave over, if every term names some; else None for all.

    The scheduler looks at these nodes only, instead of refusing all others one by one.
    """
    if required is None:
        return None
    names: set[str] = set()
    for term in required.node_selector_terms:
        sets = [frozenset(f.values) for f in term.match_fields if f.operator == "In"]
        if not sets:
            return None
        names |= frozenset.intersection(*sets)
    return frozenset(names)
