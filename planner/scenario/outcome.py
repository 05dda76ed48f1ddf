"""What changed between two clusters, workload by workload and domain by domain.

Both are compared by names, for a change may bring nodes and pods. A pod runs if it is bound to a
node that answers, and is not terminating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.owners import WorkloadRef
from planner.cluster.topology import IntArray
from planner.disruption.budget_status import budget_statuses
from planner.replay.violations import violations
from planner.scenario.apply import Changed
from planner.scenario.settle import Settled
from planner.scheduler.profile import Profile
from planner_models.node import ZONE
from planner_models.resources import CPU


@dataclass(frozen=True)
class WorkloadOutcome:
    """Pods of one workload: those that run by domain, before and after, and the others.

    Numbers by domain are in the order of `Outcome.domains`; the last one counts pods on nodes
    without the label.
    """

    workload: WorkloadRef
    before: tuple[int, ...]
    after: tuple[int, ...]
    lost: int
    """Pods that went down or were evicted; those that belong to their node do not count."""
    unreplaced: int
    """Those of them that nothing comes after."""
    waited: int
    """Pods without a node before, and after."""
    waiting: int
    message: str
    """kube-scheduler's word on the first pod that waits, if it has tried any."""

    @property
    def missing(self) -> int:
        """Pods that do not run though they did, or were to; those that waited before do not count.

        A pod that was put on a node that does not answer is neither running nor waiting.
        """
        gone = sum(self.before) - sum(self.after) if self.lost else 0
        return max(0, gone, self.unreplaced + self.waiting - self.waited)

    @property
    def share_lost(self) -> float:
        """The part of its running pods that it lost."""
        return self.lost / max(1, sum(self.before))


@dataclass(frozen=True)
class Requested:
    """What running pods request together, of what nodes that answer have."""

    used: int
    allocatable: int

    @property
    def share(self) -> float:
        """The part that is requested."""
        return self.used / max(1, self.allocatable)


class Summary(NamedTuple):
    """What a line about one of many failures says: equal ones can share the line."""

    lost: int
    waiting: int
    hit_hardest: WorkloadRef | None
    its_lost: int
    its_pods: int
    cpu: Requested


@dataclass(frozen=True)
class Outcome:
    """Everything that is worth a comparison; two outcomes are equal if nobody could tell."""

    topology_key: str
    domains: tuple[str, ...]
    workloads: tuple[WorkloadOutcome, ...]
    """Sorted, with all that have or had pods."""
    daemons: int
    """Pods that went down with the node that they belong to."""
    over_the_limit: tuple[int, int]
    """Pods above the limits of hard spread constraints, before and after."""
    unmet_budgets: tuple[tuple[str, ...], tuple[str, ...]]
    """Budgets with fewer healthy pods than they ask for, before and after."""
    cpu: tuple[Requested, Requested]
    """CPU in thousandths, before and after."""

    @property
    def lost(self) -> int:
        """Pods that went down or were evicted."""
        return sum(each.lost for each in self.workloads)

    @property
    def waiting(self) -> int:
        """Pods that wait in the end."""
        return sum(each.waiting for each in self.workloads)

    @property
    def hit_hardest(self) -> WorkloadOutcome | None:
        """Of those with pods that wait, if there are any, the one that lost the largest share."""
        hit = [each for each in self.workloads if each.lost or each.waiting]
        return max(hit, key=_severity, default=None)

    @property
    def summary(self) -> Summary:
        """In one line."""
        each = self.hit_hardest
        if each is None:
            return Summary(self.lost, self.waiting, None, 0, 0, self.cpu[1])
        pods = sum(each.before)
        return Summary(self.lost, self.waiting, each.workload, each.lost, pods, self.cpu[1])


def _severity(each: WorkloadOutcome) -> tuple[bool, float, int]:
    return each.waiting > 0, each.share_lost, each.lost


def outcome(settled: Settled, profile: Profile, *, topology_key: str = ZONE) -> Outcome:
    """What the changes and kube-scheduler have made of the cluster."""
    changed, after = settled.changed, settled.cluster
    before = changed.before
    domains = tuple(
        sorted({*before.topology(topology_key).domains, *after.topology(topology_key).domains})
    )
    counts = (
        _running_by_domain(before, frozenset(), topology_key, domains),
        _running_by_domain(after, changed.down, topology_key, domains),
    )
    waits = _waiting(before), _waiting(after)
    losses = _Losses(changed)
    nothing = (0,) * (len(domains) + 1)
    workloads = tuple(
        WorkloadOutcome(
            workload=ref,
            before=counts[0].get(ref, nothing),
            after=counts[1].get(ref, nothing),
            lost=losses.lost[ref],
            unreplaced=losses.unreplaced[ref],
            waited=waits[0][ref],
            waiting=waits[1][ref],
            message=message,
        )
        for ref, message in _workloads(settled, (*counts, *waits, losses.lost))
    )
    return Outcome(
        topology_key=topology_key,
        domains=domains,
        workloads=workloads,
        daemons=losses.daemons,
        over_the_limit=(_excess(before, profile), _excess(after, profile)),
        unmet_budgets=(_unmet(before), _unmet(after)),
        cpu=(requested_cpu(before, frozenset()), requested_cpu(after, changed.down)),
    )


