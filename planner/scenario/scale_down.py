"""Fewer replicas than pods: which of them the controllers delete.

A ReplicaSet deletes by the ranks of `replica_set`, a StatefulSet from the highest ordinal down. Of
a Deployment with several ReplicaSets all shrink in proportion, as while a rollout is under way.
What is deleted ends soon; only on a node that does not answer it stays, terminating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import msgspec

from planner.cluster import GONE, Cluster
from planner.cluster.owners import WorkloadRef
from planner.scenario.controller_run import silent_nodes
from planner.scenario.deployment import Strategy
from planner.scenario.deployment import look as look_at_replica_sets
from planner.scenario.deployment_stage import Replicas, replica_sets_of
from planner.scenario.replica_set import Candidate, acted_at, as_stored, deleted_first
from planner.scenario.stateful_set import Replica, State, policy_of
from planner.scenario.stateful_set import look as look_at_ordinals
from planner.scenario.stateful_set_stage import stored_pods
from planner.scenario.workload_pods import lasting_pods
from planner_models.workload import (
    Controller,
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

Scalable = Deployment | ReplicaSet | StatefulSet | ReplicationController


@dataclass(frozen=True)
class Surplus:
    """A ReplicaSet with so many pods more than it wants; who goes is up to `replica_set`."""

    candidates: tuple[Candidate, ...]
    count: int


def with_fewer_pods(cluster: Cluster, workload: Scalable, random: Random | None = None) -> Cluster:
    """The cluster after the workload has deleted what is beyond its replicas.

    It takes the place of the one with its name. Ties are drawn, or without `random` by UIDs.
    """
    changed: tuple[Controller, ...] = (workload,)
    going: list[int] = []
    if isinstance(workload, StatefulSet):
        going = _highest(cluster, workload)
    else:
        if isinstance(workload, Deployment):
            changed = (workload, *(_resized(each) for each in _shrunk(cluster, workload)))
        for each in surplus(cluster, workload):
            deleted = deleted_first(each.candidates, each.count, acted_at(cluster), random)
            going += [candidate.pod for candidate in deleted]
    owners = cluster.owners.with_controllers(changed)
    return _deleted(cluster, going).with_owners(owners)


def surplus(
    cluster: Cluster, workload: Deployment | ReplicaSet | ReplicationController
) -> list[Surplus]:
    """What each ReplicaSet has too many, with the workload's replicas as they are here.

    Without a Deployment above it does not ask who else is on the node of a pod.
    """
    if isinstance(workload, Deployment):
        sets = _shrunk(cluster, workload)
        together = Counter(int(cluster.node_of[pod]) for each in sets for pod in each.pods)
        found = [_surplus(cluster, each.pods, each.start.size, together) for each in sets]
    else:
        ref = WorkloadRef(workload.namespace, type(workload).__name__, workload.name)
        found = [_surplus(cluster, lasting_pods(cluster, ref), workload.spec.replicas, {})]
    return [each for each in found if each.count > 0]


def _surplus(
    cluster: Cluster, pods: Sequence[int], size: int, together: Mapping[int, int]
) -> Surplus:
    stored = ((as_stored(pod, cluster.pods[pod]), int(cluster.node_of[pod])) for pod in pods)
    candidates = (replace(each, together=together.get(node, 0)) for each, node in stored)
    return Surplus(tuple(candidates), len(pods) - size)


def _shrunk(cluster: Cluster, deployment: Deployment) -> list[Replicas]:
    """The ReplicaSets, newest last, with the sizes that they get if no rollout goes on."""
    sets = replica_sets_of(cluster, deployment)
    if not sets:
        return []
    counted = [replace(each.start, pods=len(each.pods)) for each in sets]
    strategy = Strategy(deployment.spec.replicas, paused=True)
    new, old = look_at_replica_sets(strategy, counted[-1], counted[:-1])
    sizes = {each.name: each for each in (*old, new)}
    return [replace(each, start=sizes[each.start.name]) for each in sets]


def _resized(each: Replicas) -> ReplicaSet:
    return each.owner.replace(spec=each.owner.spec.replace(replicas=each.start.size))


def _highest(cluster: Cluster, stateful_set: StatefulSet) -> list[int]:
    """Surplus ordinals; an ordered StatefulSet waits for ever for a pod that is not ready."""
    policy, stored = policy_of(stateful_set), stored_pods(cluster, stateful_set)
    seen = {each: Replica(_state(cluster, pod), updated=True) for each, pod in stored.items()}
    going: list[int] = []
    while deleted := look_at_ordinals(policy, seen).deleted:
        for ordinal in deleted:
            del seen[ordinal]
            going.append(stored[ordinal])
    return going


def _state(cluster: Cluster, pod: int) -> State:
    record = cluster.pods[pod]
    if record.terminating:
        return "terminating"
    return "ready" if record.ready and cluster.node_of[pod] >= 0 else "unready"


def _deleted(cluster: Cluster, pods: Iterable[int]) -> Cluster:
    silent = silent_nodes(cluster)
    gone: dict[int, int] = {}
    ending = {}
    for pod in pods:
        if int(cluster.node_of[pod]) in silent:
            ending[pod] = msgspec.structs.replace(cluster.pods[pod], terminating=True)
        else:
            gone[pod] = GONE
    after = cluster.with_placement(gone)
    return after.with_pods(ending) if ending else after
