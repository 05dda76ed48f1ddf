"""`planner scale-up` beside autoscalers: which nodes for the same pods, and at what cost.

The autoscalers are emulated by their published rules (`planner.pools.peers`). Every method's nodes
are filled by kube-scheduler; who then still waits is counted. The bound is planner's: no set of
nodes that runs all pods costs less. Growth in steps is bounded by what sums and counts say of all
steps together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from benchmarks import autoscaler_demand as demand
from benchmarks.case import Case, Measured, Scalar, Stopwatch
from planner.cluster import Cluster
from planner.evictions.suggest import settled
from planner.pools import Found, Offer, Pool, ScaleUpOptions, offers_of, scale_up, unit_of
from planner.pools.fill import Counts, Filling
from planner.pools.least_cost import LeastCost
from planner.pools.peers.compare import KARPENTER, LEAST_WASTE, PRICE, TOOLS, Emulated, emulate
from planner.pools.peers.consolidation import consolidated
from planner.pools.room import FreshNodes
from planner.scenario import Scale, apply_changes
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner_models.workload import Deployment

PROFILE = default_profile()
PEERS = {
    "Karpenter": KARPENTER,
    "Karpenter, consolidated": KARPENTER,
    "cluster-autoscaler, least-waste": LEAST_WASTE,
    "cluster-autoscaler, price": PRICE,
}
BATCHES = {"planner": 1, "planner, in two batches": 2}
SEEDS = 3
OUTAGE_ZONES = ("eu-1a", "eu-1b", "eu-1c")
STEPS = 3


@dataclass(frozen=True, eq=False)
class Answer:
    """Nodes that a method adds, what they cost, and who waits when kube-scheduler filled them."""

    nodes: int
    cost: int
    rounds: int
    waiting: int
    at_once: int | None = None
    """Who waits when all nodes come at once, and not in rounds; None if that was not tried."""
    evicted: int = 0
    bound: int | None = None
    proven: bool = False
    paper: float | None = None
    """Cost of the cheapest nodes on paper by the bound of arrangements; None if not told."""
    claimed: bool = False
    """Whether the method says that all pods run."""


def measure(case: Case, cache: Path) -> Measured:
    """One method on one demand."""
    if case.text("class") == "growth":
        return _growth(case)
    cluster, pools = _demand(case)
    offers = offers_of(pools, "price")
    start = settled(cluster, PROFILE)
    filling = _helped(Filling(start, tuple(start.pending.tolist()), offers, PROFILE))
    with Stopwatch() as watch:
        answer = _answer(case, filling)
    wrong = list(_wrong(case, answer))
    known = answer.bound if case.method in BATCHES else None
    if known is None or case.method == "planner":
        known = _known_bound(case, filling, cache, answer)
    values = _values(answer, known, len(filling.goal), unit_of(pools, "price"))
    return Measured(watch.seconds, watch.cpu, values, tuple(wrong))


def _helped(filling: Filling) -> Filling:
    """Without the pods that no node of any offer takes: nobody can help them."""
    never = {each.pod for each in FreshNodes(filling).never(filling.goal)}
    return replace(filling, goal=tuple(pod for pod in filling.goal if pod not in never))


def _demand(case: Case) -> tuple[Cluster, tuple[Pool, ...]]:
    match case.text("class"):
        case "diverse":
            return demand.diverse(case.integer("pods"), case.seed), demand.generic_pools()
        case "pools":
            cluster = demand.diverse(case.integer("pods"), case.seed, demand.SMALLER)
            return cluster, demand.many_pools()
        case "outage":
            zone = OUTAGE_ZONES[case.seed % len(OUTAGE_ZONES)]
            return demand.outage(zone, case.seed), demand.sample_pools(OUTAGE_ZONES)
        case "openb":
            return demand.openb(case.text("part"))
        case unknown:
            raise ValueError(f"no class {unknown}")


def _answer(case: Case, filling: Filling) -> Answer:
    if case.method in BATCHES:
        return _planned(filling, case.number("limit"), BATCHES[case.method])
    return _emulated(filling, *_by_peer(case, filling))


def _by_peer(case: Case, filling: Filling) -> tuple[Emulated, int]:
    """What the peer adds, and how many running pods it evicts for it."""
    found = emulate(filling, TOOLS[PEERS[case.method]])
    return consolidated(filling, found) if case.method.endswith("consolidated") else (found, 0)


def _emulated(filling: Filling, found: Emulated, evicted: int) -> Answer:
    return Answer(
        sum(found.counts),
        _cost(filling.offers, found.counts),
        found.rounds,
        found.waiting,
        _at_once(filling, found.counts),
        evicted,
    )


def _planned(filling: Filling, limit: float, batches: int = 1) -> Answer:
    options = ScaleUpOptions(seeds=SEEDS, keep_rollouts=False, time_limit=limit, batches=batches)
    found = scale_up(filling.cluster, filling.goal, filling.offers, PROFILE, options)
    if found.best is None:
        return Answer(0, 0, 0, len(filling.goal))
    counts, cost = found.best.added.counts, found.cost(found.best.added.counts)
    return Answer(
        sum(counts),
        cost,
        _batches(found),
        _in_turn(filling, found, counts),
        _at_once(filling, _together(found, counts)),
        0,
        found.bound,
        found.proven,
        _on_paper(found),
        found.accepted,
    )


def _on_paper(found: Found) -> float | None:
    """Nothing is told on paper beside an answer that is proven."""
    paper = found.on_paper
    return None if paper is None or not paper.bound else paper.cost / paper.bound


def _batches(found: Found) -> int:
    """In how many batches the nodes come."""
    counts = () if found.best is None else found.best.added.counts
    return len({batch for batch, n in zip(found.batches, counts, strict=False) if n}) or 1


def _together(found: Found, counts: Counts) -> Counts:
    """The nodes of all batches, by offer."""
    size = len(found.offers_at_once)
    return tuple(sum(counts[i::size]) for i in range(size))


def _in_turn(filling: Filling, found: Found, counts: Counts) -> int:
    """Pods of the goal that wait when batches have come one after the other, as simulated."""
    if not found.batches:
        return _at_once(filling, counts)
    staged = replace(filling, offers=found.offers, batches=found.batches)
    added = staged.add(counts)
    return max(len(staged.fill(added, seed).waiting) for seed in range(SEEDS))


def _at_once(filling: Filling, counts: Counts) -> int:
    """Pods of the goal that wait when all nodes come at once, under the worst seed."""
    cluster, goal = filling.add(counts).cluster, set(filling.goal)
    return max(
        sum(each.pod in goal for each in simulate(cluster, [PROFILE], seed=seed).unschedulable)
        for seed in range(SEEDS)
    )


def _cost(offers: Sequence[Offer], counts: Counts) -> int:
    return sum(n * offer.cost for n, offer in zip(counts, offers, strict=True))


def _wrong(case: Case, answer: Answer) -> Iterator[str]:
    if case.method not in BATCHES:
        return
    if answer.waiting and answer.claimed:
        yield f"{answer.waiting} pods wait on planner's nodes"
    if answer.claimed and answer.bound is not None and answer.cost < answer.bound:
        yield "planner's nodes cost less than its bound"


def _known_bound(case: Case, filling: Filling, cache: Path, answer: Answer) -> int:
    """Planner's bound for this demand, kept for the methods that come after it."""
    name = "-".join(str(value) for value in (*case.point.values(), case.seed))
    file = cache / f"scale-up-{name}.json"
    if case.method == "planner" and answer.bound is not None:
        file.write_text(json.dumps(answer.bound), encoding="utf-8")
    if not file.exists():
        bound = _planned(filling, case.number("limit")).bound
        file.write_text(json.dumps(bound or 0), encoding="utf-8")
    return int(json.loads(file.read_text(encoding="utf-8")))


