"""addNodeAffinity: domains that the pod can't use stop counting for its spread.

A constraint counts the nodes that the pod's node affinity admits (nodeAffinityPolicy Honor, the
default). Asking for the other domains takes an unreachable one out of the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner.words import NAMED, conjoined
from planner_models.affinity import REQUIRED, Affinity
from planner_models.pod import PodSpec
from planner_models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

_PATH = ("affinity", "nodeAffinity", REQUIRED)


def propose(case: Case) -> Iterator[Proposal]:
    """For each constraint: without empty domains that other rules close to the pod."""
    for rule in case.rules:
        if not isinstance(rule, SpreadRule) or rule.constraint.node_affinity_policy != "Honor":
            continue
        if case.subject.places.per_node(rule.constraint.topology_key) or rule.few_domains:
            continue
        shut = rule.eligible & (rule.counts == 0) & rule.open_domains & ~_usable(case, rule)
        kept = rule.names_of(rule.eligible & ~shut)
        if shut.any() and 0 < len(kept) <= NAMED and not _closed(case.subject.group.spec):
            yield _proposal(case, rule, kept, rule.names_of(shut))


def _closed(spec: PodSpec) -> bool:
    """Whether every term is empty, so that no node matches whatever is added."""
    required = spec.affinity.node_affinity.required
    return required is not None and all(t.is_empty for t in required.node_selector_terms)


def _usable(case: Case, rule: SpreadRule) -> BoolArray:
    """Domains with a node that no rule refuses; there is none, but for nodes this rule refuses."""
    refused = np.zeros(case.subject.places.total, np.bool_)
    for other in case.rules:
        if other is not rule:
            refused |= other.blocked
    usable = np.zeros(len(rule.topology.domains), np.bool_)
    inside = rule.topology.domain_of[~refused]
    usable[inside[inside >= 0]] = True
    return usable


def _proposal(case: Case, rule: SpreadRule, kept: list[str], shut: list[str]) -> Proposal:
    key = rule.constraint.topology_key
    asked = NodeSelectorRequirement(key=key, operator="In", values=tuple(kept))
    verb = "stops" if len(shut) == 1 else "stop"
    return Proposal(
        kind="addNodeAffinity",
        object=case.owner,
        field=f"spec.{'.'.join(_PATH)}",
        after={"key": key, "operator": "In", "values": list(kept)},
        text=f"{case.subject.workload.name}: node affinity to {conjoined(kept)}",
        cost=case.costs["addNodeAffinity"],
        overlay=Overlay(edits=(_edit(asked),)),
        restarts=case.restarts,
        notes=(f"{conjoined(shut[:NAMED])} {verb} counting", case.rollout),
        ops=case.ops(*_ops(case.subject.group.spec, asked)),
    )


def _ops(spec: PodSpec, asked: NodeSelectorRequirement) -> Iterator[Op]:
    """One more expression in every term, or the first term of all."""
    written: JsonValue = asked.model_dump(mode="json", by_alias=True)
    nodes = spec.affinity.node_affinity
    if nodes.required is not None:
        for index, term in enumerate(nodes.required.node_selector_terms):
            path = (*_PATH, "nodeSelectorTerms", index, "matchExpressions")
            if term.match_expressions:
                yield Op("add", (*path, "-"), written)
            elif not term.is_empty:
                yield Op("add", path, [written])
        return
    required: JsonValue = {"nodeSelectorTerms": [{"matchExpressions": [written]}]}
    if nodes.preferred:
        yield Op("add", _PATH, required)
    elif spec.affinity != Affinity():
        yield Op("add", _PATH[:2], {REQUIRED: required})
    else:
        yield Op("add", _PATH[:1], {"nodeAffinity": {REQUIRED: required}})


def _edit(asked: NodeSelectorRequirement) -> SpecEdit:
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
