"""Large neighbourhoods: nodes that are decided anew together, everything else staying as it is.

Two sorts of windows, each solved exactly:

    roomy    for pods without a node: the nodes with most room, of one resource or the other
    narrow   around an eviction that the closed form does not ask for, since it made room for
             others: the node, those on which its pods landed, other opened nodes nearby, and the
             emptiest nodes on which its new pods might be instead
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.incumbent import Incumbent
from planner.solver.large.kernel_search import repair_part
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.state import State


def repair_roomy(fresh: State, best: Incumbent) -> None:
    """Windows for pods that are left without a node."""
    for size in tuning.ROOMY_WINDOWS:
        if not best.best.open or best.clock.over:
            return
        seconds = min(tuning.WINDOW_SECONDS, best.clock.left / 2)
        repair_part(fresh, best, _roomy(best.state, size), seconds)
        best.report()


def _roomy(state: State, size: int) -> BoolArray:
    """The first nodes of several rankings in turn: by resource, for the biggest pods and for all.

    Pods that leave for the big ones land on nodes that the big ones may not use, or not fill.
    """
    hand = sorted((t for t in state.tasks.values() if t.hand), key=lambda t: (-t.size, t.group))
    everywhere = np.arange(len(state.free))
    rankings: list[IntArray] = []
    for task in hand[: tuning.WINDOW_OPENED]:
        share = task.request * state.scale
        for r in np.flatnonzero(4 * share >= share.max(initial=0.0)).tolist():
            rankings.extend(
                nodes[np.lexsort((nodes, -state.free[nodes, r]))]
                for nodes in (state.places.nodes(task.group), everywhere)
            )
    inside = np.zeros(len(state.free), np.bool_)
    for rank in range(len(state.free)):
        for nodes in rankings:
            if rank < len(nodes) and inside.sum() < size:
                inside[nodes[rank]] = True
    return inside


def repair_around(fresh: State, best: Incumbent, seconds: float) -> None:
    """Narrow windows as long as they help; nothing if pods are left without a node."""
    tried: set[bytes] = set()
    until = best.clock.spent + seconds
    while best.open and not best.best.open and best.clock.spent < until and not best.clock.late:
        before = best.best.key
        for inside in _windows(best.state):
            if inside.tobytes() in tried:
                continue
            tried.add(inside.tobytes())
            repair_part(fresh, best, inside, min(tuning.WINDOW_SECONDS, until - best.clock.spent))
            best.report()
            if best.best.key < before or best.clock.spent >= until or best.clock.late:
                break
        else:
            return


def _windows(state: State) -> Iterator[BoolArray]:
    """From the nodes whose new pods are smallest: there room should have been found otherwise."""
    opened = _opened(state)
    landed = _landed(state)
    nodes = sorted(opened, key=lambda n: (max((t.size for t in landed.get(n, ())), default=0.0), n))
    for node in nodes:
        inside = np.zeros(len(state.free), np.bool_)
        inside[node] = True
        inside[[n for task in opened[node] for n in _new_places(task)[: tuning.WINDOW_LANDED]]] = (
            True
        )
        for task in landed.get(node, ()):
            inside[_emptiest(state, task)] = True
        alike = [n for n in nodes if n != node and _alike(state, landed, n, node)]
        inside[alike[: tuning.WINDOW_OPENED]] = True
        yield inside


def _opened(state: State) -> dict[int, list[PlainGroup]]:
    """Nodes that groups left more often than their own rules ask for."""
    found: dict[int, list[PlainGroup]] = {}
    for group in sorted(state.touched):
        task = state.tasks[group]
        if task.moved > task.bound:
            for node, was in task.start.items():
                if task.now.get(node, 0) < was:
                    found.setdefault(node, []).append(task)
    return found


def _landed(state: State) -> dict[int, list[PlainGroup]]:
    """What landed where."""
    found: dict[int, list[PlainGroup]] = {}
    for group in sorted(state.touched):
        task = state.tasks[group]
        for node in _new_places(task):
            found.setdefault(node, []).append(task)
    return found


def _new_places(task: PlainGroup) -> list[int]:
    return sorted(n for n, pods in task.now.items() if pods > task.start.get(n, 0))


def _alike(state: State, landed: dict[int, list[PlainGroup]], one: int, other: int) -> bool:
    """Whether what landed on the other node may be on this one."""
    return any(state.landing(task)[one] for task in landed.get(other, ()))


def _emptiest(state: State, task: PlainGroup) -> IntArray:
    nodes = state.places.nodes(task.group)
    room = (state.free[np.ix_(nodes, task.needs)] * state.scale[task.needs]).min(axis=1)
    return nodes[np.lexsort((nodes, -room))[: tuning.WINDOW_EMPTIEST]]
