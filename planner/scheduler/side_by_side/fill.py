"""All waiting pods in their order, in every lane, until nobody finds a node any more.

What `scenario.settle` does with pods that come in the order of their indexes, for many clusters at
once: a pod that found no node is tried again when another of its group has found one, and in the
end, over and over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

import numpy as np

from planner.cluster.topology import IntArray
from planner.scheduler.side_by_side.lanes import Lanes
from planner.scheduler.side_by_side.sample import Sample
from planner.scheduler.side_by_side.turn import Turn


@dataclass(frozen=True)
class Run:
    """Pods of one group that come one after the other."""

    group: int
    pods: tuple[int, ...]


def runs_of(
    pods: Iterable[int], group_of: Callable[[int], tuple[int, Hashable]]
) -> tuple[Run, ...]:
    """The queue, in which pods stand in the order in which they are tried.

    `group_of` is the group, and whatever else is to be told apart.
    """
    found = groupby(pods, key=group_of)
    return tuple(Run(group, tuple(each)) for (group, _), each in found)


def fill(
    sample: Sample,
    runs: Sequence[Run],
    sets: Sequence[Sequence[int]],
    seeds: Sequence[int],
    batch_of: IntArray | None = None,
) -> IntArray:
    """By lane and run: how many pods wait in the end. Each lane has its nodes and its seed.

    Where nodes of the sample come in batches, each is filled before the next one comes.
    """
    lanes = Lanes(sample, sets, batch_of)
    waiting: IntArray = np.tile(np.array([len(run.pods) for run in runs], np.int64), (len(sets), 1))
    for batch in range(1 if batch_of is None else int(batch_of.max()) + 1):
        if batch:
            lanes.come(batch)
        _fill(lanes, sample, runs, waiting, [Random(seed) if seed else None for seed in seeds])
    return waiting


def _fill(
    lanes: Lanes,
    sample: Sample,
    runs: Sequence[Run],
    waiting: IntArray,
    randoms: Sequence[Random | None],
) -> None:
    """Everybody who waits is tried, over and over, until nobody finds a node any more."""
    before: dict[int, list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        before[run.group].append(number)
        if waiting[:, before[run.group]].any():
            _turn(lanes, sample, run.group, waiting, before[run.group], randoms)
    helped = [i for i, run in enumerate(runs) if not sample.rules[run.group].local]
    landed = True
    while landed:
        landed = False
        for number in helped:
            if waiting[:, number].any():
                group = runs[number].group
                landed |= _turn(lanes, sample, group, waiting, [number], randoms)


def _turn(
    lanes: Lanes,
    sample: Sample,
    group: int,
    waiting: IntArray,
    runs: Sequence[int],
    randoms: Sequence[Random | None],
) -> bool:
    """Pods of these runs are tried until one finds no node; those that came first land first."""
    placed = Turn(lanes, sample.rules[group]).run(waiting[:, runs].sum(axis=1), randoms)
    landed = bool(placed.any())
    for run in runs:
        now = np.minimum(placed, waiting[:, run])
        waiting[:, run] -= now
        placed = placed - now
    return landed
