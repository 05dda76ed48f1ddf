"""Pods in hand find nodes, a whole domain at a time.

Landings fill the lowest domain first and never pass the rule of the moment: a domain that receives
ends at most maxSkew above the smallest count. Departures come before (see `realise`), and later
landings only raise the minimum, so whatever has landed stays admissible even if the rest of the
group finds no room.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work

Fill = Literal["spread", "pack"]
SMALL = 0.1
"""Of the mean node: pods below this fit in many places, so that where they may be matters more."""


def land_all(work: Work, task: Task, fill: Fill) -> None:
    """Lands as many of the pods in hand as find room."""
    main = task.main
    if main is None:
        _land_in(work, task, work.places.nodes(task.group), task.hand, fill)
        return
    rule, counts = task.rules[main], task.counts[main]
    shut = np.zeros(rule.size, np.bool_)
    while task.hand:
        domain, wanted = _lowest(counts, shut, rule.skew, task)
        if wanted <= 0:
            return
        nodes = work.places.nodes(task.group, rule, domain)
        if not _land_in(work, task, nodes, wanted, fill):
            shut[domain] = True


def _lowest(counts: IntArray, shut: BoolArray, skew: int, task: Task) -> tuple[int, int]:
    """The lowest open domain, and how many pods it takes before another is the lowest.

    The minimum is over all domains, shut ones too: a domain without room holds the others back.
    """
    open_ = np.where(shut, np.iinfo(np.int64).max, counts)
    domain = int(open_.argmin())
    if shut[domain]:
        return domain, 0
    others = np.delete(counts, domain)
    rest = int(others.min()) if len(others) else int(counts[domain]) + task.hand
    room = rest + skew - int(counts[domain])
    level = np.delete(open_, domain)
    until = int(level.min()) - int(counts[domain]) if len(level) else task.hand
    return domain, min(room, max(1, until), task.hand)


def _land_in(work: Work, task: Task, open_: IntArray, wanted: int, fill: Fill) -> int:
    """Lands up to `wanted` pods on open nodes with room; how many did."""
    landed = 0
    while landed < wanted:
        nodes = open_[fits(work, task, open_)]
        caps = _host_caps(task, nodes)
        nodes, caps = nodes[caps > 0], caps[caps > 0]
        if not len(nodes):
            break
        for node, pods in _choose(work, task, nodes, caps, wanted - landed, fill):
            work.land(task, node, pods)
            landed += pods
        if fill != "spread":
            break
    return landed


def order_of(work: Work, task: Task) -> tuple[bool, int, float, int]:
    """Big pods first; small ones by how few nodes they may be on."""
    small = task.size < SMALL
    return small, len(work.places.nodes(task.group)) if small else 0, -task.size, task.group


def fits(work: Work, task: Task, nodes: IntArray) -> BoolArray:
    """Which of the nodes have room for one more pod, in every resource that it asks for."""
    inside = np.ones(len(nodes), np.bool_)
    for r in task.needs:
        inside &= work.free[nodes, r] >= task.request[r]
    return inside


def _host_caps(task: Task, nodes: IntArray) -> IntArray:
    """How many pods rules over hosts still admit on each node."""
    caps = np.full(len(nodes), task.hand)
    for i in task.caps:
        caps = np.minimum(caps, cap_room(task, i, nodes))
    return caps


def cap_room(task: Task, i: int, nodes: IntArray) -> IntArray:
    """Room up to the smallest count plus maxSkew; the minimum of the moment is on the safe side."""
    rule, counts = task.rules[i], task.counts[i]
    return int(counts.min()) + rule.skew - counts[rule.domain_of[nodes]]


def _choose(
    work: Work, task: Task, nodes: IntArray, caps: IntArray, wanted: int, fill: Fill
) -> list[tuple[int, int]]:
    """`spread`: one pod each on the emptiest nodes; `pack`: as many as fit on the fullest.

    Packing leaves nodes alone that others have to share, as long as there are different ones.
    """
    room = (work.free[nodes][:, task.needs] * work.scale[task.needs]).min(axis=1)
    if fill == "spread":
        if wanted < len(nodes):
            chosen = np.argpartition(-room, wanted - 1)[:wanted]
        else:
            chosen = np.arange(len(nodes))
        return [(int(n), 1) for n in nodes[chosen]]
    order = np.lexsort((room, work.pressure[nodes]))
    nodes, caps = nodes[order], caps[order]
    slots = np.minimum(
        caps, (work.free[nodes][:, task.needs] // task.request[task.needs]).min(axis=1)
    )
    before = np.cumsum(slots) - slots
    take = np.clip(wanted - before, 0, slots)
    return [(int(n), int(t)) for n, t in zip(nodes[take > 0], take[take > 0], strict=True)]
