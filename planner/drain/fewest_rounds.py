"""How many nodes can be empty together, and the fewest rounds for all of them.

The bound is counted (`solver.emptying.room_to_keep`), and in small clusters found with all rules.
Rounds as few as the bound asks for are the fewest there can be. Where they do not come out of sets
of equal shares, all sets of up to eight nodes are gone through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from planner.cluster import Cluster
from planner.drain.empty_nodes import EmptyingNodes
from planner.drain.find import Drain
from planner.drain.options import DrainOptions
from planner.drain.rounds import Going, Rolling, Rounds, Shape, in_turn
from planner.scheduler.profile import Profile
from planner.solver.emptying.room_to_keep import DomainNeed

EXACT_CELLS = 3_000
"""Groups times nodes up to which the most nodes are found with all rules, in a second or so."""
COUNTING_LIMIT = 10.0
"""Of CP-SAT's deterministic seconds."""
ALL_SETS = 8
"""Nodes up to which all sets are gone through where nothing else finds fewest rounds."""
TRIES = 600
"""Rounds that are tried for that."""


@dataclass(frozen=True, eq=False)
class AtOnce:
    """No more nodes than `most` can be empty together; `needs` are the domains that say so."""

    most: int
    needs: tuple[DomainNeed, ...]

    @property
    def explained(self) -> bool:
        """Whether the domains alone keep as many nodes."""
        return bool(self.needs) and sum(each.free for each in self.needs) == self.most


@dataclass(frozen=True, eq=False)
class Fewest:
    """Rounds, and the fewest that can be; `searched`: all sets were gone through."""

    rolling: Rolling
    at_once: AtOnce
    bound: int
    searched: bool = False

    @property
    def proven(self) -> bool:
        """Whether no fewer rounds do."""
        return self.rolling.possible and (len(self.rolling.rounds) <= self.bound or self.searched)


def most_at_once(emptying: EmptyingNodes, nodes: Collection[int]) -> AtOnce:
    """An upper bound of how many of the nodes can be empty together."""
    cluster = emptying.cluster
    ones = {node: 1 for node in sorted(nodes) if node not in emptying.stuck}
    counting = emptying.counting()
    if not ones:
        return AtOnce(0, ())
    most = counting.most(ones, COUNTING_LIMIT).bound
    if not emptying.broken and len(cluster.groups) * len(cluster.nodes) <= EXACT_CELLS:
        found = emptying.best_sets(ones, removed=False).best()
        most = most if found is None else min(most, found.bound)
    return AtOnce(most, counting.needs(nodes))


def fewest_rounds(emptying: EmptyingNodes, nodes: Sequence[int], at_once: AtOnce) -> Fewest:
    """The fewest rounds that were found; the plan that gets furthest if none empties all."""
    cluster, profile, options = emptying.cluster, emptying.profile, emptying.options
    rounds = Rounds(cluster, nodes, profile, options)
    if not at_once.most:
        return Fewest(Rolling(Shape(1), cluster, (), tuple(nodes)), at_once, 0)
    bound = -(-len(nodes) // at_once.most)
    furthest: Rolling | None = None
    tried: set[int] = set()
    complete = True
    for number in range(bound, len(nodes) + 1):
        for size in range(-(-len(nodes) // number), at_once.most + 1):
            if size in tried:
                continue
            tried.add(size)
            rolling = rounds.plan(Shape(size))
            if rolling.possible and len(rolling.rounds) <= number:
                return Fewest(rolling, at_once, bound, searched=complete and number > bound)
            if furthest is None or len(rolling.left) < len(furthest.left):
                furthest = rolling
        search = _AllSets(cluster, nodes, profile, options, at_once.most)
        found = search.in_rounds(number) if len(nodes) <= ALL_SETS else None
        if found is not None:
            return Fewest(found, at_once, bound, searched=complete and number > bound)
        complete = complete and search.complete
    assert furthest is not None  # the size of the bound was tried
    return Fewest(furthest, at_once, bound)


class _AllSets:
    """Every way to take a few nodes in so many rounds, as kube-scheduler breaks ties by name."""

    def __init__(
        self,
        cluster: Cluster,
        nodes: Sequence[int],
        profile: Profile,
        options: DrainOptions,
        most: int,
    ) -> None:
        self._cluster = cluster
        self._nodes = in_turn(cluster, nodes)
        self._how = (profile, options)
        self._most = most
        self._tries = 0
        self.complete = len(nodes) <= ALL_SETS
        """Whether nothing was left out."""

    def in_rounds(self, number: int) -> Rolling | None:
        """The first way in which all nodes have their turn."""
        going = Going(self._cluster, *self._how)
        found = self._rest(going, self._nodes, number)
        if found is None:
            return None
        shape = Shape(max(len(each.aim.drained) for each in found))
        return Rolling(shape, self._cluster, tuple(found))

    def _rest(self, going: Going, left: list[int], number: int) -> list[Drain] | None:
        if not left:
            return []
        for nodes in self._sets(left, number):
            if self._tries >= TRIES:
                self.complete = False
                return None
            self._tries += 1
            later = [node for node in left if node not in nodes]
            done = going.attempt(nodes, later)
            rest = None if done is None else self._rest(going.after(done), later, number - 1)
            if done is not None and rest is not None:
                return [done, *rest]
        return None

    def _sets(self, left: list[int], number: int) -> Iterator[tuple[int, ...]]:
        """Sets that leave no more than the other rounds can take."""
        if number:
            least = max(1, len(left) - self._most * (number - 1))
            for size in range(min(self._most, len(left)), least - 1, -1):
                yield from combinations(left, size)
