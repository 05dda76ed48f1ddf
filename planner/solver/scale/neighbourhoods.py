"""Large neighbourhoods: the nodes around an eviction that the closed form does not ask for.

Such evictions make room for others. Whether one of them can be spared is decided exactly within a
window: the node that was opened, those on which its pods landed, other opened nodes nearby, and the
emptiest nodes on which its new pods might be instead. One window after the other, until a round
over all of them has brought nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.repair import repair_part
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work

EMPTIEST = 8
OPENED = 3
LANDED = 4


def repair_around(fresh: Work, best: Incumbent, seconds: float) -> None:
    """Windows around opened nodes as long as they help; nothing if pods are left without a node."""
    tried: set[bytes] = set()
    until = best.clock.spent + seconds
    while best.open and not best.best.open and best.clock.spent < until:
        before = best.best.key
        for inside in _windows(best.work):
            if inside.tobytes() in tried:
                continue
            tried.add(inside.tobytes())
            repair_part(fresh, best, inside)
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
