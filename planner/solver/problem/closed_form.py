"""The fewest moves that one spread constraint alone asks for, in closed form, for many groups.

For a group with counts c over k eligible domains, p pods to place, maxSkew s and forced departures
e, every final state without excess has a smallest count of at least some L and no count above
L + s, so with T = sum(c) + p:

    max(0, ceil(T / k) - s) <= L <= floor(T / k)
    F_d   = max(e_d, c_d - L - s, 0)             pods that have to leave domain d
    D     = sum over d of max(0, L - c_d + F_d)  places that have to be filled
    moves = sum(F) + max(0, D - p - sum(F))      what p and F don't fill needs further departures

The least over L is a lower bound: each term counts departures that every final state with this L
has, whatever capacity and other rules say. Forced departures are those of pods that break a static
rule where they run. Pods on nodes that take no part (`outside`) may come in to fill places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray

IMPOSSIBLE = 1 << 40
AT_ONCE = 1 << 17
"""Groups times domains that are looked at together: these arrays stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Per group: the bound, the L that reaches it, and F per domain.

    `moves` is IMPOSSIBLE where no L is within what may leave: excess then remains, and nothing is
    claimed for the group.
    """

    moves: IntArray
    low: IntArray
    leave: IntArray


def targets(
    counts: IntArray, fixed: IntArray, forced: IntArray, arriving: IntArray, skew: IntArray
) -> Targets:
    """`counts[g, d]` movable pods, `fixed[g, d]` others that count, `forced[g, d]` of the movable.

    `arriving[g]` pods to place, `skew[g]`. Of several best L the largest is taken: it leaves the
    most room above.
    """
    step = max(1, AT_ONCE // max(1, counts.shape[1]))
    parts = [
        _targets(*(a[i : i + step] for a in (counts, fixed, forced, arriving, skew)))
        for i in range(0, max(1, len(counts)), step)
    ]
    return Targets(
        np.concatenate([part.moves for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.leave for part in parts]),
    )


def _targets(
    counts: IntArray, fixed: IntArray, forced: IntArray, arriving: IntArray, skew: IntArray
) -> Targets:
    now = counts + fixed
    total = now.sum(axis=1) + arriving
    domains = now.shape[1]
    top = total // domains
    bottom = np.maximum(0, -(-total // domains) - skew)
    best = np.full(len(now), IMPOSSIBLE)
    low, leave = top.copy(), np.zeros_like(now)
    for back in range(int((top - bottom).max(initial=0)) + 1):
        at = top - back
        ceiling = (at + skew)[:, None]
        out = np.maximum(np.maximum(forced, now - ceiling), 0)
        fill = np.maximum(0, at[:, None] - now + out).sum(axis=1)
        leaving = out.sum(axis=1)
        moves = leaving + np.maximum(0, fill - arriving - leaving)
        allowed = (at >= bottom) & (out <= counts).all(axis=1)
        better = allowed & (moves < best)
        best = np.where(better, moves, best)
        low = np.where(better, at, low)
        leave[better] = out[better]
    return Targets(best, low, leave)
