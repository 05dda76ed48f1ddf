"""The groups that a plan is likely to be about: pending, in excess, or on the wrong node.

Giving variables to these alone makes a large model small. What it can't reach is then looked for
with all groups, so nothing is lost but time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from planner.cluster.spread import counted_pods, domain_counts, excess
from planner.cluster.topology import NO_DOMAIN
from planner.solver.constraints import node_affinity, taint_toleration
from planner.solver.constraints.inter_pod_affinity_terms import apart
from planner.solver.problem import Cell, Problem


def active_groups(problem: Problem) -> frozenset[int]:
    """Groups that wait, count for a constraint with excess, or break another rule."""
    found = {*problem.waiting, *_in_excess(problem), *_crowded(problem)}
    return frozenset(found | misplaced(problem, problem.movable))


def _in_excess(problem: Problem) -> set[int]:
    pods = counted_pods(problem.cluster)
    found: set[int] = set()
    for spread in problem.spreads:
        if excess(domain_counts(pods, spread), spread).any():
            found.update(spread.matching.tolist())
    return found


def misplaced(problem: Problem, cells: Iterable[Cell]) -> set[int]:
    """Groups of the cells whose nodes their node affinity or taints refuse."""
    rules, groups = problem.static.nodes, problem.cluster.groups
    return {
        g
        for g, node in cells
        if not node_affinity.admitted(rules, groups[g].spec)[node]
        or not taint_toleration.tolerated(rules, groups[g].spec)[node]
    }


def _crowded(problem: Problem) -> set[int]:
    """Groups in a domain that required anti-affinity would keep apart."""
    cluster = problem.cluster
    pods = counted_pods(cluster)
    present = np.flatnonzero(np.diff(pods.first) > 0)
    found: set[int] = set()
    for term in apart(cluster, present.tolist()):
        topology = cluster.topology(term.key)
        own, rivals = (
            np.bincount(domains[domains != NO_DOMAIN], minlength=len(topology.domains))
            for domains in (
                topology.domain_of[pods.of(np.array([term.group]))],
                topology.domain_of[pods.of(term.about)],
            )
        )
        enough = 2 if term.group in term.about else 1
        if ((own > 0) & (rivals >= enough)).any():
            found.update((term.group, *term.about.tolist()))
    return found
