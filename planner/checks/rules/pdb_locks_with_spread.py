"""`pdb-locks-with-spread`: a drain that hangs, because a budget waits for a pod that has no place.

The evicted pod finds no node while the drained one is cordoned (a cordoned node still counts as a
domain); as long as it waits the budget allows nothing more, and `kubectl drain` retries for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.budgets import budget_object, budgets_of
from planner.checks.finding import Finding, Proof
from planner.checks.own_pods import own_pods
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.drain.blocked import obstacles
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.words import count_of, named_or_counted

ID = "pdb-locks-with-spread"
TRIED = 50
"""Nodes that are drained one by one; beyond that those with the most pods of the workload."""


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    budgets = budgets_of(subject, workload)
    if len(budgets) != 1:
        return
    cluster = subject.settled
    homes = cluster.node_of[own_pods(cluster, workload)]
    nodes, counts = np.unique(homes[homes >= 0], return_counts=True)
    order = nodes[np.argsort(-counts, kind="stable")][:TRIED].tolist()
    hanging = [node for node in order if _hangs(subject, workload, node)]
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
            f"Tried: {count_of(len(order), 'node')} of {len(nodes)} with its pods, each alone.",
        ),
        facts={"hanging": len(hanging), "tried": len(order)},
        proof=Proof("simulated", seeds=1, seen=1),
    )


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
