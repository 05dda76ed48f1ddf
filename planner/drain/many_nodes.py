"""Many nodes emptied in one go through a large cluster, as far as kube-scheduler goes along.

All of them are cordoned, and their pods evicted, the largest first: whoever comes last still finds
a place then. kube-scheduler chooses where. Where some find none, nodes with room for them are given
back until they do. So nothing is tried in vain: the waves that were carried out are the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.drain.empty_nodes import EmptyingNodes
from planner.drain.find import Drain
from planner.evictions.emptying import waves_within
from planner.evictions.goals import placed_at
from planner.evictions.repeated_trials import TriedWaves
from planner.replay.settling import Choices
from planner.replay.trial import Manner, Trial, TrialRun, WavePlan
from planner.replay.violations import violations
from planner.solver.emptying.room_to_keep import RoomToKeep
from planner.solver.problem.static_rules import StaticRules

BATCHES = 20
"""In so many batches all pods are evicted; who waits is looked after in between."""
REPAIRS = 3
"""How often pods that ended beyond a limit of spread are evicted once more."""
MOST_WORK = 600_000_000
"""Evictions times nodes that one go may cost: about a minute."""


@dataclass(eq=False)
class ManyNodes:
    """One go through the cluster."""

    emptying: EmptyingNodes
    nodes: Sequence[int]
    preempt: bool = True
    """Whether pods that find no node drive others off, as kube-scheduler has it."""
    _going: list[int] = field(default_factory=list)
    """Nodes that are to be empty in the end."""
    _waves: list[WavePlan] = field(default_factory=list)
    in_vain: frozenset[int] = frozenset()
    """Nodes whose pods found no place, not even where they came from, or drove others off: the
    next go is without."""

    def run(self) -> Drain:
        """The nodes that were emptied, with the waves that did it, under ties by name."""
        cluster = self.emptying.cluster
        self._going = list(self.nodes)
        pods = self.emptying.leaving(self._going).going
        everybody = self.emptying.all.going
        trial = Trial(cluster, self.emptying.profile, self.emptying.budgets, everybody)
        choices: Choices = {}
        run = trial.run(
            self._go(pods, trial), Manner(seed=0), preempt=self.preempt, choices=choices
        )
        drove = cluster.node_of[[preemptor for preemptor, _ in run.driven]]
        self.in_vain |= frozenset(drove[drove >= 0].tolist())
        return self._drain(run, choices)

    def _drain(self, run: TrialRun, choices: Choices) -> Drain:
        """The plan as it went: nobody may wait, and nobody may have been driven off."""
        found = self.emptying.nothing_tried(self._going)
        waiting = int(np.count_nonzero(run.node_of == PENDING))
        well = run.refused is None and not run.preempted
        well = well and waiting <= len(self.emptying.cluster.pending)
        tried = TriedWaves(
            tuple(self._waves), (Manner(seed=0),), (replace(run, after=()),), (well,), choices
        )
        return replace(found, tried=tried)

    def _go(self, pods: Sequence[int], trial: Trial) -> Iterator[WavePlan]:
        """Wave after wave, each made up when the one before has ended."""
        cluster = self.emptying.cluster
        size = max(1, len(pods) // BATCHES)
        back = _GivenBack(cluster)
        for begin in range(0, len(pods), size):
            going = frozenset(self._going)
            batch = [pod for pod in pods[begin : begin + size] if cluster.node_of[pod] in going]
            for wave in waves_within(batch, self.emptying.budgets):
                yield self._wave(wave.evictions)
                yield from self._place(back, trial)
                self.in_vain |= back.give_up(trial.node_of)
        for _ in range(REPAIRS):
            astray = self._astray(trial.node_of)
            for wave in waves_within(astray, self.emptying.budgets):
                yield self._wave(wave.evictions)

    def _place(self, back: _GivenBack, trial: Trial) -> Iterator[WavePlan]:
        """Nodes with room are given back as long as that helps who waits, and then their own."""
        many, waiting = 1, len(back.waiting(trial.node_of))
        while self._going and waiting:
            self._going = back.without(self._going, trial.node_of, many)
            yield self._wave(())
            left = len(back.waiting(trial.node_of))
            if left == waiting:
                break
            many, waiting = 2 * many, left
        if waiting:
            homes = back.homes(trial.node_of)
            self._going = [node for node in self._going if node not in homes]
            yield self._wave(())

    def _astray(self, node_of: IntArray) -> list[int]:
        """Pods beyond the limit of hard spread: where others have left since they came.

        Evicted once more they go where they are missing; first those that were not evicted yet,
        for they have a known name.
        """
        cluster, evicted = self.emptying.cluster, {p for w in self._waves for p in w.evictions}
        going = set(self.emptying.all.going)
        found = violations(placed_at(cluster, node_of), self.emptying.profile)
        if sum(each.excess for each in found) <= self.emptying.broken:
            return []
        spread = (each for each in found if each.rule == "topologySpread")
        return [
            pod
            for each in spread
            for pod in sorted(going.intersection(each.pods), key=lambda p: (p in evicted, p))[
                : each.excess
            ]
        ]

    def _wave(self, pods: Sequence[int]) -> WavePlan:
        wave = WavePlan(tuple(pods), tuple(sorted(self._going)), holds=True)
        self._waves.append(wave)
        return wave


def nodes_with_room(
    emptying: EmptyingNodes, room: RoomToKeep, prices: Mapping[int, int]
) -> list[int]:
    """As many nodes of each class as `room` says, as far as there is time for their pods."""
    evictions, chosen = emptying.evictions, list[int]()
    for number, most in enumerate(room.emptied.tolist()):
        nodes = np.flatnonzero(room.class_of == number).tolist()
        chosen += sorted(nodes, key=lambda node: (evictions[node], node))[:most]
    chosen.sort(key=lambda node: (evictions[node] / prices[node], node))
    work = np.cumsum(evictions[chosen]) * len(emptying.cluster.nodes)
    return chosen[: int(np.searchsorted(work, MOST_WORK))]


class _GivenBack:
    """Nodes that stay after all, because pods that wait find room there."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._static = StaticRules(cluster)
        self._given_up: set[int] = set()

    def without(self, going: list[int], node_of: IntArray, many: int) -> list[int]:
        """The nodes without so many that have room for who waits, and the most pods left."""
        waiting = self.waiting(node_of)
        there = np.bincount(node_of[node_of >= 0], minlength=len(self._cluster.nodes))
        fits = self._fitting(np.unique(self._cluster.group_of[waiting]), node_of)
        chosen = np.array(going, np.int64)
        rank = np.lexsort((chosen, -there[chosen], -fits[chosen]))
        given = set(chosen[rank[:many]].tolist())
        return [node for node in going if node not in given]

    def waiting(self, node_of: IntArray) -> IntArray:
        """Pods that had a node, have none now, and may find one."""
        found = np.flatnonzero((node_of == PENDING) & (self._cluster.node_of >= 0))
        return found[~np.isin(found, list(self._given_up))]

    def give_up(self, node_of: IntArray) -> frozenset[int]:
        """Who still waits does so for ever; the nodes that they came from."""
        homes = self.homes(node_of)
        self._given_up.update(self.waiting(node_of).tolist())
        return homes

    def homes(self, node_of: IntArray) -> frozenset[int]:
        """The nodes that those came from."""
        return frozenset(self._cluster.node_of[self.waiting(node_of)].tolist())

    def _fitting(self, groups: IntArray, node_of: IntArray) -> IntArray:
        """How many of the groups each node has room for."""
        resources = self._cluster.resources
        used = np.zeros_like(resources.allocatable)
        pods = np.flatnonzero(node_of >= 0)
        np.add.at(used, node_of[pods], resources.requests[self._cluster.group_of[pods]])
        free = resources.allocatable - used
        fits = np.zeros(len(free), np.int64)
        for group in groups.tolist():
            fits += (free >= resources.requests[group]).all(axis=1) & self._static.landing(group)
        return fits
