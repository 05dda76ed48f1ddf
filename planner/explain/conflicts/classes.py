"""Nodes united into classes: equal rules against them, equal numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.conflict import blocked_by
from planner.explain.conflicts.derive import Derivation
from planner.explain.rules.rule import FILLS, FILTERS, NARROWS, Rule
from planner.explain.situation.subject import Subject
from planner_models.diagnosis import NodeClass

FEW_NODES = 30
"""From here on classes of nodes are shown in the place of nodes."""
NAMES = 100
"""So many node names a class lists in the document."""
_TOLD = {FILTERS: 0, NARROWS: 1, FILLS: 2}
"""Static rules first: a node that lacks a label needs no count."""


def node_classes(rules: Sequence[Rule], derivation: Derivation) -> tuple[NodeClass, ...]:
    """Nodes by the rule of the conflict that removes them, then by all rules against them."""
    masks = blocked_by(rules, derivation.subject.nodes.total)
    found: list[NodeClass] = []
    for rule, here in _removed(derivation):
        for mask in np.unique(masks[here]).tolist():
            nodes = here & (masks == mask)
            blocking = [each for bit, each in enumerate(rules) if mask >> bit & 1]
            found.append(_class(derivation.subject, nodes, rule, blocking))
    return tuple(found)


def united(derivation: Derivation) -> tuple[NodeClass, ...]:
    """Only by the rule that removes them: one row per rule."""
    return tuple(
        _class(derivation.subject, here, rule, (rule,))
        for rule, here in _removed(derivation)
        if here.any()
    )


def _removed(derivation: Derivation) -> Iterator[tuple[Rule, BoolArray]]:
    """The rules of the conflict, each with the nodes that those before it left."""
    left = np.ones(derivation.subject.nodes.total, np.bool_)
    for rule in sorted(derivation.rules, key=lambda rule: _TOLD[rule.phase]):
        yield rule, left & rule.blocked
        left = left & ~rule.blocked


def _class(subject: Subject, nodes: BoolArray, first: Rule, rules: Sequence[Rule]) -> NodeClass:
    return NodeClass(
        nodes=int(nodes.sum()),
        which=subject.nodes.which(nodes),
        names=tuple(subject.nodes.names(nodes)[:NAMES]),
        first=first.reason(nodes),
        blocked_by=tuple(rule.reason(nodes) for rule in rules),
    )


def nodes_table(subject: Subject, rules: Sequence[Rule]) -> tuple[tuple[str, ...], ...]:
    """Every node with every rule, header first; empty if there are many nodes."""
    nodes = subject.cluster.nodes
    if len(nodes) >= FEW_NODES:
        return ()
    columns = [column for rule in rules for column in rule.columns().items()]
    header = ("NODE", *(name for name, _ in columns), *(rule.name for rule in rules))
    rows = (
        (node.name, *(cells[i] for _, cells in columns), *(rule.verdict(i) for rule in rules))
        for i, node in enumerate(nodes)
    )
    return (header, *rows)
