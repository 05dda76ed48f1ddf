"""The greedy realisation: departures that the closed form asks for, then landings, big pods first.

Which pods of a domain leave is free to choose for interchangeable pods: those on the fullest nodes
go, unless a hole for a bigger pod wants them (see `holes`).
"""

from __future__ import annotations

import numpy as np

from planner.solver.scale.landing import Fill, land_all, order_of
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work


def depart(work: Work, task: Task) -> None:
    """Takes into the hand what has to leave: forced pods, overfull hosts, overfull domains."""
    for node, pods in task.forced.items():
        work.evict(task, node, min(pods, work.remaining(task, node)))
    for i in task.caps:
        _lower_hosts(work, task, i)
    if task.main is not None:
        _lower_domains(work, task, task.main)


def _lower_hosts(work: Work, task: Task, i: int) -> None:
    rule, counts = task.rules[i], task.counts[i]
    high = task.low[i] + rule.skew
    for node in sorted(task.start):
        over = int(counts[rule.domain_of[node]]) - high
        if over > 0:
            work.evict(task, node, min(over, work.remaining(task, node)))


def _lower_domains(work: Work, task: Task, i: int) -> None:
    """Down to low + maxSkew everywhere, then further from the highest while others lack pods."""
    rule, counts, low = task.rules[i], task.counts[i], task.low[i]
    for domain in np.flatnonzero(counts > low + rule.skew).tolist():
        take(work, task, i, domain, int(counts[domain]) - low - rule.skew)
    while (lacking := int(np.maximum(low - counts, 0).sum()) - task.hand) > 0:
        domain = int(counts.argmax())
        spare = int(counts[domain]) - low
        if spare <= 0:
            return
        if not take(work, task, i, domain, min(lacking, max(1, spare - rule.skew))):
            return


def take(work: Work, task: Task, i: int, domain: int, pods: int) -> int:
    """Takes pods out of a domain, from the fullest nodes; how many could be taken."""
    rule = task.rules[i]
    nodes = np.array(
        [n for n in task.start if work.remaining(task, n) and rule.domain_of[n] == domain]
    )
    if not len(nodes):
        return 0
    room = (work.free[nodes] * work.scale)[:, task.needs].min(axis=1)
    taken = 0
    for node in nodes[np.lexsort((nodes, room))].tolist():
        out = min(pods - taken, work.remaining(task, node))
        work.evict(task, node, out)
        taken += out
        if taken == pods:
            break
    return taken


def active(work: Work) -> list[Task]:
    """Tasks with something to do, big pods first."""
    found = [task for task in work.tasks.values() if task.bound or task.waiting]
    return sorted(found, key=lambda task: order_of(work, task))


def realise(work: Work, fill: Fill) -> None:
    """All departures, then all landings; what finds no room stays in hand."""
    tasks = active(work)
    for task in tasks:
        depart(work, task)
        task.hand += task.waiting
    for task in tasks:
        land_all(work, task, fill)
