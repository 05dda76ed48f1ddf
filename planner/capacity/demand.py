"""More pods of a workload: waiting pods that its controller would make, in a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.new_pods import with_new_pods
from planner.cluster.owners import Owners, WorkloadRef
from planner.errors import PlannerError
from planner.scenario import Scale, apply_changes
from planner_models.pod import Pod
from planner_models.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet

SCALED = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


@dataclass(frozen=True)
class Demand:
    """One kind of pod; of a mix, `ratio` of them belong to each set.

    `sample` is a pod as its controller makes it. A StatefulSet's pods have claims of their own, so
    there the controller is scaled instead.
    """

    ref: WorkloadRef
    sample: Pod
    ratio: int = 1

    @property
    def has_own_claims(self) -> bool:
        """Whether every pod brings volumes that no other pod shares."""
        return self.ref.kind == "StatefulSet" and bool(self.sample.volumes)


@dataclass(frozen=True, eq=False)
class Enlarged:
    """A snapshot with waiting pods; `pods[i]` are those of the i-th demand."""

    cluster: Cluster
    pods: tuple[tuple[int, ...], ...]

    @property
    def every(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(pod for pods in self.pods for pod in pods)


def with_more(cluster: Cluster, demands: Sequence[Demand], sets: int) -> Enlarged:
    """So many sets more of all demands, waiting; set by set in the order of the queue."""
    added: dict[int, list[int]] = {i: [] for i in range(len(demands))}
    cloned: list[tuple[int, Pod]] = []
    for number in range(sets):
        for i, demand in enumerate(demands):
            if not demand.has_own_claims:
                cloned += [(i, _clone(demand, number, k)) for k in range(demand.ratio)]
    if cloned:
        first, owners = len(cluster.pods), _scaled(cluster, demands, sets)
        cluster = with_new_pods(cluster, [pod for _, pod in cloned], owners)
        cluster = cluster.with_placement(dict.fromkeys(range(first, len(cluster.pods)), PENDING))
        for offset, (i, _) in enumerate(cloned):
            added[i].append(first + offset)
    for i, demand in enumerate(demands):
        if demand.has_own_claims and sets:
            there = cluster.owners.desired(demand.ref) or 0
            changed = apply_changes(cluster, [Scale(demand.ref, there + sets * demand.ratio)])
            cluster, added[i] = changed.cluster, list(changed.made)
    return Enlarged(cluster, tuple(map(tuple, added.values())))


def _scaled(cluster: Cluster, demands: Sequence[Demand], sets: int) -> Owners:
    """Controllers that want the new pods, too: otherwise they would not replace a lost one."""
    controllers = dict(cluster.owners.controllers)
    for demand in demands:
        owner = demand.sample.owner
        maker = None if owner is None else WorkloadRef(demand.ref.namespace, owner.kind, owner.name)
        for ref in {demand.ref, maker} - {None}:
            found = controllers.get(ref) if ref is not None else None
            if ref is not None and isinstance(found, SCALED):
                replicas = found.spec.replicas + sets * demand.ratio
                changed: Any = found.replace(spec=found.spec.replace(replicas=replicas))
                controllers[ref] = changed
    return Owners(controllers.values())


def _clone(demand: Demand, number: int, k: int) -> Pod:
    name = f"{demand.ref.name}-more-{number}-{k}"
    return msgspec.structs.replace(
        demand.sample, name=name, uid="", node_name="", phase="Pending", synthesised=True
    )


def demand_of(cluster: Cluster, ref: WorkloadRef, ratio: int = 1) -> Demand:
    """What the controller would make next; refuses what has no number of replicas."""
    there = cluster.owners.desired(ref) or 0
    groups = [i for i, each in enumerate(cluster.workloads) if each == ref]
    mine = np.isin(cluster.group_of, groups) & (cluster.node_of >= PENDING)
    running = int(np.count_nonzero(mine))
    changed = apply_changes(cluster, [Scale(ref, max(there, running) + 1)])
    if not changed.made:
        raise PlannerError("its controller makes no more pods", object=ref.key)
    return Demand(ref, changed.cluster.pods[changed.made[-1]], ratio)
