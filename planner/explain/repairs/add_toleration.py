"""addToleration: the taints of a kind of node are tolerated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.rule import Rule
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner.words import conjoined
from planner_models.pod import PodSpec
from planner_models.taints import Taint, Toleration


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """One proposal for each distinct set of taints that these nodes have."""
    if not isinstance(rule, TaintRule):
        return
    seen: set[tuple[Taint, ...]] = set()
    for node in np.flatnonzero(nodes).tolist():
        taints = tuple(taint for taint, where in rule.nodes_of.items() if where[node])
        if taints and taints not in seen:
            seen.add(taints)
            yield _proposal(case, taints)


def _proposal(case: Case, taints: Sequence[Taint]) -> Proposal:
    tolerations = [Toleration(key=t.key, value=t.value, effect=t.effect) for t in taints]
    written: list[JsonValue] = [
        {"key": t.key, "operator": "Equal", "value": t.value, "effect": t.effect} for t in taints
    ]
    names = [f"{t.key}={t.value}" if t.value else t.key for t in taints]
    ops = (
        [Op("add", ("tolerations", "-"), each) for each in written]
        if case.template.tolerations
        else [Op("add", ("tolerations",), list(written))]
    )
    return Proposal(
        kind="addToleration",
        object=case.owner,
        field="spec.tolerations",
        before=None,
        after=list(written),
        text=f"tolerate {conjoined(names)}",
        cost=case.costs["addToleration"] + 2 * (len(taints) - 1),
        overlay=Overlay(edits=(_edit(tolerations),)),
        restarts=case.restarts,
        notes=(case.rollout,),
        ops=tuple(ops),
    )


def _edit(added: Sequence[Toleration]) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        return spec.replace(tolerations=(*spec.tolerations, *added))

    return edit
