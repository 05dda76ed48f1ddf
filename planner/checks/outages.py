"""Every zone or node lost alone, in both manners, and what then waits of the checked workloads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster.owners import WorkloadRef
from planner.scenario import LoseNodes, apply_changes, outcome, settle
from planner.scenario.changes import Manner
from planner_models.node import HOSTNAME, ZONE


@dataclass(frozen=True)
class Outage:
    """A domain that fails, and how many pods of each workload then wait more than before."""

    domain: str
    lost: int
    unreachable: dict[WorkloadRef, int]
    removed: dict[WorkloadRef, int]
    messages: dict[WorkloadRef, str]
    """kube-scheduler's word on those that wait once the nodes are removed."""


def outages(subject: Subject) -> tuple[Outage, ...]:
    """Every domain of `--survive` that has pods of a checked workload; none without two of them."""
    key = ("outages", subject.options.survive)
    if key not in subject.memo:
        subject.memo[key] = tuple(_outages(subject))
    found: tuple[Outage, ...] = subject.memo[key]
    return found


def waits(outage: Outage, workload: CheckedWorkload) -> tuple[int, int]:
    """Pods of the workload that wait while nodes are unreachable, and once they are removed."""
    return outage.unreachable.get(workload.ref, 0), outage.removed.get(workload.ref, 0)


def _outages(subject: Subject) -> list[Outage]:
    cluster = subject.settled
    if subject.options.survive == "none":
        return []
    topology = cluster.topology(ZONE if subject.options.survive == "zone" else HOSTNAME)
    if len(topology.domains) < 2:
        return []
    checked = frozenset(each.ref for each in subject.workloads)
    mine = np.isin(
        cluster.group_of, [i for i, ref in enumerate(cluster.workloads) if ref in checked]
    )
    found = []
    for number, domain in enumerate(topology.domains):
        nodes = np.flatnonzero(topology.domain_of == number)
        lost = int(np.count_nonzero(mine & np.isin(cluster.node_of, nodes)))
        if lost:
            silent, _ = _waiting(subject, nodes.tolist(), "unreachable")
            found.append(
                Outage(domain, lost, silent, *_waiting(subject, nodes.tolist(), "removed"))
            )
    return found


def _waiting(
    subject: Subject, nodes: list[int], manner: Manner
) -> tuple[dict[WorkloadRef, int], dict[WorkloadRef, str]]:
    changed = apply_changes(subject.settled, [LoseNodes(tuple(nodes), manner)])
    result = outcome(settle(changed, subject.profile), subject.profile)
    hurt = [each for each in result.workloads if each.waiting > each.waited]
    counts = {each.workload: each.waiting - each.waited for each in hurt}
    return counts, {each.workload: each.message for each in hurt}
