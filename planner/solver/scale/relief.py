"""Room for many small pods at once: a large pod leaves the crowded nodes for others that have room.

Where pods that fit nearly anywhere find no room in the domain or pool that they need, evicting the
smallest sufficient pod for each of them costs a move per pod. One large pod that can go elsewhere
at once makes room for several.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.holes import admissible
from planner.solver.scale.landing import fits, land_all
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work

TRIES = 60


def relieve(work: Work, task: Task) -> None:
    """Moves large pods out of the way of a task in hand, as long as each of them helps."""
    while task.hand:
        open_ = work.landing(task) & admissible(task, len(work.free))
        if not _send_away(work, task, open_):
            return
        before = task.hand
        land_all(work, task, "pack")
        if task.hand == before:
            return


def _send_away(work: Work, task: Task, open_: BoolArray) -> bool:
    """The largest pod on these nodes that has room elsewhere and whose room is enough."""
    cells = np.flatnonzero((work.left > 0) & open_[work.cells.node])
    sizes = _sizes(work)[work.cells.group[cells]]
    roomy: dict[int, IntArray] = {}
    for cell in cells[np.lexsort((cells, -sizes))][:TRIES].tolist():
        other, node = work.tasks.get(int(work.cells.group[cell])), int(work.cells.node[cell])
        if other is None or other is task or other.hand:
            continue
        gained = work.free[node] + other.request
        if (gained[task.needs] < task.request[task.needs]).any():
            continue
        if other.group not in roomy:
            roomy[other.group] = _roomy(work, other, ~open_)
        if len(roomy[other.group]) and _moved(work, other, node, roomy[other.group]):
            return True
    return False


def _sizes(work: Work) -> NDArray[np.float64]:
    """By group; 0 for those that were left aside."""
    found = np.zeros(len(work.problem.cluster.groups))
    for group, task in work.tasks.items():
        found[group] = task.size
    return found


def _roomy(work: Work, task: Task, among: BoolArray) -> IntArray:
    """Nodes that have room for a pod; which of them its rules admit depends on who leaves."""
    nodes = np.flatnonzero(work.landing(task) & among)
    return nodes[fits(work, task, nodes)]


def _moved(work: Work, other: Task, node: int, roomy: IntArray) -> bool:
    """Evicts a pod and lands it on one of these nodes, or leaves everything as it was."""
    work.evict(other, node)
    nodes = roomy[admissible(other, len(work.free))[roomy]]
    if not len(nodes):
        work.put_back(other, node, 1)
        return False
    room = (work.free[nodes][:, other.needs] * work.scale[other.needs]).min(axis=1)
    work.land(other, int(nodes[np.lexsort((nodes, room, work.pressure[nodes]))[0]]))
    return True
