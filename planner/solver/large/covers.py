"""The fewest pods whose departure covers a shortage of several resources.

The largest pods of each resource alone say how many it takes at the least; taking what helps most
again and again says how many are enough. Where the two differ, all sums that matter are looked at:
pod by pod, the sums of k pods that no other sum of k pods beats, none counted beyond the shortage.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray


def fewest(request: IntArray, short: IntArray) -> list[int]:
    """Which pods, `request[i]` each; none where nothing is short or all together are not enough."""
    asked = short > 0
    need = short[asked]
    amount = np.minimum(request[:, asked], need)
    if not asked.any() or (amount.sum(axis=0) < need).any():
        return []
    enough = _greedy(amount, need)
    if len(enough) > _at_least(amount, need):
        return _fewer(amount, need, len(enough) - 1) or enough
    return enough


def undominated(pods: IntArray, depth: int) -> BoolArray:
    """Pods that fewer than `depth` others beat: a set of `depth` can do without all the rest.

    A pod with `depth` or more that are at least as large (ties by position) can be exchanged for
    one of these that is not in the set yet.
    """
    if len(pods) <= depth:
        return np.ones(len(pods), np.bool_)
    as_large = (pods[:, None, :] >= pods[None, :, :]).all(axis=2)
    equal = (pods[:, None, :] == pods[None, :, :]).all(axis=2)
    before = np.arange(len(pods))[:, None] < np.arange(len(pods))[None, :]
    beaten: IntArray = (as_large & (~equal | before)).sum(axis=0)
    useful: BoolArray = beaten < depth
    return useful


def _at_least(amount: IntArray, need: IntArray) -> int:
    """By each resource alone."""
    total = np.cumsum(np.sort(amount, axis=0)[::-1], axis=0)
    return int((total < need).sum(axis=0).max()) + 1


def _greedy(amount: IntArray, need: IntArray) -> list[int]:
    """Always the pod that covers most of what is left."""
    found: list[int] = []
    left, alive = need.copy(), np.ones(len(amount), np.bool_)
    while (left > 0).any():
        gain = (np.minimum(amount, np.maximum(left, 0)) / need).sum(axis=1)
        found.append(int(np.where(alive, gain, -1.0).argmax()))
        alive[found[-1]] = False
        left = left - amount[found[-1]]
    return found


def _fewer(amount: IntArray, need: IntArray, most: int) -> list[int] | None:
    """The fewest pods, if `most` are enough."""
    pods = np.flatnonzero(undominated(amount, most)).tolist()
    nothing = np.zeros((1, len(need)), np.int64)
    steps = [[nothing, *[nothing[:0]] * most]]
    for pod in pods:
        before = steps[-1]
        more = [np.minimum(sums + amount[pod], need) for sums in before[:-1]]
        both = (np.concatenate(pair) for pair in zip(before[1:], more, strict=True))
        steps.append([nothing, *map(_front, both)])
    for count, sums in enumerate(steps[-1]):
        if _holds(sums, need):
            return _chosen(steps, pods, amount, need, count)
    return None


def _front(sums: IntArray) -> IntArray:
    """The sums that no other one beats."""
    sums = np.unique(sums, axis=0)
    front: IntArray = sums[undominated(sums, 1)]
    return front


def _holds(sums: IntArray, wanted: IntArray) -> bool:
    return bool((sums == wanted).all(axis=1).any())


def _chosen(
    steps: list[list[IntArray]], pods: list[int], amount: IntArray, need: IntArray, count: int
) -> list[int]:
    """From the last pod back: who is in the sum."""
    found: list[int] = []
    at = need
    for i in reversed(range(len(pods))):
        if _holds(steps[i][count], at):
            continue
        before = steps[i][count - 1]
        reached = (np.minimum(before + amount[pods[i]], need) == at).all(axis=1)
        at, count = before[int(reached.argmax())], count - 1
        found.append(pods[i])
    return found
