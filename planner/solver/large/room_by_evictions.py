"""How much room one, two or three evictions can make on a node, in cpu and memory at once.

`fronts[j]` of a node are the sums of j + 1 pods that no other such sum beats in both resources, so
a shortage can be covered by j + 1 evictions exactly if some entry is at least as large. Beyond
three, the largest pods of each resource alone give a lower bound on the number; what it really
takes can be asked for node by node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.large.covers import fewest, undominated

DEPTH = 3
NEVER = 1 << 20


@dataclass(frozen=True, eq=False)
class Fronts:
    """`sums[j][n, i]` padded with -1; `prefix[n, r, i]`: the i + 1 largest pods of one resource.

    `pods` are what all of them request, node by node; those of node n are in the `span[n]`.
    """

    sums: tuple[IntArray, ...]
    prefix: IntArray
    pods: IntArray
    span: IntArray

    def evictions(self, nodes: IntArray, short: IntArray) -> IntArray:
        """A lower bound on the evictions that cover `short[i]` on `nodes[i]`, exact up to DEPTH."""
        found = self._by_prefix(nodes, short)
        found = np.where(found < NEVER, np.maximum(found, DEPTH + 1), NEVER)
        for j in reversed(range(len(self.sums))):
            sums = self.sums[j][nodes]
            covered = np.all(sums >= short[:, None, :], axis=2)
            found = np.where(np.any(covered, axis=1), j + 1, found)
        return np.where((short <= 0).all(axis=1), 0, found)

    def of(self, nodes: IntArray) -> Fronts:
        """Those of some nodes, in this order."""
        sums = tuple(sums[nodes] for sums in self.sums)
        return Fronts(sums, self.prefix[nodes], self.pods, self.span[nodes])

    def exactly(self, node: int, short: IntArray) -> int:
        """The fewest evictions that cover `short`, which takes longer than a bound on them."""
        found = len(fewest(self.pods[slice(*self.span[node])], short))
        return found if found or not (short > 0).any() else NEVER

    def _by_prefix(self, nodes: IntArray, short: IntArray) -> IntArray:
        found = np.zeros(len(nodes), np.int64)
        for r in range(short.shape[1]):
            prefix = self.prefix[nodes, r]
            missing = (prefix < short[:, r, None]).sum(axis=1)
            needed = np.where(missing == prefix.shape[1], NEVER, missing + 1)
            found = np.maximum(found, np.where(short[:, r] > 0, needed, 0))
        return found


def fronts_of(size: int, node: IntArray, request: IntArray) -> Fronts:
    """Of pods given one by one: `node[i]` and `request[i]` (two resources)."""
    order = np.argsort(node, kind="stable")
    node, request = node[order], request[order]
    first = np.searchsorted(node, np.arange(size + 1))
    parts: list[list[IntArray]] = [[] for _ in range(DEPTH)]
    longest = int(np.diff(first).max(initial=0))
    prefix = np.zeros((size, 2, longest + 1), np.int64)
    for n in range(size):
        pods = request[first[n] : first[n + 1]]
        for r in range(2):
            total = np.cumsum(np.sort(pods[:, r])[::-1])
            prefix[n, r, : len(pods)] = total
            prefix[n, r, len(pods) :] = total[-1] if len(pods) else 0
        useful = pods[undominated(pods, DEPTH)]
        for j in range(DEPTH):
            parts[j].append(_front(useful, j + 1))
    span = np.stack((first[:-1], first[1:]), axis=1)
    return Fronts(tuple(_padded(part) for part in parts), prefix, request, span)


@lru_cache(maxsize=256)
def _subsets(items: int, size: int) -> IntArray:
    return np.array(list(combinations(range(items), size)), np.int64).reshape(-1, size)


def _front(pods: IntArray, size: int) -> IntArray:
    if len(pods) < size:
        return np.empty((0, 2), np.int64)
    sums = pods[_subsets(len(pods), size)].sum(axis=1)
    sums = sums[np.lexsort((-sums[:, 1], -sums[:, 0]))]
    best = np.maximum.accumulate(sums[:, 1])
    keep = np.ones(len(sums), np.bool_)
    keep[1:] = sums[1:, 1] > best[:-1]
    front: IntArray = sums[keep]
    return front


def _padded(parts: list[IntArray]) -> IntArray:
    width = max((len(part) for part in parts), default=0)
    found = np.full((len(parts), max(1, width), 2), -1, np.int64)
    for i, part in enumerate(parts):
        found[i, : len(part)] = part
    return found
