"""The greedy placement: departures that the closed form asks for, then landings, big pods first.

Which pods of a domain leave is free to choose for interchangeable pods: those on the fullest nodes
go. Landings fill the lowest domain first and never pass the rule of the moment: a domain that
receives ends at most maxSkew above the smallest count. Later landings only raise the minimum, so
whatever has landed stays admissible even if the rest of the group finds no room.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.state import State

Fill = Literal["spread", "pack"]


def land_all(state: State, task: PlainGroup, fill: Fill) -> None:
    """Lands as many of the pods in hand as find room."""
    main = task.main
    if main is None:
        _land_in(state, task, state.places.nodes(task.group), task.hand, fill)
        return
    rule, counts = task.rules[main], task.counts[main]
    shut = np.zeros(rule.size, np.bool_)
    while task.hand:
        domain, wanted = _lowest(counts, shut, rule.skew, task)
        if wanted <= 0:
            return
        nodes = state.places.nodes(task.group, rule, domain)
        if not _land_in(state, task, nodes, wanted, fill):
            shut[domain] = True


def _lowest(counts: IntArray, shut: BoolArray, skew: int, task: PlainGroup) -> tuple[int, int]:
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


def _land_in(state: State, task: PlainGroup, open_: IntArray, wanted: int, fill: Fill) -> int:
    """Lands up to `wanted` pods on open nodes with room; how many did."""
    landed = 0
    while landed < wanted:
        nodes = open_[fits(state, task, open_)]
        caps = _host_caps(task, nodes)
        nodes, caps = nodes[caps > 0], caps[caps > 0]
        if not len(nodes):
            break
        for node, pods in _choose(state, task, nodes, caps, wanted - landed, fill):
            state.land(task, node, pods)
            landed += pods
        if fill != "spread":
            break
    return landed


def order_of(state: State, task: PlainGroup) -> tuple[bool, int, float, int]:
    """Big pods first; small ones by how few nodes they may be on."""
    small = task.size < tuning.SMALL_POD
    return small, len(state.places.nodes(task.group)) if small else 0, -task.size, task.group


def fits(state: State, task: PlainGroup, nodes: IntArray) -> BoolArray:
    """Which of the nodes have room for one more pod, in every resource that it asks for."""
    inside = np.ones(len(nodes), np.bool_)
    for r in task.needs:
        inside &= state.free[nodes, r] >= task.request[r]
    return inside


def _host_caps(task: PlainGroup, nodes: IntArray) -> IntArray:
    """How many pods rules over hosts still admit on each node."""
    caps = np.full(len(nodes), task.hand)
    for i in task.caps:
        caps = np.minimum(caps, cap_room(task, i, nodes))
    return caps


def cap_room(task: PlainGroup, i: int, nodes: IntArray) -> IntArray:
    """Room up to the smallest count plus maxSkew; the minimum of the moment is on the safe side."""
    rule, counts = task.rules[i], task.counts[i]
    return int(counts.min()) + rule.skew - counts[rule.domain_of[nodes]]


def _choose(
    state: State, task: PlainGroup, nodes: IntArray, caps: IntArray, wanted: int, fill: Fill
) -> list[tuple[int, int]]:
    """`spread`: one pod each on the emptiest nodes; `pack`: as many as fit on the fullest.

    Packing leaves nodes alone that others have to share, as long as there are different ones.
    """
    room = (state.free[nodes][:, task.needs] * state.scale[task.needs]).min(axis=1)
    if fill == "spread":
        if wanted < len(nodes):
            chosen = np.argpartition(-room, wanted - 1)[:wanted]
        else:
            chosen = np.arange(len(nodes))
        return [(int(n), 1) for n in nodes[chosen]]
    order = np.lexsort((room, state.pressure[nodes]))
    nodes, caps = nodes[order], caps[order]
    slots = np.minimum(
        caps, (state.free[nodes][:, task.needs] // task.request[task.needs]).min(axis=1)
    )
    before = np.cumsum(slots) - slots
    take = np.clip(wanted - before, 0, slots)
    return [(int(n), int(t)) for n, t in zip(nodes[take > 0], take[take > 0], strict=True)]


def depart(state: State, task: PlainGroup) -> None:
    """Takes into the hand what has to leave: forced pods, overfull hosts, overfull domains."""
    for node, pods in task.forced.items():
        state.evict(task, node, min(pods, state.remaining(task, node)))
    for i in task.caps:
        _lower_hosts(state, task, i)
    if task.main is not None:
        _lower_domains(state, task, task.main)


def _lower_hosts(state: State, task: PlainGroup, i: int) -> None:
    rule, counts = task.rules[i], task.counts[i]
    high = task.low[i] + rule.skew
    for node in sorted(task.start):
        over = int(counts[rule.domain_of[node]]) - high
        if over > 0:
            state.evict(task, node, min(over, state.remaining(task, node)))


def _lower_domains(state: State, task: PlainGroup, i: int) -> None:
    """Down to low + maxSkew everywhere, then further from the highest while others lack pods."""
    rule, counts, low = task.rules[i], task.counts[i], task.low[i]
    for domain in np.flatnonzero(counts > low + rule.skew).tolist():
        take(state, task, i, domain, int(counts[domain]) - low - rule.skew)
    while (lacking := int(np.maximum(low - counts, 0).sum()) - task.hand) > 0:
        domain = int(counts.argmax())
        spare = int(counts[domain]) - low
        if spare <= 0:
            return
        if not take(state, task, i, domain, min(lacking, max(1, spare - rule.skew))):
            return


def take(state: State, task: PlainGroup, i: int, domain: int, pods: int) -> int:
    """Takes pods out of a domain, from the fullest nodes; how many could be taken."""
    rule = task.rules[i]
    nodes = np.array(
        [n for n in task.start if state.remaining(task, n) and rule.domain_of[n] == domain]
    )
    if not len(nodes):
        return 0
    room = (state.free[nodes] * state.scale)[:, task.needs].min(axis=1)
    taken = 0
    for node in nodes[np.lexsort((nodes, room))].tolist():
        out = min(pods - taken, state.remaining(task, node))
        state.evict(task, node, out)
        taken += out
        if taken == pods:
            break
    return taken


def active(state: State) -> list[PlainGroup]:
    """Tasks with something to do, big pods first."""
    found = [task for task in state.tasks.values() if task.bound or task.waiting]
    return sorted(found, key=lambda task: order_of(state, task))


def realise(state: State, fill: Fill) -> None:
    """All departures, then all landings; what finds no room stays in hand."""
    tasks = active(state)
    for task in tasks:
        depart(state, task)
        task.hand += task.waiting
    for task in tasks:
        land_all(state, task, fill)
