"""topologyKey: a mistyped key becomes the one that nodes have.

No node has the label that a constraint or a term names, but all have one that looks like it. Giving
nodes the mistyped label would only hide the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.inter_pod_affinity import NEAR_FIELD, NearRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.situation.lookalikes import meant_key
from planner.explain.situation.overlay import SpecEdit
from planner_models.affinity import REQUIRED
from planner_models.pod import PodSpec


def correct_spread_key(case: Case, rule: SpreadRule, nodes: BoolArray) -> Iterator[Proposal]:
    """Unless the API server would refuse a second constraint of the same key and kind."""
    wanted, have = rule.meant_key, rule.constraint
    others = case.subject.group.spec.topology_spread_constraints
    taken = any(
        other.topology_key == wanted and other.when_unsatisfiable == have.when_unsatisfiable
        for other in others
    )
    if wanted is None or taken or not rule.in_spec:
        return
    yield case.spec_change(
        "topologyKey",
        f"{rule.field}.topologyKey",
        f"topologyKey {have.topology_key} -> {wanted}",
        [_spread_by(rule.index, wanted)],
        [
            Op(
                "replace",
                ("topologySpreadConstraints", rule.index, "topologyKey"),
                wanted,
                have.topology_key,
            )
        ],
        before=have.topology_key,
        after=wanted,
    )


def correct_affinity_key(case: Case, rule: NearRule, nodes: BoolArray) -> Iterator[Proposal]:
    """Of each required term of pod affinity by itself."""
    for index, term in enumerate(rule.terms):
        have = term.topology_key
        wanted = meant_key(case.subject.cluster.nodes, have)
        if wanted is None:
            continue
        path = ("affinity", "podAffinity", REQUIRED, index, "topologyKey")
        yield case.spec_change(
            "topologyKey",
            f"{NEAR_FIELD}[{index}].topologyKey",
            f"topologyKey {have} -> {wanted}",
            [_near_by(index, wanted)],
            [Op("replace", path, wanted, have)],
            before=have,
            after=wanted,
        )


def _spread_by(index: int, key: str) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        constraints = list(spec.topology_spread_constraints)
        constraints[index] = constraints[index].replace(topology_key=key)
        return spec.replace(topology_spread_constraints=tuple(constraints))

    return edit


def _near_by(index: int, key: str) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        near = spec.affinity.pod_affinity
        terms = list(near.required)
        terms[index] = terms[index].replace(topology_key=key)
        changed = near.replace(required=tuple(terms))
        return spec.replace(affinity=spec.affinity.replace(pod_affinity=changed))

    return edit
