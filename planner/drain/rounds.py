"""`planner drain --rolling`: nodes are emptied round by round, and come back before the next one.

    M        how many of the nodes can be empty together, at the most
    rounds   >= nodes / M

A round takes about the same share of every zone, least full nodes first, and starts from where the
last one has left the pods. Pods that land on a node whose turn is still to come move twice; so such
nodes are cordoned meanwhile, for all pods that find a place without them. With extra nodes all old
nodes are cordoned from the start, and each pod moves once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from planner.cluster import Cluster
from planner.cluster.spread import counted_key
from planner.drain.empty_nodes import EmptyingNodes, is_possible, state_after
from planner.drain.extra_nodes import with_extra_nodes
from planner.drain.find import Drain
from planner.drain.options import DrainOptions
from planner.evictions.goals import node_use
from planner.replay.cordons import cordoned_node
from planner.scheduler.profile import Profile

SWAPS = 40
"""So many exchanges with nodes of later rounds are tried for a round that fails."""


@dataclass(frozen=True)
class Shape:
    """How many nodes are emptied at once, and how many are added before that."""

    nodes_at_once: int
    extra_nodes: int = 0


@dataclass(frozen=True, eq=False)
class Rolling:
    """All rounds of one shape, up to the first that fails; `extra` are nodes that were added."""

    shape: Shape
    start: Cluster
    rounds: tuple[Drain, ...]
    left: tuple[int, ...] = ()
    """Nodes that were not emptied, because no way was found."""
    extra: tuple[int, ...] = ()

    @property
    def end(self) -> Cluster:
        """The cluster after the last round, all of its nodes open again."""
        return self.start if not self.rounds else back_again(self.rounds[-1])

    @property
    def possible(self) -> bool:
        """Whether every node has its turn."""
        return not self.left

    @property
    def evictions(self) -> int:
        """How many pods are evicted in all rounds."""
        return sum(len(each.evicted) + len(each.leaving.lost) for each in self.rounds)

    @property
    def waves(self) -> int:
        """How many waves there are in all rounds."""
        return sum(len(each.tried.waves) for each in self.rounds)


def in_turn(cluster: Cluster, nodes: Collection[int]) -> list[int]:
    """The nodes so that any stretch of them has a like share of each zone; least full first."""
    key = counted_key(cluster)
    domain_of = (
        np.zeros(len(cluster.nodes), np.int64) if key is None else cluster.topology(key).domain_of
    )
    use = node_use(cluster)
    by_domain: dict[int, list[int]] = {}
    for node in sorted(nodes, key=lambda node: (use[node], node)):
        by_domain.setdefault(int(domain_of[node]), []).append(node)
    placed = [
        ((rank + 0.5) / len(members), domain, node)
        for domain, members in by_domain.items()
        for rank, node in enumerate(members)
    ]
    return [node for _, _, node in sorted(placed)]


class Rounds:
    """Rounds over one cluster and the nodes that have to have their turn."""

    def __init__(
        self,
        cluster: Cluster,
        nodes: Collection[int],
        profile: Profile,
        options: DrainOptions,
        *,
        steady: bool = True,
    ) -> None:
        self._cluster = cluster
        self._nodes = tuple(sorted(nodes))
        self._profile = profile
        self._options = options
        self._steady = steady

    def plan(self, shape: Shape, most_rounds: int | None = None) -> Rolling:
        """Round after round of this shape; the first rounds only, if so many are enough."""
        turn = in_turn(self._cluster, self._nodes)
        start = with_extra_nodes(self._cluster, turn[: shape.extra_nodes])
        turn = [start.node_index[self._cluster.nodes[node].name] for node in turn]
        known = self._cluster.node_index
        extra = tuple(i for i, node in enumerate(start.nodes) if node.name not in known)
        going = Going(start, self._profile, self._options, bool(extra), self._steady)
        rounds: list[Drain] = []
        while turn and (most_rounds is None or len(rounds) < most_rounds):
            done = going.round(turn, shape.nodes_at_once)
            if done is None:
                return Rolling(shape, start, tuple(rounds), tuple(turn), extra)
            rounds.append(done)
            going = going.after(done)
            turn = [node for node in turn if node not in done.aim.drained]
        return Rolling(shape, start, tuple(rounds), (), extra)

    def plan_sets(self, sets: Sequence[Collection[int]]) -> Rolling:
        """Exactly these sets of nodes, one after the other."""
        going = Going(self._cluster, self._profile, self._options, steady=self._steady)
        shape = Shape(max(map(len, sets)))
        rounds: list[Drain] = []
        for number, nodes in enumerate(sets):
            later = [node for rest in sets[number + 1 :] for node in rest]
            done = going.attempt(nodes, later)
            if done is None:
                left = (*nodes, *later)
                return Rolling(shape, self._cluster, tuple(rounds), left)
            rounds.append(done)
            going = going.after(done)
        return Rolling(shape, self._cluster, tuple(rounds))


@dataclass(frozen=True, eq=False)
class Going:
    """Rounds under way, from the cluster as the last one has left it.

    `keep_off`: nodes whose turn comes later are cordoned from the start, for there are extra nodes.
    """

    now: Cluster
    profile: Profile
    options: DrainOptions
    keep_off: bool = False
    steady: bool = True

    def round(self, turn: Sequence[int], size: int) -> Drain | None:
        """The next nodes; if they fail, with some of them exchanged for later ones."""
        done = self.attempt(turn[:size], turn[size:])
        for nodes in islice(_exchanges(turn, size), 0 if done is not None else SWAPS):
            later = [node for node in turn if node not in nodes]
            done = self.attempt(nodes, later, thorough=False)
            if done is not None:
                break
        return done

    def after(self, done: Drain) -> Going:
        """The nodes are back, empty and open."""
        return replace(self, now=back_again(done))

    def attempt(
        self, nodes: Collection[int], later: Sequence[int], *, thorough: bool = True
    ) -> Drain | None:
        """These nodes emptied, with as few landings as possible on those whose turn comes later.

        None if no way was found; a `thorough` search asks the solver, too.
        """
        now = with_cordons(self.now, later, on=True) if self.keep_off else self.now
        emptying = EmptyingNodes(now, self.profile, self.options, among=nodes, steady=self.steady)
        if emptying.stuck:
            return None
        found = None
        if not self.keep_off and len(nodes) + len(later) < len(now.nodes):
            found = emptying.sparing(nodes, later)
        if found is None:
            found = emptying.empty(nodes)
        if not is_possible(found) and thorough:
            found = emptying.empty_thoroughly(nodes)
        return found if is_possible(found) else None


def back_again(done: Drain) -> Cluster:
    """The cluster after a round, with its nodes back, empty and open."""
    return with_cordons(state_after(done), done.aim.drained, on=False)


def with_cordons(cluster: Cluster, nodes: Collection[int], *, on: bool) -> Cluster:
    """The cluster with these nodes cordoned, or open."""
    return cluster.with_nodes({node: cordoned_node(cluster.nodes[node], on) for node in nodes})


def _exchanges(turn: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """The first nodes of the turn with one of them exchanged for a later one."""
    first, later = list(turn[:size]), turn[size:]
    for other in later:
        for out in range(len(first) - 1, -1, -1):
            yield (*first[:out], other, *first[out + 1 :])
