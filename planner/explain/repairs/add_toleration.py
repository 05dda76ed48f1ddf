"""addToleration: the taints of a kind of node are tolerated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from models.pod import PodSpec
from models.taints import Taint, Toleration
from planner.cluster.node_rules import BoolArray
from planner.explain.overlay import Overlay, SpecEdit
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.rule import Rule
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.words import conjoined


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
    written = [
        {"key": t.key, "operator": "Equal", "value": t.value, "effect": t.effect} for t in taints
    ]
    names = [f"{t.key}={t.value}" if t.value else t.key for t in taints]
    own = case.subject.group.spec.tolerations
    path = "tolerations/-" if own else "tolerations"
    value = written[0] if own else written
    return Proposal(
        kind="addToleration",
        object=case.owner,
        field="spec.tolerations",
        before=None,
        after=[dict(each) for each in written],
        text=f"tolerate {conjoined(names)}",
        cost=case.costs["addToleration"] + 2 * (len(taints) - 1),
        overlay=Overlay(edits=(_edit(tolerations),)),
        restarts=case.restarts,
        notes=(case.rollout,),
        command=case.patch(path, value, "add") if not own or len(written) == 1 else None,  # type: ignore[arg-type] # strings and lists of strings are JSON values
    )


def _edit(added: Sequence[Toleration]) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        return spec.replace(tolerations=(*spec.tolerations, *added))

    return edit