def agreement(outcomes: Sequence[Outcome]) -> int:
    """How many of these, of different seeds, are like the first one."""
    return sum(each == outcomes[0] for each in outcomes)


def _workloads(
    settled: Settled, found: Iterable[Mapping[WorkloadRef, object]]
) -> list[tuple[WorkloadRef, str]]:
    """Every workload in order, with the message of its first waiting pod."""
    cluster = settled.cluster
    messages: dict[WorkloadRef, str] = {}
    for pod in sorted(settled.messages):
        messages.setdefault(cluster.workloads[cluster.group_of[pod]], settled.messages[pod])
    refs = sorted({ref for counts in found for ref in counts})
    return [(ref, messages.get(ref, "")) for ref in refs]


def _by_workload(cluster: Cluster) -> tuple[list[WorkloadRef], IntArray]:
    """The workloads, and the number of each group's."""
    numbers: dict[WorkloadRef, int] = {}
    of = [numbers.setdefault(ref, len(numbers)) for ref in cluster.workloads]
    return list(numbers), np.array(of, np.int64)


def _runs(cluster: Cluster, down: frozenset[int]) -> IntArray:
    """Pods that run."""
    answers = np.ones(len(cluster.nodes) + 1, np.bool_)
    answers[[*down, len(cluster.nodes)]] = False
    node = np.where(cluster.node_of >= 0, cluster.node_of, len(cluster.nodes))
    return np.flatnonzero(answers[node] & ~cluster.terminating)


def _running_by_domain(
    cluster: Cluster, down: frozenset[int], key: str, domains: Sequence[str]
) -> dict[WorkloadRef, tuple[int, ...]]:
    topology, width = cluster.topology(key), len(domains) + 1
    column = np.array([*map(domains.index, topology.domains), len(domains)], np.int64)
    refs, number = _by_workload(cluster)
    pods = _runs(cluster, down)
    cells = number[cluster.group_of[pods]] * width
    cells = cells + column[topology.domain_of[cluster.node_of[pods]]]
    counts = np.bincount(cells, minlength=len(refs) * width).reshape(len(refs), width)
    return {ref: tuple(row) for ref, row in zip(refs, counts.tolist(), strict=True) if any(row)}


def _waiting(cluster: Cluster) -> Counter[WorkloadRef]:
    pods = np.flatnonzero((cluster.node_of == PENDING) & ~cluster.terminating)
    refs, number = _by_workload(cluster)
    counts = np.bincount(number[cluster.group_of[pods]], minlength=len(refs))
    return Counter({ref: count for ref, count in zip(refs, counts.tolist(), strict=True) if count})


class _Losses:
    """Lost pods by workload; those that belong to a node are counted alone."""

    def __init__(self, changed: Changed) -> None:
        cluster = changed.cluster
        self.lost: Counter[WorkloadRef] = Counter()
        self.unreplaced: Counter[WorkloadRef] = Counter()
        self.daemons = 0
        for each in changed.lost:
            if each.fate == "daemon":
                self.daemons += 1
                continue
            ref = cluster.workloads[cluster.group_of[each.pod]]
            self.lost[ref] += 1
            self.unreplaced[ref] += each.fate != "replaced"


def _excess(cluster: Cluster, profile: Profile) -> int:
    found = violations(cluster, profile)
    return sum(each.excess for each in found if each.rule == "topologySpread")


def _unmet(cluster: Cluster) -> tuple[str, ...]:
    found = budget_statuses(cluster, trust_status=False)
    return tuple(each.name for each in found if each.healthy < each.desired)


def requested_cpu(cluster: Cluster, down: frozenset[int]) -> Requested:
    """CPU in thousandths that running pods request, of what all nodes but these have."""
    column = cluster.resources.column(CPU)
    answers = np.setdiff1d(np.arange(len(cluster.nodes)), sorted(down))
    pods = _runs(cluster, down)
    used = cluster.resources.requests[cluster.group_of[pods], column].sum()
    return Requested(int(used), int(cluster.resources.allocatable[answers, column].sum()))
