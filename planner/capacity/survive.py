"""How many more pods fit so that any single failure still leaves nobody waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.capacity.count import placed_at
from planner.capacity.demand import Demand
from planner.cluster import Cluster
from planner.scenario import LoseNodes, apply_changes, outcome, settle
from planner.scenario.changes import Manner
from planner.scheduler.profile import Profile
from planner_models.node import HOSTNAME, ZONE

Failure = Literal["zone", "node"]
KEY: dict[Failure, str] = {"zone": ZONE, "node": HOSTNAME}
SEEDS = 3
"""Tie seeds that a number has to stand."""


@dataclass(frozen=True)
class Fails:
    """With so many sets more, losing the domain leaves pods waiting."""

    sets: int
    domain: str
    waiting: int


@dataclass(frozen=True)
class Surviving:
    """So many sets more survive each failure, tried under `seeds`; one more does not."""

    sets: int
    seeds: int
    fails_at: Fails | None
    fails_now: Fails | None = None


def surviving(
    cluster: Cluster,
    demands: Sequence[Demand],
    profile: Profile,
    *,
    failure: Failure,
    manner: Manner,
    most: int,
) -> Surviving | None:
    """The largest number that was found by halving; None with fewer than two domains.

    More pods leave less room, but ties may make one number luckier than the one below. So each is
    tried under several seeds, and has to stand all of them.
    """
    if len(cluster.topology(KEY[failure]).domains) < 2:
        return None

    def fails(sets: int) -> Fails | None:
        tried = (
            _fails(cluster, demands, profile, sets, seed, failure, manner) for seed in range(SEEDS)
        )
        return next((found for found in tried if found is not None), None)

    now = fails(0)
    if now is not None:
        return Surviving(0, SEEDS, now, fails_now=now)
    low, high, above = 0, most + 1, None
    while high - low > 1:
        middle = (low + high) // 2
        found = fails(middle)
        if found is None:
            low = middle
        else:
            high, above = middle, found
    return Surviving(low, SEEDS, above)


def _fails(
    cluster: Cluster,
    demands: Sequence[Demand],
    profile: Profile,
    sets: int,
    seed: int,
    failure: Failure,
    manner: Manner,
) -> Fails | None:
    """The worst failure, if any leaves pods waiting."""
    placed = placed_at(cluster, demands, profile, sets, seed=seed)
    if placed.stopped:
        return Fails(sets, "", 0)
    topology = placed.cluster.topology(KEY[failure])
    worst: Fails | None = None
    for number, domain in enumerate(topology.domains):
        nodes = np.flatnonzero(topology.domain_of == number).tolist()
        changed = apply_changes(placed.cluster, [LoseNodes(tuple(nodes), manner)])
        found = outcome(settle(changed, profile, seed=seed), profile)
        waiting = sum(max(0, each.waiting - each.waited) for each in found.workloads)
        if waiting and (worst is None or waiting > worst.waiting):
            worst = Fails(sets, domain, waiting)
    return worst
