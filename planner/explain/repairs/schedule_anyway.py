"""scheduleAnyway: a hard constraint becomes a preference."""

from __future__ import annotations

from collections.abc import Iterator

from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner_models.pod import PodSpec


def propose(case: Case) -> Iterator[Proposal]:
    """Each hard constraint; minDomains goes with it, which the API allows with DoNotSchedule only.

    The constraint then also stops deciding which nodes the others count.
    """
    for rule in case.rules:
        if not isinstance(rule, SpreadRule) or not rule.field.startswith("spec."):
            continue
        spec = case.subject.group.spec
        twins = [
            c
            for c in spec.topology_spread_constraints
            if c.topology_key == rule.constraint.topology_key and not c.hard
        ]
        if twins:
            continue
        extra = ", and remove minDomains" if rule.constraint.min_domains is not None else ""
        base = ("topologySpreadConstraints", rule.index)
        have = rule.constraint.min_domains
        ops = [Op("replace", (*base, "whenUnsatisfiable"), "ScheduleAnyway", "DoNotSchedule")]
        if have is not None:
            ops.append(Op("remove", (*base, "minDomains"), None, have))
        yield Proposal(
            kind="scheduleAnyway",
            object=case.owner,
            field=f"{rule.field}.whenUnsatisfiable",
            before="DoNotSchedule",
            after="ScheduleAnyway",
            text=f"{rule.key}: ScheduleAnyway{extra}",
            cost=case.costs["scheduleAnyway"] + (10 if extra else 0),
            overlay=Overlay(edits=(_edit(rule.index),)),
            restarts=case.restarts,
            notes=(case.rollout,),
            ops=case.ops(*ops),
        )


def _edit(index: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        constraints = list(spec.topology_spread_constraints)
        constraints[index] = constraints[index].replace(
            when_unsatisfiable="ScheduleAnyway", min_domains=None
        )
        return spec.replace(topology_spread_constraints=tuple(constraints))

    return edit
