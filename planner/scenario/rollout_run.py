"""How a rollout ended."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.spread import (
    counts_by_domain,
    excess,
    hard_constraints_of,
    nodes_counted_for,
)
from planner.scenario.controller_run import ControllerRun


@dataclass(frozen=True)
class SpreadEnd:
    """A hard spread constraint of the new pods: what its domains have in the end.

    `excess` are the pods over the limit.
    """

    topology_key: str
    domains: tuple[str, ...]
    counts: tuple[int, ...]
    excess: int


@dataclass(frozen=True, eq=False)
class RolloutEnd:
    """One rollout under one seed, assuming that pods which have a node become ready.

    `complete` if all `of` pods are of the new template, ready, and no other is left but those that
    a partition keeps. Otherwise nothing changes any more: `waiting` pods find no node, and
    `message` is what kube-scheduler says of the first of them; or, where none waits, what holds the
    controller up. `most_down` pods were missing at most, at any time.
    """

    complete: bool
    replaced: int
    of: int
    waiting: tuple[int, ...]
    message: str
    most_down: int
    spread: tuple[SpreadEnd, ...]
    updated: tuple[int, ...]
    """The pods of the new template."""

    @property
    def excess(self) -> int:
        """Pods over the limits of the new pods' spread constraints."""
        return sum(each.excess for each in self.spread)


@dataclass(frozen=True, eq=False)
class RolloutRun(RolloutEnd):
    """The same, with the snapshot as it is then."""

    ended: Cluster


@dataclass(frozen=True)
class Work:
    """What a controller had to do: of all `pods` of the workload `wanted` are to be updated ones.

    `kept` are those that stay as they are, and `held_up` says what the controller waits for, if no
    pod waits for a node.
    """

    pods: Sequence[int]
    updated: Sequence[int]
    wanted: int
    most_down: int
    kept: Collection[int] = ()
    held_up: str = ""


def rollout_run(run: ControllerRun, ended: Cluster, work: Work) -> RolloutRun:
    """What there is to say of a run that has come to rest, and the snapshot."""
    return RolloutRun(**vars(rollout_end(run, ended, work)), ended=ended)


def rollout_end(run: ControllerRun, ended: Cluster, work: Work) -> RolloutEnd:
    """What there is to say of a run that has come to rest."""
    there = run.there(work.pods)
    mine = tuple(run.there(work.updated))
    replaced = sum(run.ready(pod) for pod in mine)
    waiting = tuple(pod for pod in there if ended.node_of[pod] == PENDING)
    complete = replaced == sum(pod not in work.kept for pod in there) == work.wanted
    return RolloutEnd(
        complete=complete,
        replaced=replaced,
        of=work.wanted,
        waiting=waiting,
        message=run.message(waiting[0]) if waiting else "" if complete else work.held_up,
        most_down=work.most_down,
        spread=_spread(ended, mine),
        updated=mine,
    )


def _spread(ended: Cluster, pods: Sequence[int]) -> tuple[SpreadEnd, ...]:
    constraints = hard_constraints_of(ended, np.unique(ended.group_of[list(pods)]))
    found = []
    for each in constraints:
        counts, topology = (
            counts_by_domain(nodes_counted_for(ended, each), each),
            each.scope.topology,
        )
        domains = np.flatnonzero(each.scope.domains).tolist()
        found.append(
            SpreadEnd(
                topology.key,
                tuple(topology.domains[d] for d in domains),
                tuple(counts[domains].tolist()),
                int(excess(counts, each).sum()),
            )
        )
    return tuple(found)
