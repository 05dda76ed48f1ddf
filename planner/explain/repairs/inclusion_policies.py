"""nodeTaintsPolicy and nodeAffinityPolicy: which nodes a spread constraint counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner.words import conjoined
from planner_models.pod import PodSpec

Policy = Literal["node_taints_policy", "node_affinity_policy"]
_FIELDS: dict[Policy, Literal["nodeTaintsPolicy", "nodeAffinityPolicy"]] = {
    "node_taints_policy": "nodeTaintsPolicy",
    "node_affinity_policy": "nodeAffinityPolicy",
}


def propose(case: Case) -> Iterator[Proposal]:
    """Each constraint alone, then all that have the same value together."""
    rules = [r for r in case.rules if isinstance(r, SpreadRule) and r.field.startswith("spec.")]
    for policy in _FIELDS:
        for have in ("Ignore", "Honor"):
            same = [rule for rule in rules if getattr(rule.constraint, policy) == have]
            for rule in same:
                yield _proposal(case, [rule], policy, have)
            if len(same) > 1:
                yield _proposal(case, same, policy, have)


def _proposal(case: Case, rules: list[SpreadRule], policy: Policy, have: str) -> Proposal:
    want = "Honor" if have == "Ignore" else "Ignore"
    name = _FIELDS[policy]
    keys = conjoined([rule.key for rule in rules])
    return Proposal(
        kind=name,
        object=case.owner,
        field=", ".join(f"{rule.field}.{name}" for rule in rules),
        before=have,
        after=want,
        text=f"{keys}: {name} {have} -> {want}",
        cost=case.costs[name] + 3 * (len(rules) - 1),
        overlay=Overlay(edits=(_edit([rule.index for rule in rules], policy, want),)),
        restarts=case.restarts,
        notes=(case.rollout,),
        ops=case.ops(
            *(Op("add", ("topologySpreadConstraints", r.index, name), want, have) for r in rules)
        ),
    )


def _edit(indexes: Iterable[int], policy: Policy, value: str) -> SpecEdit:
    chosen = frozenset(indexes)

    def edit(spec: PodSpec) -> PodSpec:
        constraints = tuple(
            c.replace(**{policy: value}) if i in chosen else c
            for i, c in enumerate(spec.topology_spread_constraints)
        )
        return spec.replace(topology_spread_constraints=constraints)

    return edit
