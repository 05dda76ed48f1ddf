"""raiseMaxSkew: the smallest maxSkew that lets one of the nodes pass."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner_models.pod import PodSpec

STEP = 2
"""What each step of maxSkew beyond the first costs."""


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """The exact value: one less refuses all of these nodes."""
    if not isinstance(rule, SpreadRule):
        return
    wanted = rule.needed(nodes)
    have = rule.constraint.max_skew
    if wanted is None or wanted <= have or not rule.field.startswith("spec."):
        return
    yield _proposal(case, rule, wanted)


def _proposal(case: Case, rule: SpreadRule, wanted: int) -> Proposal:
    have = rule.constraint.max_skew
    notes = [case.rollout]
    if wanted > have + 1:
        tried = [str(skew) for skew in range(have + 1, wanted)][:3]
        more = " and more" if wanted - have - 1 > 3 else ""
        verb = "is" if wanted == have + 2 else "are"
        notes.append(f"{', '.join(tried)}{more} {verb} not enough")
    return Proposal(
        kind="raiseMaxSkew",
        object=case.owner,
        field=f"{rule.field}.maxSkew",
        before=have,
        after=wanted,
        text=f"{rule.key}: maxSkew {have} -> {wanted}",
        cost=case.costs["raiseMaxSkew"] + STEP * (wanted - have - 1),
        overlay=Overlay(edits=(_edit(rule.index, wanted),)),
        restarts=case.restarts,
        notes=tuple(notes),
        ops=case.ops(
            Op("replace", ("topologySpreadConstraints", rule.index, "maxSkew"), wanted, have)
        ),
        grown=lambda steps: _proposal(case, rule, wanted + steps),
    )


def _edit(index: int, skew: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        constraints = list(spec.topology_spread_constraints)
        constraints[index] = constraints[index].replace(max_skew=skew)
        return spec.replace(topology_spread_constraints=tuple(constraints))

    return edit
