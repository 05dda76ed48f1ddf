"""Another number of replicas, as `kubectl scale` sets it."""

from __future__ import annotations

from random import Random

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.errors import UsageError
from planner.scenario.changes import Scale
from planner.scenario.made_pods import with_missing_pods
from planner.scenario.scale_down import with_fewer_pods
from planner.scenario.workload_pods import lasting_pods
from planner.sources.synthesise import Workloads, revision_key
from planner_models.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet


def scaled(cluster: Cluster, change: Scale, random: Random | None = None) -> Cluster:
    """The cluster with the pods that the workload lacks, which wait behind all others.

    Or without those that it has too many; ties between them are drawn.
    """
    ref, controllers = change.workload, cluster.owners.controllers
    found = controllers.get(ref)
    if not isinstance(found, Deployment | ReplicaSet | StatefulSet | ReplicationController):
        text = "is not in the input" if found is None else "has no number of replicas"
        raise UsageError(f"{ref.short} {text}", object=ref.key)
    owner = found.metadata.controller
    if owner is not None:
        above = WorkloadRef(ref.namespace, owner.kind, owner.name)
        raise UsageError(f"{above.short} scales {ref.short}: scale that one", object=ref.key)
    if change.replicas < len(lasting_pods(cluster, ref)):
        fewer = found.replace(spec=found.spec.replace(replicas=change.replicas))
        return with_fewer_pods(cluster, fewer, random)
    spec = found.spec.replace(replicas=change.replicas)
    match found:
        case Deployment():
            deployment = found.replace(spec=spec)
            sets = _replica_sets(cluster, ref, change.replicas)
            wanted = Workloads(deployments=(deployment,), replica_sets=sets)
            return with_missing_pods(cluster, wanted, (), controllers=(deployment, *sets))
        case ReplicaSet():
            replica_set = found.replace(spec=spec)
            wanted = Workloads(replica_sets=(replica_set,))
            return with_missing_pods(cluster, wanted, (), controllers=(replica_set,))
        case StatefulSet():
            stateful_set = found.replace(spec=spec)
            wanted = Workloads(stateful_sets=(stateful_set,))
            return with_missing_pods(cluster, wanted, (), controllers=(stateful_set,))
        case ReplicationController():
            controller = found.replace(spec=spec)
            wanted = Workloads(replication_controllers=(controller,))
            return with_missing_pods(cluster, wanted, (), controllers=(controller,))


def _replica_sets(cluster: Cluster, deployment: WorkloadRef, replicas: int) -> list[ReplicaSet]:
    """Those of the Deployment; the newest gets what the others leave, as no rollout is assumed."""
    found = [
        each
        for each in cluster.owners.controllers.values()
        if isinstance(each, ReplicaSet)
        and (owner := each.metadata.controller) is not None
        and WorkloadRef(each.namespace, owner.kind, owner.name) == deployment
    ]
    if not found:
        return []
    *others, newest = sorted(found, key=revision_key)
    share = max(0, replicas - sum(each.spec.replicas for each in others))
    return [*others, newest.replace(spec=newest.spec.replace(replicas=share))]
