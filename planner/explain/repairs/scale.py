"""scale: fewer replicas, of the pod's own workload or of one that holds the room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.explain.repairs.commands import scale_command
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.overlay import Overlay, feasible
from planner.words import amount_of, conjoined
from planner_models.workload import Deployment, ReplicaSet, ReplicationController

MOST_PODS = 24
"""Replicas that are tried one by one: kube-controller-manager chooses which of them goes."""
MOST_WORKLOADS = 4


def propose(case: Case) -> Iterator[Proposal]:
    """Other workloads whose replicas, any one of them, hold the room that is missing."""
    for rule in of_type(case.rules, CapacityRule):
        short = case.refused_only_by(rule) & ~rule.hopeless
        for workload, pods in _workloads_on(case, short)[:MOST_WORKLOADS]:
            running = _running(case, workload)
            if len(running) > MOST_PODS or not set(running) <= set(pods):
                continue
            if all(_helps(case, pod) for pod in running):
                yield _proposal(case, rule, workload, running)


def propose_own(case: Case) -> Iterator[Proposal]:
    """As many replicas as anti-affinity to themselves leaves room for."""
    subject = case.subject
    apart = [rule for rule in of_type(case.rules, AntiAffinityRule) if rule.to_itself]
    controller = subject.cluster.owners.controllers.get(subject.workload)
    if not apart or subject.bare or controller is None:
        return
    desired = subject.cluster.owners.desired(subject.workload)
    running = len(_running(case, subject.workload))
    if desired is None or running >= desired or not apart[0].every_domain:
        return
    yield Proposal(
        kind="scale",
        object=subject.workload.short,
        field="spec.replicas",
        before=desired,
        after=running,
        text=f"scale {subject.workload.name} {desired} -> {running}",
        cost=case.costs["scale"] - 10,
        overlay=Overlay(),
        then="nothing pending",
        command=scale_command(subject.workload, running),
    )


def _workloads_on(case: Case, nodes: BoolArray) -> list[tuple[WorkloadRef, list[int]]]:
    cluster, state = case.subject.cluster, case.subject.state
    held: dict[WorkloadRef, list[int]] = defaultdict(list)
    here = np.flatnonzero((state.node_of >= 0) & ~state.terminating)
    for pod in here[nodes[state.node_of[here]]].tolist():
        workload = cluster.workloads[int(cluster.group_of[pod])]
        controller = cluster.owners.controllers.get(workload)
        scalable = isinstance(controller, Deployment | ReplicaSet | ReplicationController)
        if scalable and workload != case.subject.workload:
            held[workload].append(pod)
    return sorted(held.items(), key=lambda item: (-len(item[1]), item[0]))


def _running(case: Case, workload: WorkloadRef) -> list[int]:
    cluster, state = case.subject.cluster, case.subject.state
    mine = [group for group, ref in enumerate(cluster.workloads) if ref == workload]
    found: list[int] = np.flatnonzero(case.subject.running_of(mine) & ~state.terminating).tolist()
    return found


def _helps(case: Case, pod: int) -> bool:
    return bool(feasible(case.subject, Overlay(without=frozenset((pod,)))).any())


def _frees(case: Case, rule: CapacityRule, pod: int) -> str:
    """` (frees 2 CPU)`: of what the waiting pod finds short."""
    table = case.subject.cluster.resources
    held = table.requests[case.subject.cluster.group_of[pod]]
    short = [rule.names[i] for i in rule.lacking(rule.blocked)]
    parts = [amount_of(name, int(held[table.column(name)])) for name in short]
    return f" (frees {conjoined(parts)})"


def _proposal(
    case: Case, rule: CapacityRule, workload: WorkloadRef, running: list[int]
) -> Proposal:
    desired = case.subject.cluster.owners.desired(workload) or len(running)
    pods = f"{len(running)} -> {len(running) - 1}"
    frees = _frees(case, rule, running[0])
    return Proposal(
        kind="scale",
        object=workload.short,
        field="spec.replicas",
        before=desired,
        after=len(running) - 1,
        text=f"scale {workload.name} {pods}{frees}",
        cost=case.costs["scale"],
        overlay=Overlay(without=frozenset(running[:1])),
        then=f"then {case.subject.short} runs where the pod was removed",
        command=scale_command(workload, len(running) - 1),
    )
