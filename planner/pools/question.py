"""The question to the solver: a cluster with every node that could be added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from planner.cluster import Cluster
from planner.cluster.spread import hard_constraints
from planner.pools.fill import Counts, Filling
from planner.pools.room import depends_on_others
from planner.solver.problem.inter_pod_affinity import apart, mates
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.scale_up.question import NodeOffer, NodeQuestion

STAYING = SolveOptions(judged="moment")
"""Running pods stay where they are."""


def question_of(
    filling: Filling, most: Counts, options: SolveOptions = STAYING
) -> NodeQuestion | None:
    """The question with up to so many nodes of each offer; None where no model can hold it.

    Pods of DaemonSets come with a node. Where a rule of others counts them, a node that may or may
    not be there would change constants of the model.
    """
    added = filling.add(most)
    problem = build_problem(added.cluster, options)
    new = {node for nodes in added.nodes for node in nodes}
    if _counted(problem, {group for group, node in problem.fixed_all if node in new}):
        return None
    used = problem.fixed_used.copy()
    if depends_on_others(filling.cluster):
        used[sorted(new)] = 0
    goal = Counter(int(added.cluster.group_of[pod]) for pod in filling.goal)
    return NodeQuestion(
        replace(
            problem,
            fixed_used=used,
            fixed_counts={
                cell: n for cell, n in problem.fixed_counts.items() if cell[1] not in new
            },
            fixed_all={cell: n for cell, n in problem.fixed_all.items() if cell[1] not in new},
        ),
        tuple(
            NodeOffer(offer.cost, nodes, offer.pool.least, offer.pool.most)
            for offer, nodes in zip(filling.offers, added.nodes, strict=True)
        ),
        dict(sorted(goal.items())),
        filling.shared_limits,
    )


def _counted(problem: Problem, groups: Collection[int]) -> bool:
    """Whether a rule of somebody to decide about, or of these, is about pods of these groups."""
    if not groups:
        return False
    cluster, chosen = problem.cluster, np.array(sorted(groups))
    decided = problem.groups
    if any(np.isin(chosen, each.matching).any() for each in problem.spreads):
        return True
    terms = apart(cluster, [*decided, *chosen.tolist()])
    if any(term.group in groups or np.isin(chosen, term.about).any() for term in terms):
        return True
    return any(np.isin(chosen, mates(cluster, cluster.groups[g])).any() for g in decided)


def most_nodes(filling: Filling, cost: int | None, moves: int = 0) -> Counts:
    """How many nodes of each offer a set of at most this cost can have.

    Without a cost: how many can be of any use. A node without a pod is one more domain, no more;
    pods that move may be there as well.
    """
    offers = filling.offers
    given = sum(offer.pool.least * offer.cost for offer in offers)
    useful = len(filling.goal) + moves + 1 + _most_domains(filling.cluster)
    return tuple(
        min(
            1 << 40 if offer.pool.most is None else offer.pool.most,
            offer.pool.least + (useful if cost is None else (cost - given) // offer.cost),
        )
        for offer in offers
    )


def _most_domains(cluster: Cluster) -> int:
    return max((each.constraint.min_domains or 1 for each in hard_constraints(cluster)), default=1)
