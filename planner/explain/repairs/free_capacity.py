"""freeCapacity: how much has to go from which node."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay
from planner.words import amount, conjoined, resource_word


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """The node that lacks least, by the share of what it offers, with the next best beside it."""
    if not isinstance(rule, CapacityRule):
        return
    usable = np.flatnonzero(nodes & ~rule.hopeless).tolist()
    if not usable:
        return
    ranked = sorted(usable, key=lambda node: (_share(rule, node), node))
    best = ranked[0]
    missing = _missing(rule, best)
    text = f"free {_text(missing)} on {case.subject.cluster.nodes[best].name}"
    if len(ranked) > 1:
        second = _missing(rule, ranked[1])
        if set(second) == set(missing) and len(missing) == 1:
            name, lacking = next(iter(second.items()))
            other = case.subject.cluster.nodes[ranked[1]].name
            text += f" (or {amount(name, lacking)} on {other})"
    yield Proposal(
        kind="freeCapacity",
        object=f"node/{case.subject.cluster.nodes[best].name}",
        field="requests",
        after=dict(missing),
        text=text,
        cost=case.costs["freeCapacity"],
        overlay=Overlay(freed={(best, name): lacking for name, lacking in missing.items()}),
        notes=_until(case, best),
    )


def _until(case: Case, node: int) -> tuple[str, ...]:
    """A controller brings a deleted pod back, and that one then waits in the place of this one."""
    cluster, state = case.subject.cluster, case.subject.state
    here = np.flatnonzero((state.node_of == node) & ~state.terminating)
    owned = any(cluster.groups[int(g)].owner is not None for g in set(cluster.group_of[here]))
    return ("not by deleting pods that come back",) if owned else ()


def _missing(rule: CapacityRule, node: int) -> dict[str, int]:
    lacking = np.flatnonzero(rule.short[node]).tolist()
    return {rule.names[i]: int(rule.request[i] - rule.free[node, i]) for i in lacking}


def _share(rule: CapacityRule, node: int) -> float:
    lacking = np.flatnonzero(rule.short[node])
    offered = np.maximum(rule.offered[node, lacking], 1)
    return float(((rule.request[lacking] - rule.free[node, lacking]) / offered).sum())


def _text(missing: dict[str, int]) -> str:
    return conjoined([f"{amount(name, n)} {resource_word(name)}" for name, n in missing.items()])
