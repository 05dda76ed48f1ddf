"""Changes with which a drain is possible, smallest first, each carried out on a copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.drain.blocked import Obstacle
from planner.drain.find import Drain
from planner.drain.helps import (
    budgets,
    fewer_nodes,
    options,
    replicas,
    rollout_restart,
    rules,
)
from planner_models.diagnosis import Repair


def helps_for(drain: Drain, obstacles: Sequence[Obstacle]) -> tuple[Repair, ...]:
    """What helps against everything that stands in the way, not only against a part of it."""
    if drain.status == "possible":
        return ()
    found = [repair for propose in _WAYS for repair in propose(drain, obstacles)]
    return tuple(sorted(found, key=_rank))


def _rank(repair: Repair) -> tuple[object, ...]:
    return repair.data_loss, repair.cost, repair.kind, repair.text


def _fewer(drain: Drain, _: Sequence[Obstacle]) -> Iterator[Repair]:
    return fewer_nodes.propose(drain)


_WAYS = (
    _fewer,
    rollout_restart.propose,
    replicas.propose,
    options.propose,
    budgets.propose,
    rules.propose,
)
