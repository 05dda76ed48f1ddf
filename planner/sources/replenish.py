"""The pods that controllers would make, once more, after an input was changed."""

from __future__ import annotations

from dataclasses import replace

from planner.sources.admission import Admission
from planner.sources.inventory import Inventory
from planner.sources.synthesise import Workloads, missing_pods


def replenished(inventory: Inventory) -> Inventory:
    """The same input with missing replicas made anew from the templates as they are now."""
    classes = {each.name: each for each in inventory.priority_classes}
    pods = [pod for pod in inventory.pods if not pod.synthesised]
    stored = (pod.spec for pod in pods if pod.stored)
    admission = Admission(classes, inventory.limit_ranges, stored)
    workloads = Workloads(
        deployments=inventory.deployments,
        replica_sets=inventory.replica_sets,
        stateful_sets=inventory.stateful_sets,
        daemon_sets=inventory.daemon_sets,
        jobs=inventory.jobs,
        replication_controllers=inventory.replication_controllers,
    )
    made = missing_pods(workloads, pods, inventory.nodes, inventory.claims)
    return replace(
        inventory,
        pods=(*pods, *admission.replicas(made.pods)),
        replica_sets=(*inventory.replica_sets, *made.replica_sets),
        claims=(*inventory.claims, *made.claims),
    )
