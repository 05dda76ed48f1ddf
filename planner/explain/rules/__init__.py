"""The rules that can refuse a node, one module each, named like the scheduler's plugin."""

from __future__ import annotations

from collections.abc import Callable

from planner.explain.rules import (
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    pod_topology_spread,
    taint_toleration,
    volumes,
)
from planner.explain.rules.node_ports import taken_on_node
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject

__all__ = ["FINDERS", "rules_of", "taken_on_node"]

FINDERS: tuple[Callable[[Subject], list[Rule]], ...] = (
    volumes.find,
    pod_topology_spread.find,
    node_name.find,
    node_affinity.find,
    taint_toleration.find,
    node_unschedulable.find,
    node_declared_features.find,
    node_ports.find,
    inter_pod_affinity.find,
    node_resources_fit.find,
)
"""In the order in which a derivation tells them."""


def rules_of(subject: Subject) -> tuple[Rule, ...]:
    """Every rule that refuses at least one node now."""
    found = (rule for find in FINDERS for rule in find(subject))
    return tuple(rule for rule in found if rule.blocked.any())
