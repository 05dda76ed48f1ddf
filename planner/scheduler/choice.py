"""What a scheduling cycle comes to, without a verdict and a score for every node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain
from random import Random

import numpy as np

from planner.cluster.topology import IntArray


class Choice(ABC):
    """The best nodes of a moment; good until the next change."""

    feasible: int
    """How many nodes pass every filter."""
    tied: int

    @abstractmethod
    def best(self) -> IntArray:
        """The best nodes in their order."""

    @abstractmethod
    def nodes(self, most: int) -> list[int]:
        """The first of them."""

    @abstractmethod
    def pick(self, random: Random | None) -> int:
        """The first, or any: drawn as from the list of all."""


class FromAll(Choice):
    """Found in a look at all nodes that are open."""

    def __init__(self, feasible: int, best: IntArray) -> None:
        self.feasible = feasible
        self.tied = len(best)
        self._best = best

    def best(self) -> IntArray:
        """As found."""
        return self._best

    def nodes(self, most: int) -> list[int]:
        """As found."""
        found: list[int] = self._best[:most].tolist()
        return found

    def pick(self, random: Random | None) -> int:
        """By its place."""
        return int(self._best[0 if random is None else random.choice(range(self.tied))])


class FromClasses(Choice):
    """Lists of nodes that are alike, each in the order of the nodes."""

    def __init__(self, feasible: int, best: Sequence[list[int]]) -> None:
        self.feasible = feasible
        self.tied = sum(map(len, best))
        self._best = best

    def best(self) -> IntArray:
        """All lists as one."""
        return np.array(self.nodes(self.tied), np.int64)

    def nodes(self, most: int) -> list[int]:
        """No list is needed further than that."""
        if len(self._best) == 1:
            return self._best[0][:most]
        return sorted(chain.from_iterable(nodes[:most] for nodes in self._best))[:most]

    def pick(self, random: Random | None) -> int:
        """The first of all, or by the place in all lists together."""
        if random is None:
            return min(nodes[0] for nodes in self._best)
        place = random.choice(range(self.tied))
        return self._best[0][place] if len(self._best) == 1 else self.nodes(self.tied)[place]
