"""`pdb-locks-with-spread`: a drain that hangs, because a budget waits for a pod that has no place.

The evicted pod finds no node while the drained one is cordoned (a cordoned node still counts as a
domain); as long as it waits the budget allows nothing more, and `kubectl drain` retries for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.budgets import budget_object, budgets_of
from planner.checks.finding import Finding, Proof
from planner.checks.own_pods import alone, own_pods
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.drain.blocked import obstacles
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.replay.trial_state import TrialState
from planner.words import count_of, named_or_counted

ID = "pdb-locks-with-spread"
TRIED = 50
"""Nodes that are drained one by one; beyond that those with the most pods of the workload."""
FULL_DRAINS = 20_000
"""So many nodes of clusters are looked at by whole drains: 50 drains of 400 nodes, 4 of 5,000."""


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    budgets = budgets_of(subject, workload)
    if len(budgets) != 1:
        return
    cluster = subject.settled
    homes = cluster.node_of[own_pods(cluster, workload)]
    nodes, counts = np.unique(homes[homes >= 0], return_counts=True)
    order = nodes[np.argsort(-counts, kind="stable")][:TRIED].tolist()
    waiting = [node for node in order if _waits(subject, workload, node)]
    drained = waiting[: max(1, FULL_DRAINS // len(cluster.nodes))]
    hanging = [node for node in drained if _hangs(subject, workload, node)]
    if not hanging:
        return
    names = [cluster.nodes[node].name for node in hanging]
    yield Finding(
        rule=ID,
        severity="warning",
        objects=(budget_object(budgets[0]), workload.object),
        field="spec",
        title=f"a drain of {named_or_counted(names, 'node')} hangs: {workload.name} has no place",
        text=(
            "An evicted pod waits for ever while the node is cordoned, and uses up the budget.",
            f"Tried: {count_of(len(order), 'node')} of {len(nodes)} with its pods, each alone"
            + (f"; {len(drained)} of {len(waiting)} in full." if drained != waiting else "."),
        ),
        facts={"hanging": len(hanging), "tried": len(order)},
        proof=Proof("simulated", seeds=1, seen=1),
    )


def _waits(subject: Subject, workload: CheckedWorkload, node: int) -> bool:
    """Whether one of its pods finds no node when all on this one are evicted, one by one.

    It is asked of these pods alone. Where each finds a node, the budget is soon whole again.
    """
    if "evicting" not in subject.memo:
        subject.memo["evicting"] = TrialState(alone(subject.settled, []), subject.profile)
    state: TrialState = subject.memo["evicting"]
    state.restore()
    state.cordon([node])
    for pod in own_pods(state.cluster, workload):
        if state.node(pod) == node:
            state.evict(pod, None)
            found = state.best(pod)
            if not len(found):
                return True
            state.place(pod, int(found[0]))
    return False


def _hangs(subject: Subject, workload: CheckedWorkload, node: int) -> bool:
    cluster = subject.settled
    limit = subject.options.time_limit
    options = DrainOptions(
        (node,), force=True, delete_emptydir_data=True, seeds=1, time_limit=limit
    )
    found = find_drain(cluster, options, subject.profile)
    if found.status != "impossible":
        return False
    return any(
        each.by == "ruleBehindBudget"
        and found.start.workloads[int(found.start.group_of[each.pods[0]])] == workload.ref
        for each in obstacles(found)
    )
