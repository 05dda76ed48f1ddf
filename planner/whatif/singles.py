"""Every failure alone: what each leaves without a place, by certificate or by simulation."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from planner.cluster.topology import IntArray
from planner.interrupts import interruptible
from planner.replay.trial_work import USUAL_SEEDS
from planner.scenario import Manner, Requested
from planner.scenario.outcome import requested_cpu
from planner.solver.progress import Progress
from planner.whatif.certificate import Certificates, Certified
from planner.whatif.course import Loss, Options, fails
from planner.whatif.prepare import Prepared
from planner.whatif.workloads import Hit, Workloads
from planner.workers import WorkerDiedError

SIMULATED_PODS = 15_000_000
"""Pods of the cluster times simulations of single nodes that are made unless seeds are asked for:
about a minute."""
MOST_PAIRS = 200


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
    interrupted: bool = False


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
        self._before = Workloads(self._cluster)

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
        simulated = list(self._simulated(tried, seeds))
        found += simulated
        if tried and not found:
            raise KeyboardInterrupt
        found.sort(key=lambda each: (-each.worst, -each.down))
        done = {id(each.loss) for each in simulated}
        not_tried = tuple(loss for loss in open_ if id(loss) not in done)
        return Singles(tuple(found), not_tried, interrupted=len(simulated) < len(tried))

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

    def _simulated(self, losses: Sequence[Loss], seeds: int) -> Iterator[Single]:
        """Every failure in each manner under each seed; after Ctrl-C, those that are complete."""
        manners, simulations = self._options.manners, Simulations(self._prepared, self._before)
        tasks = [Once(loss, m, seed) for loss in losses for m in manners for seed in range(seeds)]
        names = [f"{each.loss.name} {each.manner}, seed {each.seed}" for each in tasks]
        found: dict[int, Lacking] = {}
        begin = time.monotonic()
        with suppress(KeyboardInterrupt), interruptible():
            every = self._options.workers.completed(lacking, simulations, tasks, names)
            with closing(every):
                for index, result in every:
                    if isinstance(result, WorkerDiedError):
                        raise result
                    found[index] = result
                    seconds = time.monotonic() - begin
                    progress = Progress("failures", len(found), len(tasks), seconds)
                    self._options.report(progress)
        each = len(manners) * seeds
        for number, loss in enumerate(losses):
            results = [found.get(index) for index in range(number * each, (number + 1) * each)]
            complete = [result for result in results if result is not None]
            if len(complete) == each:
                yield self._single(loss, complete, seeds)

    def _single(self, loss: Loss, results: Sequence[Lacking], seeds: int) -> Single:
        """From its results, manner by manner."""
        missing: dict[Manner, int] = {}
        agree, hurt, cpu = True, set[int](), Requested(0, 0)
        for number, manner in enumerate(self._options.manners):
            same = results[number * seeds : (number + 1) * seeds]
            numbers = {each.pods for each in same}
            missing[manner] = max(numbers)
            agree = agree and len(numbers) == 1
            hurt |= same[0].hurt
            cpu = same[0].cpu
        down = int(self._before.down[list(loss.nodes)].sum())
        hardest = self._before.hardest(loss.nodes, hurt)
        return Single(loss, down, missing, hardest, cpu, seeds, agree)


@dataclass(frozen=True, eq=False)
class Simulations:
    """What a simulation needs of the cluster."""

    prepared: Prepared
    before: Workloads


@dataclass(frozen=True)
class Once:
    """One failure, once."""

    loss: Loss
    manner: Manner
    seed: int


@dataclass(frozen=True)
class Lacking:
    """How many pods do not run then, and of which groups; the CPU that is requested then."""

    pods: int
    hurt: frozenset[int]
    cpu: Requested


def lacking(simulations: Simulations, once: Once) -> Lacking:
    """What one failure leaves without a place under one seed."""
    prepared = simulations.prepared
    cluster = prepared.cluster(once.seed)
    settled = fails(prepared, cluster, once.loss, once.manner, once.seed)
    first = cluster is prepared.cluster()
    before = simulations.before if first else Workloads(cluster)
    lacks = before.missing(settled)
    hurt = frozenset(np.flatnonzero(lacks[before.of_group]).tolist())
    cpu = requested_cpu(settled.cluster, settled.changed.down)
    return Lacking(int(lacks.sum()), hurt, cpu)
