"""Changes to a spread constraint: its numbers, which nodes it counts, or whether it is hard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.overlay import SpecEdit
from planner.words import NAMED, conjoined
from planner_models.affinity import REQUIRED, Affinity
from planner_models.pod import PodSpec
from planner_models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

STEP = 2
"""What each step of maxSkew beyond the first costs."""
CONSTRAINTS = "topologySpreadConstraints"

Policy = Literal["node_taints_policy", "node_affinity_policy"]
_POLICIES: dict[Policy, Literal["nodeTaintsPolicy", "nodeAffinityPolicy"]] = {
    "node_taints_policy": "nodeTaintsPolicy",
    "node_affinity_policy": "nodeAffinityPolicy",
}
_NODE_AFFINITY = ("affinity", "nodeAffinity", REQUIRED)


def correct_spread_key(case: Case, rule: SpreadRule, nodes: BoolArray) -> Iterator[Proposal]:
    """A mistyped topologyKey becomes the one that nodes have: labelling them would hide the typo.

    Unless the API server would refuse a second constraint of the same key and kind.
    """
    wanted, have = rule.meant_key, rule.constraint
    taken = any(
        other.topology_key == wanted and other.when_unsatisfiable == have.when_unsatisfiable
        for other in case.subject.group.spec.topology_spread_constraints
    )
    if wanted is None or taken or not rule.in_spec:
        return
    path = (CONSTRAINTS, rule.index, "topologyKey")
    yield case.spec_change(
        "topologyKey",
        f"{rule.field}.topologyKey",
        f"topologyKey {have.topology_key} -> {wanted}",
        [_edited(rule.index, topology_key=wanted)],
        [Op("replace", path, wanted, have.topology_key)],
        before=have.topology_key,
        after=wanted,
    )


def raise_max_skew(case: Case, rule: SpreadRule, nodes: BoolArray) -> Iterator[Proposal]:
    """The exact value: one less refuses all of these nodes."""
    wanted = rule.smallest_skew(nodes)
    if wanted is not None and wanted > rule.constraint.max_skew and rule.in_spec:
        yield _max_skew(case, rule, wanted)


def _max_skew(case: Case, rule: SpreadRule, wanted: int) -> Proposal:
    have = rule.constraint.max_skew
    notes = [case.rollout]
    if wanted > have + 1:
        tried = [str(skew) for skew in range(have + 1, wanted)][:3]
        more = " and more" if wanted - have - 1 > 3 else ""
        verb = "is" if wanted == have + 2 else "are"
        notes.append(f"{', '.join(tried)}{more} {verb} not enough")
    return case.spec_change(
        "raiseMaxSkew",
        f"{rule.field}.maxSkew",
        f"{rule.key}: maxSkew {have} -> {wanted}",
        [_edited(rule.index, max_skew=wanted)],
        [Op("replace", (CONSTRAINTS, rule.index, "maxSkew"), wanted, have)],
        before=have,
        after=wanted,
        extra=STEP * (wanted - have - 1),
        notes=tuple(notes),
        grown=lambda steps: _max_skew(case, rule, wanted + steps),
    )


def lower_min_domains(case: Case, rule: SpreadRule, nodes: BoolArray) -> Iterator[Proposal]:
    """As many domains as there are, where too few of them make the minimum 0."""
    have, there = rule.constraint.min_domains, int(rule.eligible.sum())
    if rule.few_domains and have is not None and there and rule.in_spec:
        yield case.spec_change(
            "lowerMinDomains",
            f"{rule.field}.minDomains",
            f"{rule.key}: minDomains {have} -> {there}",
            [_edited(rule.index, min_domains=there)],
            [Op("replace", (CONSTRAINTS, rule.index, "minDomains"), there, have)],
            before=have,
            after=there,
        )


def schedule_anyway(case: Case, rule: SpreadRule) -> Iterator[Proposal]:
    """The constraint becomes a preference, and stops deciding which nodes the others count.

    minDomains goes with it, which the API allows with DoNotSchedule only.
    """
    others = case.subject.group.spec.topology_spread_constraints
    key, have = rule.constraint.topology_key, rule.constraint.min_domains
    if not rule.in_spec or any(c.topology_key == key and not c.hard for c in others):
        return
    base = (CONSTRAINTS, rule.index)
    ops = [Op("replace", (*base, "whenUnsatisfiable"), "ScheduleAnyway", "DoNotSchedule")]
    if have is not None:
        ops.append(Op("remove", (*base, "minDomains"), None, have))
    yield case.spec_change(
        "scheduleAnyway",
        f"{rule.field}.whenUnsatisfiable",
        f"{rule.key}: ScheduleAnyway{', and remove minDomains' if have is not None else ''}",
        [_edited(rule.index, when_unsatisfiable="ScheduleAnyway", min_domains=None)],
        ops,
        before="DoNotSchedule",
        after="ScheduleAnyway",
        extra=10 if have is not None else 0,
    )


def _edited(index: int, **changes: object) -> SpecEdit:
    """The spec with other values in one of its constraints."""

    def edit(spec: PodSpec) -> PodSpec:
        constraints = list(spec.topology_spread_constraints)
        constraints[index] = constraints[index].replace(**changes)
        return spec.replace(topology_spread_constraints=tuple(constraints))

    return edit


def inclusion_policies(case: Case) -> Iterator[Proposal]:
    """Each constraint alone, then all that have the same value of a policy together."""
    rules = [rule for rule in of_type(case.rules, SpreadRule) if rule.in_spec]
    for policy in _POLICIES:
        for have in ("Ignore", "Honor"):
            same = [rule for rule in rules if getattr(rule.constraint, policy) == have]
            for rule in same:
                yield _other_policy(case, [rule], policy, have)
            if len(same) > 1:
                yield _other_policy(case, same, policy, have)


def _other_policy(case: Case, rules: Sequence[SpreadRule], policy: Policy, have: str) -> Proposal:
    want = "Honor" if have == "Ignore" else "Ignore"
    name = _POLICIES[policy]
    return case.spec_change(
        name,
        ", ".join(f"{rule.field}.{name}" for rule in rules),
        f"{conjoined([rule.key for rule in rules])}: {name} {have} -> {want}",
        [_edited(rule.index, **{policy: want}) for rule in rules],
        [Op("add", (CONSTRAINTS, rule.index, name), want, have) for rule in rules],
        before=have,
        after=want,
        extra=3 * (len(rules) - 1),
    )


def add_node_affinity(case: Case) -> Iterator[Proposal]:
    """Empty domains that other rules close to the pod stop counting.

    A constraint counts the nodes that the pod's node affinity admits (nodeAffinityPolicy Honor, the
    default). Asking for the other domains takes an unreachable one out of the minimum.
    """
    required = case.subject.group.spec.affinity.node_affinity.required
    if required is not None and all(term.is_empty for term in required.node_selector_terms):
        return  # no node matches, whatever is added
    for rule in of_type(case.rules, SpreadRule):
        per_node = case.subject.nodes.per_node(rule.constraint.topology_key)
        if rule.constraint.node_affinity_policy != "Honor" or per_node or rule.few_domains:
            continue
        refused = np.logical_or.reduce(
            [other.blocked for other in case.rules if other is not rule]
            or [np.zeros_like(rule.blocked)]
        )
        shut = rule.eligible & (rule.counts == 0) & rule.open_domains & ~rule.domains_of(~refused)
        kept = rule.names_of(rule.eligible & ~shut)
        if shut.any() and 0 < len(kept) <= NAMED:
            yield _affinity_to(case, rule.constraint.topology_key, kept, rule.names_of(shut))


def _affinity_to(case: Case, key: str, kept: list[str], shut: list[str]) -> Proposal:
    asked = NodeSelectorRequirement(key=key, operator="In", values=tuple(kept))
    verb = "stops" if len(shut) == 1 else "stop"
    return case.spec_change(
        "addNodeAffinity",
        f"spec.{'.'.join(_NODE_AFFINITY)}",
        f"{case.subject.workload.name}: node affinity to {conjoined(kept)}",
        [_asking(asked)],
        [*_asking_ops(case.subject.group.spec, asked)],
        after={"key": key, "operator": "In", "values": list(kept)},
        notes=(f"{conjoined(shut[:NAMED])} {verb} counting", case.rollout),
    )


def _asking_ops(spec: PodSpec, asked: NodeSelectorRequirement) -> Iterator[Op]:
    """One more expression in every term, or the first term of all."""
    written: JsonValue = asked.model_dump(mode="json", by_alias=True)
    nodes = spec.affinity.node_affinity
    if nodes.required is not None:
        for index, term in enumerate(nodes.required.node_selector_terms):
            path = (*_NODE_AFFINITY, "nodeSelectorTerms", index, "matchExpressions")
            if term.match_expressions:
                yield Op("add", (*path, "-"), written)
            elif not term.is_empty:
                yield Op("add", path, [written])
        return
    required: JsonValue = {"nodeSelectorTerms": [{"matchExpressions": [written]}]}
    if nodes.preferred:
        yield Op("add", _NODE_AFFINITY, required)
    elif spec.affinity != Affinity():
        yield Op("add", _NODE_AFFINITY[:2], {REQUIRED: required})
    else:
        yield Op("add", _NODE_AFFINITY[:1], {"nodeAffinity": {REQUIRED: required}})


def _asking(asked: NodeSelectorRequirement) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        nodes = spec.affinity.node_affinity
        terms = nodes.required.node_selector_terms if nodes.required is not None else ()
        more = tuple(
            NodeSelectorTerm(
                match_expressions=(*term.match_expressions, asked), match_fields=term.match_fields
            )
            for term in terms
            if not term.is_empty
        )
        first = (NodeSelectorTerm(match_expressions=(asked,)),)
        required = NodeSelector(node_selector_terms=more if terms else first)
        changed = spec.affinity.replace(node_affinity=nodes.replace(required=required))
        return spec.replace(affinity=changed)

    return edit
