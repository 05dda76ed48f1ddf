"""labelNode: a node that lacks the label of a topology or of a selector gets it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.explain.repairs.commands import kubectl
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_affinity import NodeAffinityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.overlay import Overlay, feasible
from planner.words import conjoined
from planner_models.node import Node

MOST = 6
"""Nodes that are tried per key."""


def propose(case: Case) -> Iterator[Proposal]:
    """Nodes without a topology key, those with a lookalike first; then a selector nobody meets."""
    for spread in of_type(case.rules, SpreadRule):
        if spread.meant_key is not None:
            continue
        yield from _for_topology(case, spread)
    for asked in of_type(case.rules, NodeAffinityRule):
        if asked.equals and not asked.allowed.any():
            yield from _for_selector(case, asked)


def of_no_help(case: Case) -> Iterator[str]:
    """The only node without a label: which of the domains there are would not help it."""
    nodes = case.subject.cluster.nodes
    for rule in of_type(case.rules, SpreadRule):
        key, typos = rule.constraint.topology_key, rule.mislabelled
        plain = [i for i in np.flatnonzero(rule.missing).tolist() if i not in typos]
        few = len(plain) == 1 and len(rule.topology.domains) <= MOST
        if not few or case.subject.nodes.per_node(key):
            continue
        node = nodes[plain[0]]
        tried = {
            value: feasible(case.subject, Overlay(nodes={plain[0]: labelled(node, key, value)}))
            for value in rule.topology.domains
        }
        useless = [f"{key}={value}" for value, passing in tried.items() if not passing.any()]
        if useless:
            yield f"Labelling {node.name} {conjoined(useless, 'or')} does not help."


def _for_topology(case: Case, rule: SpreadRule) -> Iterator[Proposal]:
    key, nodes, typos = rule.constraint.topology_key, case.subject.cluster.nodes, rule.mislabelled
    others = [i for i in np.flatnonzero(rule.missing).tolist() if i not in typos]
    for index, typo in list(typos.items())[:MOST]:
        yield _proposal(case, index, key, nodes[index].labels[typo], 0)
    if case.subject.nodes.per_node(key):
        for index in others[:MOST]:
            yield _proposal(case, index, key, nodes[index].name, 2)
    elif len(others) <= MOST and len(rule.topology.domains) <= MOST:
        for index in others:
            for value in rule.topology.domains:
                yield _proposal(case, index, key, value, 20)


def _for_selector(case: Case, rule: NodeAffinityRule) -> Iterator[Proposal]:
    """Any node that nothing else refuses could be the one that was meant."""
    open_nodes = np.flatnonzero(case.refused_only_by(rule)).tolist()
    nodes = case.subject.cluster.nodes
    selector = case.subject.group.spec.node_selector
    for index in open_nodes[:1]:
        lacking = {k: v for k, v in sorted(selector.items()) if nodes[index].labels.get(k) != v}
        if len(lacking) == 1:
            key, value = next(iter(lacking.items()))
            yield _proposal(case, index, key, value, 20)


def _proposal(case: Case, index: int, key: str, value: str, extra: int) -> Proposal:
    node = case.subject.cluster.nodes[index]
    overwrite = ["--overwrite"] if key in node.labels else []
    command = kubectl("label", "node", node.name, f"{key}={value}", *overwrite)
    return Proposal(
        kind="labelNode",
        object=f"node/{node.name}",
        field=f"metadata.labels[{key}]",
        before=node.labels.get(key),
        after=value,
        text=command,
        cost=case.costs["labelNode"] + extra,
        overlay=Overlay(nodes={index: labelled(node, key, value)}),
        command=command,
        notes=("if it is there",) if extra >= 20 else (),
    )


def labelled(node: Node, key: str, value: str) -> Node:
    """The node with one more label."""
    labels = {**node.labels, key: value}
    return node.replace(metadata=node.metadata.replace(labels=labels))
