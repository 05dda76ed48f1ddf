"""Large neighbourhoods: nodes that are decided anew together, everything else staying as it is.

Three sorts of windows, each solved exactly:

    roomy    for pods without a node: the nodes with most room, of one resource or the other
    narrow   around an eviction that the closed form does not ask for, since it made room for
             others: the node, those on which its pods landed, other opened nodes nearby, and the
             emptiest nodes on which its new pods might be instead
    wide     most of the opened nodes, and others drawn at random: where room of one resource is on
             other nodes than that of the next one, several evictions can only be spared together
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.kernel import repair_part
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work

Repair = Callable[[BoolArray, float], None]
"""Decides some nodes anew, in so many seconds."""

EMPTIEST = 8
OPENED = 3
LANDED = 4
ROOMY = (20, 40)
"""Nodes of the windows for pods without a node, one after the other until they have one."""
WIDE = 22
"""Nodes of a wide window; two thirds of them opened ones, if there are so many."""
ATTEMPTS = 4
"""Wide windows in a row that may bring nothing."""
SECONDS = 8.0
"""The most for one window: another one is worth more than the last branches of this one."""


def repair_roomy(fresh: Work, best: Incumbent) -> None:
    """Windows for pods that are left without a node."""
    for size in ROOMY:
        if not best.best.open or best.clock.over:
            return
        repair_part(fresh, best, _roomy(best.work, size), min(SECONDS, best.clock.left / 2))
        best.report()


def _roomy(work: Work, size: int) -> BoolArray:
    """The first nodes of several rankings in turn: by resource, for the biggest pods and for all.

    Pods that leave for the big ones land on nodes that the big ones may not use, or not fill.
    """
    hand = sorted((t for t in work.tasks.values() if t.hand), key=lambda t: (-t.size, t.group))
    everywhere = np.arange(len(work.free))
    rankings: list[IntArray] = []
    for task in hand[:OPENED]:
        share = task.request * work.scale
        for r in np.flatnonzero(4 * share >= share.max(initial=0.0)).tolist():
            rankings.extend(
                nodes[np.lexsort((nodes, -work.free[nodes, r]))]
                for nodes in (work.places.nodes(task.group), everywhere)
            )
    inside = np.zeros(len(work.free), np.bool_)
    for rank in range(len(work.free)):
        for nodes in rankings:
            if rank < len(nodes) and inside.sum() < size:
                inside[nodes[rank]] = True
    return inside


def repair_widely(best: Incumbent, seconds: float, repair: Repair) -> None:
    """Wide windows until several in a row have brought nothing."""
    draw = np.random.default_rng(best.work.problem.options.seed)
    until, failed = best.clock.spent + seconds, 0
    while best.open and not best.best.open and failed < ATTEMPTS and best.clock.spent < until:
        before = best.best.key
        inside = _wide(best.work, draw)
        if inside is None:
            return
        repair(inside, min(SECONDS, until - best.clock.spent))
        best.report()
        failed = failed + 1 if best.best.key == before else 0


def _wide(work: Work, draw: np.random.Generator) -> BoolArray | None:
    """Opened nodes that could be exchanged for one of them, then others for the same pods."""
    opened, landed = _opened(work), _landed(work)
    nodes = np.array(sorted(opened), np.int64)
    if not len(nodes):
        return None
    nodes = draw.permutation(nodes)
    first = int(nodes[0])
    near = np.array([n == first or _alike(work, landed, n, first) for n in nodes.tolist()])
    nodes = np.concatenate((nodes[near], nodes[~near]))
    inside = np.zeros(len(work.free), np.bool_)
    inside[nodes[: min(2 * WIDE // 3, -(-2 * len(nodes) // 3))]] = True
    open_ = np.zeros(len(work.free), np.bool_)
    for task in (*opened[first], *landed.get(first, ())):
        open_ |= work.landing(task)
    others = draw.permutation(np.flatnonzero(open_ & ~inside))
    inside[others[: WIDE - int(inside.sum())]] = True
    return inside


def repair_around(best: Incumbent, seconds: float, repair: Repair) -> None:
    """Narrow windows as long as they help; nothing if pods are left without a node."""
    tried: set[bytes] = set()
    until = best.clock.spent + seconds
    while best.open and not best.best.open and best.clock.spent < until:
        before = best.best.key
        for inside in _windows(best.work):
            if inside.tobytes() in tried:
                continue
            tried.add(inside.tobytes())
            repair(inside, min(SECONDS, until - best.clock.spent))
            best.report()
            if best.best.key < before or best.clock.spent >= until:
                break
        else:
            return


def _windows(work: Work) -> Iterator[BoolArray]:
    """From the nodes whose new pods are smallest: there room should have been found otherwise."""
    opened = _opened(work)
    landed = _landed(work)
    nodes = sorted(opened, key=lambda n: (max((t.size for t in landed.get(n, ())), default=0.0), n))
    for node in nodes:
        inside = np.zeros(len(work.free), np.bool_)
        inside[node] = True
        inside[[n for task in opened[node] for n in _new_places(task)[:LANDED]]] = True
        for task in landed.get(node, ()):
            inside[_emptiest(work, task)] = True
        alike = [n for n in nodes if n != node and _alike(work, landed, n, node)]
        inside[alike[:OPENED]] = True
        yield inside


def _opened(work: Work) -> dict[int, list[Task]]:
    """Nodes that groups left more often than their own rules ask for."""
    found: dict[int, list[Task]] = {}
    for group in sorted(work.touched):
        task = work.tasks[group]
        if task.moved > task.bound:
            for node, was in task.start.items():
                if task.now.get(node, 0) < was:
                    found.setdefault(node, []).append(task)
    return found


def _landed(work: Work) -> dict[int, list[Task]]:
    """What landed where."""
    found: dict[int, list[Task]] = {}
    for group in sorted(work.touched):
        task = work.tasks[group]
        for node in _new_places(task):
            found.setdefault(node, []).append(task)
    return found


def _new_places(task: Task) -> list[int]:
    return sorted(n for n, pods in task.now.items() if pods > task.start.get(n, 0))


def _alike(work: Work, landed: dict[int, list[Task]], one: int, other: int) -> bool:
    """Whether what landed on the other node may be on this one."""
    return any(work.landing(task)[one] for task in landed.get(other, ()))


def _emptiest(work: Work, task: Task) -> IntArray:
    nodes = work.places.nodes(task.group)
    room = (work.free[np.ix_(nodes, task.needs)] * work.scale[task.needs]).min(axis=1)
    return nodes[np.lexsort((nodes, -room))[:EMPTIEST]]
