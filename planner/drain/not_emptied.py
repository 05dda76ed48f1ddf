"""Why nodes that `planner evict` was to empty keep pods, or were not chosen for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.disruption.movability import WITH_THEIR_NODE, Movability
from planner.drain.blocked import Obstacle, obstacles, why_no_node
from planner.drain.find import Drain
from planner.drain.leaving import Leaving
from planner.drain.options import DrainOptions
from planner.evictions.emptying import Emptying
from planner.evictions.suggestion import Suggestion

EXPLAINED = 10
"""Nodes that a consolidation left alone because pods find no place: so many are explained."""


@dataclass(frozen=True)
class Kept:
    """Pods of a node that stay there, and what keeps them."""

    node: int
    pods: tuple[int, ...]
    reason: str


def not_emptied(found: Suggestion) -> tuple[Kept, ...]:
    """Nodes to be emptied that are not; then those that a consolidation left alone."""
    return (*_left(found), *_not_chosen(found))


def _left(found: Suggestion) -> Iterator[Kept]:
    drain = _as_drain(found)
    if not drain.leaving.kept and not drain.stuck:
        return
    for each in obstacles(drain):
        by_node: dict[int, list[int]] = {}
        for pod in each.pods:
            by_node.setdefault(int(found.start.node_of[pod]), []).append(pod)
        for node, pods in sorted(by_node.items()):
            yield Kept(node, tuple(pods), _reason(each))


def _reason(obstacle: Obstacle) -> str:
    """With the budget by name: the text is read without a place beside it."""
    if obstacle.by in ("budgetNever", "severalBudgets"):
        return f"{obstacle.object}: {obstacle.text}"
    return obstacle.short or obstacle.text


def _as_drain(found: Suggestion) -> Drain:
    """The suggestion as a drain of its nodes; who nobody asked about is no obstacle."""
    movability = Movability(found.start, found.options.protection.policy)
    evicted = {pod for wave in found.tried.waves for pod in wave.evictions}
    kept, stuck = {}, []
    for pod in np.flatnonzero(np.isin(found.start.node_of, found.aim.drained)).tolist():
        why = movability.why(pod)
        if pod in evicted or (why is not None and why.kind in WITH_THEIR_NODE):
            continue
        if why is not None:
            kept[pod] = why
        elif pod not in found.protected:
            stuck.append(pod)
    return Drain(
        given=found.given,
        start=found.start,
        aim=found.aim,
        profile=found.profile,
        options=DrainOptions(found.aim.drained),
        leaving=Leaving(tuple(stuck), (), kept, {}),
        emptying=Emptying(found.aim, found.profile, found.budgets, ()),
        tried=found.tried,
        stuck=tuple(stuck),
    )


def _not_chosen(found: Suggestion) -> Iterator[Kept]:
    """The reason of one pod is reason enough to leave a node alone."""
    emptied = found.emptied
    if emptied is None:
        return
    for node in sorted(emptied.kept):
        there = found.start.pods_on(node).tolist()
        pods = [pod for pod in there if pod in found.protected]
        reasons = {found.protected[pod]: pod for pod in reversed(pods)}
        if reasons and "consolidate" in found.options.goals:
            reason, pod = next(reversed(reasons.items()))
            yield Kept(node, (pod,), reason)
    for node, refused in list(emptied.refused.items())[:EXPLAINED]:
        text = why_no_node(refused.ended, found.profile, refused.pod)
        yield Kept(node, (refused.pod,), text)
