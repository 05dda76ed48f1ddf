"""Nodes united into classes: equal rules against them, equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.conflicts.conflict import blocked_by
from planner.explain.conflicts.derive import Derivation
from planner.explain.rules.node_affinity import NodeAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import FILLS, FILTERS, NARROWS, Rule
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.situation.subject import Subject
from planner.words import amount, conjoined, resource_word
from planner_models.diagnosis import NodeClass
from planner_models.resources import CPU, MEMORY

FEW_NODES = 30
"""From here on classes of nodes are shown in the place of nodes."""
NAMES = 100
"""So many node names a class lists in the document."""
_TOLD = {FILTERS: 0, NARROWS: 1, FILLS: 2}
"""Static rules first: a node that lacks a label needs no count."""


def node_classes(
    subject: Subject, rules: Sequence[Rule], derivation: Derivation
) -> tuple[NodeClass, ...]:
    """Nodes by the rule of the conflict that removes them, then by all rules against them."""
    conflict = sorted((s.rule for s in derivation.steps), key=lambda rule: _TOLD[rule.stage])
    left = np.ones(subject.places.total, np.bool_)
    masks = blocked_by(rules, subject.places.total)
    found: list[NodeClass] = []
    for rule in conflict:
        here = left & rule.blocked
        left &= ~rule.blocked
        found += _split(subject, rules, rule, here, masks)
    return tuple(found)


def _split(
    subject: Subject, rules: Sequence[Rule], rule: Rule, here: BoolArray, masks: IntArray
) -> list[NodeClass]:
    found = []
    for mask in np.unique(masks[here]).tolist():
        nodes = here & (masks == mask)
        blocking = [each for bit, each in enumerate(rules) if mask >> bit & 1]
        found.append(
            NodeClass(
                nodes=int(nodes.sum()),
                which=subject.places.which(nodes),
                names=tuple(subject.places.names(nodes)[:NAMES]),
                first=reason(rule, nodes),
                blocked_by=tuple(reason(each, nodes) for each in blocking),
            )
        )
    return found


def united(subject: Subject, derivation: Derivation) -> tuple[NodeClass, ...]:
    """Only by the rule that removes them: one row per rule."""
    conflict = sorted((s.rule for s in derivation.steps), key=lambda rule: _TOLD[rule.stage])
    left = np.ones(subject.places.total, np.bool_)
    rows = []
    for rule in conflict:
        here = left & rule.blocked
        left &= ~rule.blocked
        if here.any():
            text = reason(rule, here)
            names = tuple(subject.places.names(here)[:NAMES])
            which = subject.places.which(here)
            rows.append(
                NodeClass(
                    nodes=int(here.sum()), which=which, names=names, first=text, blocked_by=(text,)
                )
            )
    return tuple(rows)


def reason(rule: Rule, nodes: BoolArray) -> str:
    """`zone spread, 41 - 39 > 1`: the rule with the numbers that these nodes share."""
    if isinstance(rule, SpreadRule):
        cells = {rule.cell(i) for i in np.flatnonzero(nodes).tolist()[:1000]}
        return f"{rule.name}, {next(iter(cells))}" if len(cells) == 1 else rule.name
    if isinstance(rule, CapacityRule):
        return _room(rule, nodes)
    if isinstance(rule, TaintRule):
        taints = rule.taints_at(nodes)
        return f"taint {conjoined([str(t) for t in taints[:2]], 'or')}"
    if isinstance(rule, NodeAffinityRule):
        return f"{rule.name} {rule.asked}"
    return rule.name


def _room(rule: CapacityRule, nodes: BoolArray) -> str:
    parts = []
    for column in rule.lacking(nodes):
        name = rule.names[column]
        free = np.maximum(rule.free[nodes, column], 0)
        low, high = amount(name, int(free.min())), amount(name, int(free.max()))
        span = low if low == high else f"{low} to {high}"
        parts.append(f"{name}, {span} free, {amount(name, int(rule.request[column]))} needed")
    return "; ".join(parts)


def nodes_table(subject: Subject, rules: Sequence[Rule]) -> tuple[tuple[str, ...], ...]:
    """Every node with every rule, header first; empty if there are many nodes."""
    cluster = subject.cluster
    if len(cluster.nodes) >= FEW_NODES:
        return ()
    spreads = [rule for rule in rules if isinstance(rule, SpreadRule)]
    keys = [rule for rule in spreads if not subject.places.per_node(rule.constraint.topology_key)]
    room = next((rule for rule in rules if isinstance(rule, CapacityRule)), None)
    wanted = [name for name in (CPU, MEMORY) if room is not None and name in room.names]
    header = [
        "NODE",
        *(rule.key.upper() for rule in keys),
        *(f"FREE {resource_word(name)[:3].upper()}" for name in wanted),
        *(rule.name for rule in rules),
    ]
    rows = [tuple(header)]
    for index, node in enumerate(cluster.nodes):
        domains = [node.labels.get(rule.constraint.topology_key, "-") for rule in keys]
        free = [
            amount(name, max(0, int(room.free[index, room.names.index(name)])))
            for name in wanted
            if room is not None
        ]
        verdicts = [_cell(rule, index) for rule in rules]
        rows.append((node.name, *domains, *free, *verdicts))
    return tuple(rows)


def _cell(rule: Rule, index: int) -> str:
    if rule.blocked[index]:
        return f"no   {rule.cell(index)}"
    return f"ok   {rule.cell(index)}" if isinstance(rule, SpreadRule) else "ok"
