"""Pods that controllers make, put into a snapshot as the API server would store them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.cluster import ELSEWHERE, GONE, PENDING, Cluster
from planner.cluster.build import rebuilt
from planner.cluster.new_pods import with_new_pods
from planner.sources.admission import Admission
from planner.sources.defaulting import with_default_class
from planner.sources.synthesise import Workloads, missing_pods
from planner_models.node import Node
from planner_models.workload import Controller


def with_missing_pods(
    cluster: Cluster,
    workloads: Workloads,
    nodes: Sequence[Node],
    *,
    controllers: Iterable[Controller] = (),
    added: Iterable[Node] = (),
) -> Cluster:
    """The cluster with what these workloads lack on these nodes; new pods wait behind all others.

    `controllers` take the place of those with the same name, and `added` nodes come in. What a
    LimitRange would set is known only where a pod of the same workload shows it.
    """
    others, come = tuple(controllers), tuple(added)
    gone = (cluster.node_of == GONE).tolist()
    there = [pod for pod, away in zip(cluster.pods, gone, strict=True) if not away]
    made = missing_pods(workloads, there, nodes, cluster.storage.claims.values())
    if not (made.pods or others or come):
        return cluster
    specs = {id(group.spec): group.spec for group in cluster.groups}.values()
    admission = Admission(cluster.priority_classes, (), specs)
    pods, owned = [*map(admission.stored, made.pods)], (*others, *made.replica_sets)
    if not come and not made.claims:
        owners = cluster.owners.with_controllers(owned)
        first, known = len(cluster.pods), cluster.node_index
        return with_new_pods(cluster, pods, owners).with_placement(
            {
                first + i: known.get(pod.node_name, ELSEWHERE) if pod.node_name else PENDING
                for i, pod in enumerate(pods)
            }
        )
    return rebuilt(
        cluster,
        nodes=come,
        pods=pods,
        controllers=owned,
        claims=with_default_class(made.claims, cluster.storage.classes.values()),
    )
