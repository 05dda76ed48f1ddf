"""An order of steps in which room is held for whom it is meant, by cordons.

Where kube-scheduler chooses the nodes, room that an eviction makes goes to whoever waits and comes
first in the queue, and who was to have it may drive others off. So nodes are opened one after the
other: all that is to land on a node is evicted together, once there is room for all of it. Nodes
with room that is meant for later are cordoned meanwhile, also if it takes driving others off to
have it. An evicted pod then finds its own place, or room that nobody is going to need. Where others
wait for the same room it is opened when the evicted pod waits, too: then priority decides, and not
who is there first. Several nodes are opened at once if nobody who could drive others off has the
choice between them.

Where that is not enough, all room is `closed` but that of the nodes that are opened: whatever
somebody who waits could take. Then pods land as planned, up to those that wait with the same
priority, of which anyone may be first: so nodes that the others can't take, or may take without
harm, are opened before the rest (see `first_come`). Where somebody lands elsewhere all the same,
`lasting` cordons help: what was closed stays so until it is opened, and is closed again then.

Only for plans in which nothing but room decides: there any order is legal that has room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random
from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.replay.steps import Step
from planner.sequences.first_come import FirstCome
from planner.sequences.takers import Takers
from planner.solver.problem.problem import Problem

Way = Literal["held", "closed", "lasting"]
"""From few cordons to many: on room that is needed later, on all other room, and for good."""
MOST_HIDDEN = 5
"""One in so many nodes may be cordoned for pods that wait until their own node is opened."""


def waves_with_held_room(
    problem: Problem, steps: Sequence[Step], way: Way = "held", draw: int = 0
) -> list[tuple[Step, ...]] | None:
    """The same moves and placements in another order, with cordons that are lifted in the end.

    Of nodes that are as good to open next the first one is taken: in the order of the steps, or in
    one that is drawn, for somebody whom one order drives off may be spared by another one.

    None if there is no room for all of it in the end.
    """
    return _WAYS[way](problem, steps, draw).run()


class _Holding:
    """The cluster as it takes the steps, and who is still to land where."""

    def __init__(self, problem: Problem, steps: Sequence[Step], draw: int) -> None:
        cluster = self._cluster = problem.cluster
        coming: dict[int, list[int]] = {}
        for step in steps:
            if step.lands:
                coming.setdefault(step.node, []).append(step.pod)
        for pods in coming.values():
            pods.sort(key=lambda pod: -cluster.pods[pod].priority)
        nodes = list(coming)
        if draw:
            Random(draw).shuffle(nodes)
        self._coming = {node: coming[node] for node in nodes}
        self._node_of = cluster.node_of.copy()
        self._takers = Takers(problem, [step.pod for step in steps if step.evicts])
        self._asked = {node: self._takers.asked(pods) for node, pods in self._coming.items()}
        """What all that is still to land on a node asks for."""
        self._between: set[int] = set()
        """Pods that the plan itself lets wait."""
        self._cordoned: set[int] = set()
        self._targets: Collection[int] = ()
        """The nodes that are opened next."""

    def run(self) -> list[tuple[Step, ...]] | None:
        waves: list[tuple[Step, ...]] = []
        while self._coming:
            landing = {node: self._coming.pop(node) for node in self._opened()} or self._some()
            self._targets = landing.keys()
            first = self._first_to_leave(landing)
            if not landing and not first:
                return None
            if first:
                waves.append(tuple(self._evictions(first)))
            if landing:
                waves.append(tuple(self._landings(landing)))
        return waves

    # Which nodes are opened next

    def _opened(self) -> list[int]:
        """Nodes that have room for all that comes; those that are cordoned for it first."""
        coming = np.array([*self._coming], np.int64)
        asked = np.array([self._asked[node] for node in self._coming])
        ready: list[int] = coming[self._takers.hold(coming, asked)].tolist()
        ready.sort(key=lambda node: node not in self._cordoned)
        return self._at_once(ready)

    def _at_once(self, ready: Sequence[int], *, harmless: bool = False) -> list[int]:
        """Nodes between which nobody has the choice, or nobody who could drive others off."""
        pods = [pod for node in ready for pod in self._coming[node]]
        rivals = self._takers.rivals(np.array(ready, np.int64), pods, harmless=harmless)
        found: list[int] = []
        taken = np.zeros(len(rivals), np.bool_)
        for node, here in zip(ready, rivals.T, strict=True):
            if not found or not (taken & here).any():
                found.append(node)
                taken |= here
        return found

    def _some(self) -> dict[int, list[int]]:
        """Where no node has room for all that comes: who fits on one of them, if anybody does."""
        for node, pods in self._coming.items():
            some: list[int] = []
            for pod in pods:
                if self._takers.fit(node, [*some, pod]):
                    some.append(pod)
            if some:
                self._coming[node] = [pod for pod in pods if pod not in some]
                self._asked[node] = self._takers.asked(self._coming[node])
                return {node: some}
        return {}

    # Steps

    def _first_to_leave(self, landing: Mapping[int, Sequence[int]]) -> list[int]:
        """Who has to wait before its node is opened: others could take that in the meantime.

        With nobody who can land, those wait that make room on a node for all that is to come.
        """
        return self._before_others(landing) if landing else self._making_room()

    def _making_room(self) -> list[int]:
        """As few as possible that could drive others off, and then as few as possible.

        Where no node has room for all even then, the least important one.
        """
        leaving: dict[int, list[int]] = {}
        coming = (pod for pods in self._coming.values() for pod in pods)
        moving = [pod for pod in coming if self._node_of[pod] >= 0]
        moving.sort(key=lambda pod: (self._cluster.pods[pod].priority, pod))
        for pod in moving:
            leaving.setdefault(int(self._node_of[pod]), []).append(pod)
        ways = [self._until_there_is_room(node, leaving.get(node, ())) for node in self._coming]
        return min(filter(None, ways), key=self._hardship, default=moving[:1])

    def _until_there_is_room(self, node: int, leaving: Sequence[int]) -> list[int]:
        """Those of them that wait so that all that comes fits on the node; [] if it never does."""
        lacking = self._asked[node] - self._takers.free(np.array([node]))[0]
        lacking[self._asked[node] == 0] = 0
        found: list[int] = []
        for pod in leaving:
            if (lacking <= 0).all():
                break
            found.append(pod)
            lacking -= self._takers.asked([pod])
        return found if (lacking <= 0).all() else []

    def _hardship(self, pods: Sequence[int]) -> tuple[int, int]:
        return sum(map(self._takers.outranks, pods)), len(pods)

    def _before_others(self, landing: Mapping[int, Sequence[int]]) -> list[int]:
        """Those that could drive others off, unless that hides too many nodes from others."""
        contested = self._takers.anybody()
        moving = self._moving_to(contested, landing)
        first = [pod for pod in moving if self._takers.outranks(pod)]
        hidden = np.count_nonzero(self._takers.any_of(first))
        return first if hidden * MOST_HIDDEN <= len(contested) else []

    def _moving_to(self, nodes: BoolArray, landing: Mapping[int, Sequence[int]]) -> list[int]:
        """Who is to come to one of these nodes and has its own one still."""
        comers = (pod for node, pods in landing.items() if nodes[node] for pod in pods)
        return [pod for pod in comers if self._node_of[pod] >= 0]

    def _evictions(self, pods: Sequence[int]) -> Iterator[Step]:
        for pod in pods:
            self._leave(pod)
        yield from self._cordons(())
        yield from (Step.evict(pod, int(self._cluster.node_of[pod])) for pod in pods)

    def _landings(self, landing: Mapping[int, Sequence[int]]) -> Iterator[Step]:
        """Cordon what is meant for later, evict who did not have to wait, and land all."""
        pods = [(pod, node) for node, each in landing.items() for pod in each]
        moving = [pod for pod, _ in pods if self._node_of[pod] >= 0]
        for pod in moving:
            self._leave(pod)
        self._between.difference_update(pod for pod, _ in pods)
        yield from self._cordons(landing)
        for pod, node in pods:
            yield Step("move" if pod in moving else "place", pod, node)
            self._land(pod, node)

    def _land(self, pod: int, node: int) -> None:
        self._takers.lands(pod, node)
        self._node_of[pod] = node

    def _leave(self, pod: int) -> None:
        self._takers.leaves(pod, int(self._node_of[pod]))
        self._node_of[pod] = -1
        self._between.add(pod)

    def _cordons(self, opened: Collection[int]) -> Iterator[Step]:
        """Cordon nodes that are needed later, and that somebody who waits could take now.

        And those on which a pod that waits for its own node could land before.
        """
        wanted = self._to_cordon(opened)
        yield from (Step.cordon(node) for node in sorted(wanted - self._cordoned))
        yield from (Step.uncordon(node) for node in sorted(self._cordoned - wanted))
        self._cordoned = wanted

    def _to_cordon(self, opened: Collection[int]) -> set[int]:
        needed = np.zeros(len(self._cluster.nodes), np.bool_)
        needed[[*self._coming, *self._targets]] = True
        found = self._takers.anybody() & needed
        found |= self._takers.any_of(sorted(self._between))
        return set(np.flatnonzero(found).tolist()).difference(opened)


class _Closing(_Holding):
    """The same with all other room closed, and with who waits counted."""

    def __init__(self, problem: Problem, steps: Sequence[Step], draw: int) -> None:
        super().__init__(problem, steps, draw)
        self._first_come = FirstCome(problem, self._takers, steps)
        self._landing: Sequence[int] = ()

    def run(self) -> list[tuple[Step, ...]] | None:
        waves = super().run()
        if waves is not None and self._cordoned:
            waves.append(tuple(map(Step.uncordon, sorted(self._cordoned))))
        return waves

    def _at_once(self, ready: Sequence[int], *, harmless: bool = True) -> list[int]:
        """Those that nobody else can take; or the one where others who could do the least harm."""
        if not ready:
            return []
        coming = {node: self._coming[node] for node in ready}
        harm = self._first_come.harm(coming, self._node_of < 0).tolist()
        least = min(harm)
        first = [node for node, here in zip(ready, harm, strict=True) if here == least]
        return first[:1] if any(least) else super()._at_once(first, harmless=harmless)

    def _before_others(self, landing: Mapping[int, Sequence[int]]) -> list[int]:
        return self._moving_to(self._takers.anybody(), landing)

    def _landings(self, landing: Mapping[int, Sequence[int]]) -> Iterator[Step]:
        self._landing = [pod for pods in landing.values() for pod in pods]
        yield from super()._landings(landing)
        self._landing = ()

    def _leave(self, pod: int) -> None:
        super()._leave(pod)
        self._first_come.waits(pod)

    def _land(self, pod: int, node: int) -> None:
        super()._land(pod, node)
        self._first_come.lands(pod)

    def _to_cordon(self, opened: Collection[int]) -> set[int]:
        found = self._first_come.anywhere() | self._takers.any_of(self._landing)
        return set(np.flatnonzero(found).tolist()).difference(opened)


class _StayingClosed(_Closing):
    """And what was closed, or has been opened before, is closed until the end.

    Whoever lands elsewhere than planned may need other room than those that should wait by then.
    """

    def __init__(self, problem: Problem, steps: Sequence[Step], draw: int) -> None:
        super().__init__(problem, steps, draw)
        self._seen: set[int] = set()
        """Nodes that were opened: somebody else may have landed there."""

    def _to_cordon(self, opened: Collection[int]) -> set[int]:
        closed = super()._to_cordon(opened) | self._cordoned | self._seen
        self._seen.update(opened)
        return closed.difference(opened)


_WAYS: dict[Way, type[_Holding]] = {
    "held": _Holding,
    "closed": _Closing,
    "lasting": _StayingClosed,
}
