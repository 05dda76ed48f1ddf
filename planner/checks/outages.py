"""Every zone or node lost alone, in both manners, and what then waits of the checked workloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.checks.own_pods import alone
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.cluster.topology import IntArray
from planner.replay.trial_work import affordable
from planner.scenario import LoseNodes, apply_changes, settle
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
    others: int
    """Pods of other workloads that go down, too, and are too many to be placed anew."""


def outages(subject: Subject) -> tuple[Outage, ...]:
    """Every domain of `--survive` that has pods of a checked workload; none without two of them.

    Pods of other workloads that wait already are left out, and so are all others where placing a
    whole domain anew is too much work: then the checked ones find room that others might take.
    """
    key = ("outages", subject.options.survive)
    if key not in subject.memo:
        subject.memo[key] = tuple(_outages(subject))
    found: tuple[Outage, ...] = subject.memo[key]
    return found


def waits(outage: Outage, workload: CheckedWorkload) -> tuple[int, int]:
    """Pods of the workload that wait while nodes are unreachable, and once they are removed."""
    return outage.unreachable.get(workload.ref, 0), outage.removed.get(workload.ref, 0)


def _outages(subject: Subject) -> Iterator[Outage]:
    if subject.options.survive == "none":
        return
    topology = subject.settled.topology(ZONE if subject.options.survive == "zone" else HOSTNAME)
    if len(topology.domains) < 2:
        return
    mine = _checked(subject)
    start = alone(subject.settled, np.flatnonzero(mine).tolist())
    for number, domain in enumerate(topology.domains):
        nodes = np.flatnonzero(topology.domain_of == number)
        down = np.isin(start.node_of, nodes)
        lost = int(np.count_nonzero(mine & down))
        if not lost:
            continue
        others = np.flatnonzero(down & ~mine)
        if affordable(lost + len(others), len(start.nodes)):
            others = others[:0]
        losing = start.with_placement(dict.fromkeys(others.tolist(), GONE))
        silent, _ = _waiting(subject, losing, nodes, "unreachable", mine)
        removed, messages = _waiting(subject, losing, nodes, "removed", mine)
        yield Outage(domain, lost, silent, removed, messages, len(others))


def _checked(subject: Subject) -> BoolArray:
    """Which pods are those of checked workloads."""
    refs = frozenset(each.ref for each in subject.workloads)
    groups = [i for i, ref in enumerate(subject.settled.workloads) if ref in refs]
    found: BoolArray = np.isin(subject.settled.group_of, groups)
    return found


def _waiting(
    subject: Subject, losing: Cluster, nodes: IntArray, manner: Manner, mine: BoolArray
) -> tuple[dict[WorkloadRef, int], dict[WorkloadRef, str]]:
    """Of the checked workloads: pods that wait beyond those that did before, and the message."""
    changed = apply_changes(losing, [LoseNodes(tuple(nodes.tolist()), manner)])
    ended = settle(changed, subject.profile)
    pending = (ended.cluster.node_of == PENDING) & ~ended.cluster.terminating
    counts: dict[WorkloadRef, int] = {}
    messages: dict[WorkloadRef, str] = {}
    for pod in np.flatnonzero(pending[: len(mine)] & mine).tolist():
        ref = losing.workloads[int(losing.group_of[pod])]
        counts[ref] = counts.get(ref, 0) + int(losing.node_of[pod] != PENDING)
        messages.setdefault(ref, ended.messages.get(pod, ""))
    hurt = {ref: count for ref, count in counts.items() if count}
    return hurt, {ref: messages[ref] for ref in hurt}
