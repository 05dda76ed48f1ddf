"""`NodePlan`: the nodes to add, as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import numpy as np

from planner.cluster import Cluster
from planner.documents.left_alone import assumed_to_return
from planner.documents.node_moves import budgets_of, evicted_pods, evictions_of, waves_of
from planner.pools import Found, Objective
from planner.pools.fill import Counts, Fill
from planner.pools.kept_rollouts import Stuck
from planner.pools.moves import WithMoves
from planner.pools.on_paper import PaperSet
from planner.pools.peers import Baseline
from planner.pools.waiting import Waiting
from planner.scenario.single_failures import single_failures
from planner_models.node import ZONE, Node
from planner_models.node_plan import (
    AddedNodes,
    Fills,
    MovesInstead,
    NeverRunning,
    NewNode,
    NodeAlternative,
    NodeBaseline,
    NodeCount,
    NodeMoves,
    NodePlan,
    NodePlanStatus,
    NodeSideEffect,
    NodesOnPaper,
    NodesToAdd,
    StuckRollout,
    SurvivedFailures,
    TriedRollouts,
    UsedNode,
    WaitingPods,
)
from planner_models.notice import Notice
from planner_models.resources import CPU


def node_plan(
    found: Found,
    objective: Objective,
    unit: Decimal,
    notices: Sequence[Notice] = (),
    others: Sequence[Baseline] = (),
    moves: WithMoves | None = None,
    instead: WithMoves | None = None,
) -> NodePlan:
    """The document; a cost of 1 is one `unit` of the objective, `notices` are about the pools.

    `others` is what other autoscalers would add. `moves` says which pods are evicted for what was
    found, `instead` which could be.
    """
    best, start, options = found.best, found.start, found.options
    counts = (0,) * len(found.offers) if best is None else best.added.counts
    pods = start.pods
    return NodePlan(
        status=_status(found),
        objective=objective,
        pending=len(found.goal) + len(found.never),
        adds=() if best is None else tuple(_adds(found, best)),
        there=() if best is None else tuple(_there(found, best)),
        cost=_amount(found.cost(counts), unit),
        bound=None if found.bound is None else _amount(found.bound, unit),
        on_paper=_on_paper(found, unit) if moves is None else None,
        fills=Fills(seeds=options.seeds, agree=found.agree),
        waiting=_waiting(found.waiting),
        never=tuple(
            NeverRunning(
                pod=pods[each.pod].key,
                workload=start.workloads[int(start.group_of[each.pod])].short,
                reason=each.reason,
            )
            for each in found.never
        ),
        left_out=tuple(sorted(pods[pod].key for pod in found.left_out)),
        rollouts=TriedRollouts(workloads=len(found.rollouts), seeds=options.rollout_seeds)
        if found.rollouts
        else None,
        survives=_survives(found),
        batches=options.batches,
        zones=options.zones,
        side_effects=tuple(_side_effects(found)),
        moves=None if moves is None else _moves(moves, objective, unit),
        moves_instead=None if instead is None else _instead(instead, unit),
        alternatives=tuple(
            NodeAlternative(
                adds=_node_counts(found, each.counts),
                nodes=sum(each.counts),
                cost=_amount(found.cost(each.counts), unit),
                waiting=_waiting(each.waiting),
                stuck_rollouts=_stuck(each.stuck),
                lost=each.lost,
                waiting_then=each.waiting_then,
            )
            for each in found.alternatives
        ),
        baselines=tuple(
            NodeBaseline(
                tool=each.tool,
                adds=_node_counts(found, each.found.counts),
                nodes=sum(each.found.counts),
                cost=_amount(found.cost(each.found.counts), unit),
                rounds=each.found.rounds,
                waiting=each.found.waiting,
                stuck_rollouts=_stuck(each.stuck),
            )
            for each in others
        ),
        tried_sets=len(found.tried),
        time_limit=options.time_limit,
        notices=(*start.notices, *notices, *_assumed(found, moves)),
    )


def _on_paper(found: Found, unit: Decimal) -> NodesOnPaper | None:
    paper: PaperSet | None = found.on_paper
    if paper is None or found.proven or not found.accepted:
        return None
    return NodesOnPaper(
        adds=_node_counts(found, paper.counts),
        nodes=sum(paper.counts),
        cost=_amount(paper.cost, unit),
        bound=_amount(paper.bound, unit),
        gap=round(1 - paper.bound / paper.cost, 4) if paper.cost else 0.0,
        checked_pods=paper.pods,
        waiting=_waiting(paper.waiting),
        seeds=paper.seeds,
    )


def _assumed(found: Found, moves: WithMoves | None) -> Iterator[Notice]:
    if moves is not None and moves.rearranged is not None:
        yield from assumed_to_return(found.start, evicted_pods(moves.rearranged))


def _moves(moves: WithMoves, objective: Objective, unit: Decimal) -> NodeMoves:
    done = moves.rearranged
    return NodeMoves(
        limit=moves.most,
        evictions=() if done is None else evictions_of(done),
        waves=() if done is None else waves_of(done),
        fewest=moves.fewest,
        checked_seeds=0 if done is None else done.seeds,
        budgets=() if done is None else budgets_of(done),
        without=nodes_to_add(moves.without, objective, unit),
        saved=_amount(moves.saved, unit),
    )


def _instead(moves: WithMoves, unit: Decimal) -> MovesInstead | None:
    found = moves.found
    if found.best is None:
        return None
    counts = found.best.added.counts
    return MovesInstead(
        moves=moves.evictions,
        adds=_node_counts(found, counts),
        nodes=sum(counts),
        cost=_amount(found.cost(counts), unit),
        saved=_amount(moves.saved, unit),
    )


def nodes_to_add(found: Found, objective: Objective, unit: Decimal) -> NodesToAdd:
    """The answer in short, for other questions."""
    best = found.best
    counts = (0,) * len(found.offers) if best is None else best.added.counts
    return NodesToAdd(
        status=_status(found),
        objective=objective,
        pods=len(found.goal) + len(found.never),
        waiting=len(found.never) + sum(each.pods for each in found.waiting),
        adds=_node_counts(found, counts),
        cost=_amount(found.cost(counts), unit),
    )


def _survives(found: Found) -> SurvivedFailures | None:
    kind = found.options.survive
    if kind == "none" or found.best is None or not found.accepted:
        return None
    tried = sum(1 for _ in single_failures(found.best.cluster, kind))
    return SurvivedFailures(kind=kind, tried=tried)


def _status(found: Found) -> NodePlanStatus:
    if found.accepted:
        return "optimal" if found.proven else "feasible"
    return "impossible" if found.proven else "undecided"


def _amount(cost: int, unit: Decimal) -> float:
    return float(cost * unit)


def _adds(found: Found, best: Fill) -> Iterator[AddedNodes]:
    cluster = best.cluster
    batches = found.batches or (0,) * len(found.offers)
    used = sorted({batch for batch, n in zip(batches, best.added.counts, strict=True) if n})
    for offer, batch, nodes in zip(found.offers, batches, best.added.nodes, strict=True):
        if nodes:
            requested, cpu = _cpu(cluster, nodes)
            price = offer.pool.price
            yield AddedNodes(
                pool=offer.pool.name,
                zone=offer.zone,
                nodes=len(nodes),
                batch=used.index(batch) + 1,
                price=None if price is None else float(price),
                pods=_pods(found, best, nodes),
                cpu_requested=requested,
                cpu=cpu,
                template=_new_node(offer.template, [cluster.nodes[node].name for node in nodes]),
            )


def _there(found: Found, best: Fill) -> Iterator[UsedNode]:
    """Nodes of before that get some of the pods."""
    new = {node for nodes in best.added.nodes for node in nodes}
    homes = best.cluster.node_of[list(found.goal)]
    for node in np.unique(homes[homes >= 0]).tolist():
        if node not in new:
            record = best.cluster.nodes[node]
            requested, cpu = _cpu(best.cluster, [node])
            yield UsedNode(
                node=record.name,
                zone=record.labels.get(ZONE, ""),
                pods=_pods(found, best, [node]),
                cpu_requested=requested,
                cpu=cpu,
            )


def _pods(found: Found, best: Fill, nodes: Sequence[int]) -> dict[str, int]:
    """Pods of the goal on these nodes, by workload."""
    cluster = best.cluster
    there = [pod for pod in found.goal if cluster.node_of[pod] in nodes]
    counted = Counter(cluster.workloads[int(cluster.group_of[pod])].short for pod in there)
    return dict(sorted(counted.items()))


def _cpu(cluster: Cluster, nodes: Sequence[int]) -> tuple[str, str]:
    column, chosen = cluster.resources.column(CPU), list(nodes)
    used = int(cluster.used[chosen, column].sum())
    return _cores(used), _cores(int(cluster.resources.allocatable[chosen, column].sum()))


def _cores(milli: int) -> str:
    return f"{milli / 1000:.10g}"


def _new_node(template: Node, names: Sequence[str]) -> NewNode:
    return NewNode(
        names=tuple(names),
        labels=dict(sorted(template.labels.items())),
        annotations=dict(sorted(template.metadata.annotations.items())),
        taints=tuple(
            {"key": taint.key, "value": taint.value, "effect": taint.effect}
            for taint in template.spec.taints
        ),
        allocatable={
            name: f"{n}m" if name == CPU else str(n)
            for name, n in sorted(template.allocatable.items())
        },
    )


def _node_counts(found: Found, counts: Counts) -> tuple[NodeCount, ...]:
    """Nodes by pool and zone, of all batches together."""
    total: Counter[tuple[str, str]] = Counter()
    for offer, n in zip(found.offers, counts, strict=False):
        total[offer.pool.name, offer.zone] += n
    return tuple(NodeCount(pool=pool, zone=zone, nodes=n) for (pool, zone), n in total.items() if n)


def _waiting(waiting: Iterable[Waiting]) -> tuple[WaitingPods, ...]:
    return tuple(
        WaitingPods(workload=each.workload.short, pods=each.pods, rules=each.rules)
        for each in waiting
    )


def _stuck(stuck: Iterable[Stuck]) -> tuple[StuckRollout, ...]:
    return tuple(
        StuckRollout(
            workload=each.workload.short, waiting=each.waiting, of=each.of, message=each.message
        )
        for each in stuck
    )


def _side_effects(found: Found) -> Iterator[NodeSideEffect]:
    effects = found.effects
    if effects.new_zones:
        yield NodeSideEffect(kind="newDomain", domains=effects.new_zones)
    if effects.uneven:
        names = tuple(ref.short for ref in effects.uneven)
        yield NodeSideEffect(kind="uneven", workloads=names, excess=effects.excess)
