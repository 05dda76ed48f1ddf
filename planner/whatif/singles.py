"""Every failure alone: what each leaves without a place, by certificate or by simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.cluster.topology import IntArray
from planner.replay.trial_work import USUAL_SEEDS
from planner.scenario import Manner, Requested, Settled
from planner.scenario.lost_pods import OF_NODES
from planner.scenario.outcome import requested_cpu
from planner.whatif.certificate import Certificates, Certified
from planner.whatif.course import Loss, Options, fails
from planner.whatif.prepare import Prepared
from planner_models.resources import CPU

SIMULATED_PODS = 15_000_000
"""Pods of the cluster times simulations of single nodes that are made unless seeds are asked for:
about a minute."""
MOST_PAIRS = 200


@dataclass(frozen=True)
class Hit:
    """A workload, and how many of its pods go down."""

    workload: WorkloadRef
    down: int
    of: int


@dataclass(frozen=True)
class Single:
    """One failure; `seeds` 0: counted by a certificate.

    `missing` are pods that do not run then, by manner, under the worst seed; `agree` says whether
    all seeds leave as many.
    """

    loss: Loss
    down: int
    missing: Mapping[Manner, int]
    hardest: Hit | None
    cpu: Requested
    seeds: int = 0
    agree: bool = True

    @property
    def worst(self) -> int:
        """In the worse manner."""
        return max(self.missing.values())


@dataclass(frozen=True)
class Singles:
    """All that were tried, worst first, and those that were not."""

    found: tuple[Single, ...]
    not_tried: tuple[Loss, ...] = ()


def pairs_of(losses: Sequence[Loss], pods: IntArray) -> tuple[list[Loss], int]:
    """Two domains of the same key at once, those with the most pods first, and how many are left.

    `pods` counts the pods of each node.
    """
    found = []
    for one, other in combinations(losses, 2):
        if one.kind == other.kind:
            nodes = (*one.nodes, *other.nodes)
            found.append(Loss(f"{one.name} and {other.name}", one.kind, nodes))
    found.sort(key=lambda each: -int(pods[list(each.nodes)].sum()))
    return found[:MOST_PAIRS], max(0, len(found) - MOST_PAIRS)


def every_single(prepared: Prepared, losses: Sequence[Loss], options: Options) -> Singles:
    """Each failure by itself."""
    return _Trying(prepared, losses, options).run()


class _Trying:
    def __init__(self, prepared: Prepared, losses: Sequence[Loss], options: Options) -> None:
        self._prepared = prepared
        self._losses = losses
        self._options = options
        self._cluster = prepared.cluster()
        self._before = _Workloads(self._cluster)

    def run(self) -> Singles:
        counted = [loss for loss in self._losses if len(loss.nodes) == 1]
        certified = self._certified() if counted and not self._prepared.preempt else {}
        found, open_ = [], []
        for loss in self._losses:
            sure = len(loss.nodes) == 1 and all(
                certified[manner].known[loss.nodes[0]] if certified else False
                for manner in self._options.manners
            )
            if sure:
                found.append(self._counted(loss, certified))
            else:
                open_.append(loss)
        open_.sort(key=lambda loss: -int(self._before.down[list(loss.nodes)].sum()))
        tried, seeds = self._affordable(open_)
        found += [self._simulated(loss, seeds) for loss in tried]
        found.sort(key=lambda each: (-each.worst, -each.down))
        left = {id(loss) for loss in tried}
        return Singles(tuple(found), tuple(loss for loss in open_ if id(loss) not in left))

    def _certified(self) -> Mapping[Manner, Certified]:
        certificates = Certificates(self._cluster, self._prepared.profile)
        return {manner: certificates.of(manner) for manner in self._options.manners}

    def _affordable(self, losses: Sequence[Loss]) -> tuple[Sequence[Loss], int]:
        """Larger domains are always tried; of single nodes as many as there is time for."""
        if self._options.seeds is not None or not losses:
            return losses, self._options.seeds or 1
        budget = max(1, SIMULATED_PODS // max(1, len(self._cluster.pods)))
        each = len(self._options.manners)
        nodes = [loss for loss in losses if len(loss.nodes) == 1]
        kept = {id(loss) for loss in nodes[: max(1, budget // each)]}
        tried = [loss for loss in losses if len(loss.nodes) > 1 or id(loss) in kept]
        return tried, max(1, min(USUAL_SEEDS, budget // (each * len(tried))))

    def _counted(self, loss: Loss, certified: Mapping[Manner, Certified]) -> Single:
        """Without simulating anything."""
        (node,) = loss.nodes
        missing = {manner: int(found.missing[node]) for manner, found in certified.items()}
        hurt = {g for found in certified.values() for g in found.hurt.get(node, ())}
        last = certified[self._options.manners[-1]]
        cpu = self._before.cpu_without(node, last.hurt.get(node, ()))
        hardest = self._before.hardest(loss.nodes, hurt)
        return Single(loss, int(self._before.down[node]), missing, hardest, cpu)

    def _simulated(self, loss: Loss, seeds: int) -> Single:
        missing: dict[Manner, int] = {}
        agree, hurt, cpu = True, set(), Requested(0, 0)
        for manner in self._options.manners:
            numbers = []
            for seed in range(seeds):
                cluster = self._prepared.cluster(seed)
                settled = fails(self._prepared, cluster, loss, manner, seed)
                before = self._before if cluster is self._cluster else _Workloads(cluster)
                lacking = before.missing(settled)
                numbers.append(int(lacking.sum()))
                if seed == 0:
                    hurt |= set(np.flatnonzero(lacking[before.of_group]).tolist())
                    cpu = requested_cpu(settled.cluster, settled.changed.down)
            missing[manner] = max(numbers)
            agree = agree and len(set(numbers)) == 1
        down = int(self._before.down[list(loss.nodes)].sum())
        hardest = self._before.hardest(loss.nodes, hurt)
        return Single(loss, down, missing, hardest, cpu, seeds, agree)


class _Workloads:
    """Running pods by workload, and what a failure makes of them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        numbers: dict[WorkloadRef, int] = {}
        of = [numbers.setdefault(ref, len(numbers)) for ref in cluster.workloads]
        self._refs = list(numbers)
        self.of_group = np.array(of, np.int64)
        pinned = [ref.kind in OF_NODES for ref in self._refs]
        self._pinned = np.array(pinned, np.bool_)
        self._cpu = requested_cpu(cluster, frozenset())

    def _running(self, cluster: Cluster, down: frozenset[int]) -> IntArray:
        here = (cluster.node_of >= 0) & ~cluster.terminating
        here &= ~np.isin(cluster.node_of, list(down))
        return self._counted(cluster, here)

    def _counted(self, cluster: Cluster, chosen: BoolArray) -> IntArray:
        groups = cluster.group_of[chosen]
        found: IntArray = np.bincount(self.of_group[groups], minlength=len(self._refs))
        return np.where(self._pinned, 0, found)

    @cached_property
    def _now(self) -> tuple[IntArray, IntArray]:
        """Running, and waiting."""
        waits = (self._cluster.node_of == PENDING) & ~self._cluster.terminating
        return self._running(self._cluster, frozenset()), self._counted(self._cluster, waits)

    @cached_property
    def down(self) -> IntArray:
        """By node: pods that go down with it and do not belong to it."""
        return np.bincount(self._pods[0], minlength=len(self._cluster.nodes))

    @cached_property
    def _pods(self) -> tuple[IntArray, IntArray]:
        """The node and the workload of each pod that runs and belongs to no node, by node."""
        cluster = self._cluster
        number = self.of_group[cluster.group_of]
        here = (cluster.node_of >= 0) & ~cluster.terminating & ~self._pinned[number]
        order = np.argsort(cluster.node_of[here], kind="stable")
        return cluster.node_of[here][order], number[here][order]

    def missing(self, settled: Settled) -> IntArray:
        """By workload: pods that do not run; as `WorkloadOutcome.missing` counts them."""
        cluster = settled.cluster
        running, waited = self._now
        waits = (cluster.node_of == PENDING) & ~cluster.terminating
        unreplaced = np.zeros(len(self._refs), np.int64)
        lost = np.zeros(len(self._refs), np.bool_)
        for each in settled.changed.lost:
            if each.fate != "daemon":
                number = self.of_group[cluster.group_of[each.pod]]
                lost[number] = True
                unreplaced[number] += each.fate != "replaced"
        gone = np.where(lost, running - self._running(cluster, settled.changed.down), 0)
        waiting = unreplaced + self._counted(cluster, waits) - waited
        found: IntArray = np.maximum(0, np.maximum(gone, waiting))
        return found

    def hardest(self, nodes: Sequence[int], hurt: set[int]) -> Hit | None:
        """Of workloads with pods that do not run, if any, the one that loses the largest share."""
        where, whose = self._pods
        parts = [whose[np.searchsorted(where, n) : np.searchsorted(where, n + 1)] for n in nodes]
        lost = np.bincount(np.concatenate(parts), minlength=len(self._refs))
        affected = {int(self.of_group[group]) for group in hurt}
        running = self._now[0]
        candidates = sorted({*np.flatnonzero(lost).tolist(), *affected}, key=self._refs.__getitem__)

        def severity(number: int) -> tuple[bool, float, int]:
            down = int(lost[number])
            return number in affected, down / max(1, int(running[number])), down

        worst = max(candidates, key=severity, default=None)
        if worst is None:
            return None
        return Hit(self._refs[worst], int(lost[worst]), int(running[worst]))

    def cpu_without(self, node: int, groups: Sequence[int]) -> Requested:
        """CPU when the node is lost and all its pods run elsewhere but those of these groups."""
        cluster = self._cluster
        column = cluster.resources.column(CPU)
        pods = cluster.pods_on(node)
        pods = pods[~cluster.terminating[pods]]
        of = cluster.group_of[pods]
        gone = self._pinned[self.of_group[of]] | np.isin(of, list(groups))
        used = self._cpu.used - int(cluster.resources.requests[of[gone], column].sum())
        allocatable = int(cluster.resources.allocatable[node, column])
        return Requested(used, self._cpu.allocatable - allocatable)