def _values(answer: Answer, bound: int, pending: int, unit: Decimal) -> dict[str, Scalar]:
    values: dict[str, Scalar] = {
        "pending": pending,
        "nodes": answer.nodes,
        "cost": float(answer.cost * unit),
        "waiting": answer.waiting,
        "evicted": answer.evicted,
        "rounds": answer.rounds,
    }
    if not answer.waiting and bound:
        values["ratio"] = round(answer.cost / bound, 4)
    if answer.paper is not None:
        values["paper"] = round(answer.paper, 4)
    if answer.at_once is not None:
        values["at_once"] = answer.at_once
    if answer.bound is not None:
        values["proven"] = answer.proven
    return values


def _growth(case: Case) -> Measured:
    """Step after step, each on the nodes that the method has added before."""
    pools = demand.generic_pools()
    offers = offers_of(pools, "price")
    first, full = demand.running(case.integer("pods"), case.seed)
    cluster, added = first, [Answer(0, 0, 0, 0)]
    with Stopwatch() as watch:
        for step in range(1, STEPS + 1):
            filling = _scaled(cluster, offers, full, step)
            if filling.goal:
                cluster, answer = _step(case, filling)
                added.append(answer)
            else:
                cluster = filling.cluster
    whole = _scaled(first, offers, full, STEPS, settle=False)
    sums = LeastCost(FreshNodes(whole), whole.goal, offers).at_least((0,) * len(offers), 0)
    answer = Answer(
        sum(each.nodes for each in added),
        sum(each.cost for each in added),
        sum(each.rounds for each in added),
        len(cluster.pending),
        evicted=sum(each.evicted for each in added),
    )
    bound = 0 if sums is None else sums[0]
    values = _values(answer, bound, len(whole.goal), unit_of(pools, "price"))
    return Measured(watch.seconds, watch.cpu, values, tuple(_wrong(case, answer)))


def _scaled(
    cluster: Cluster,
    offers: tuple[Offer, ...],
    full: dict[str, int],
    step: int,
    *,
    settle: bool = True,
) -> Filling:
    """The workloads at the size of a step, after kube-scheduler has placed what it can.

    Before that, sums hold for whatever it does.
    """
    changes = [
        Scale(ref, n - n // 2 * (STEPS - step) // STEPS)
        for ref, controller in sorted(cluster.owners.controllers.items())
        if isinstance(controller, Deployment)
        for n in (full[ref.name],)
    ]
    start = apply_changes(cluster, changes).cluster
    if settle:
        start = settled(start, PROFILE)
    return Filling(start, tuple(start.pending.tolist()), offers, PROFILE)


def _step(case: Case, filling: Filling) -> tuple[Cluster, Answer]:
    if case.method in BATCHES:
        options = ScaleUpOptions(
            seeds=SEEDS,
            keep_rollouts=False,
            time_limit=case.number("limit") / STEPS,
            batches=BATCHES[case.method],
        )
        found = scale_up(filling.cluster, filling.goal, filling.offers, PROFILE, options)
        assert found.best is not None
        counts = found.best.added.counts
        cost, rounds = found.cost(counts), _batches(found)
        return found.best.cluster, Answer(sum(counts), cost, rounds, len(found.best.waiting))
    peer, evicted = _by_peer(case, filling)
    return peer.cluster, _emulated(filling, peer, evicted)
