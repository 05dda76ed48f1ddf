"""lowerMinDomains: as many domains as there are."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner_models.pod import PodSpec


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """Only where fewer domains than minDomains make the minimum 0."""
    if not isinstance(rule, SpreadRule) or not rule.few_domains:
        return
    have, there = rule.constraint.min_domains, int(rule.eligible.sum())
    if have is None or not there or not rule.field.startswith("spec."):
        return
    yield Proposal(
        kind="lowerMinDomains",
        object=case.owner,
        field=f"{rule.field}.minDomains",
        before=have,
        after=there,
        text=f"{rule.key}: minDomains {have} -> {there}",
        cost=case.costs["lowerMinDomains"],
        overlay=Overlay(edits=(_edit(rule.index, there),)),
        restarts=case.restarts,
        notes=(case.rollout,),
        ops=case.ops(
            Op("replace", ("topologySpreadConstraints", rule.index, "minDomains"), there, have)
        ),
    )


def _edit(index: int, domains: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        constraints = list(spec.topology_spread_constraints)
        constraints[index] = constraints[index].replace(min_domains=domains)
        return spec.replace(topology_spread_constraints=tuple(constraints))

    return edit
