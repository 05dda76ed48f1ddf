"""The pods that controllers would make, once more, after an input was changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from planner.sources.admission import Admission
from planner.sources.inventory import Inventory
from planner.sources.synthesise import OwnerKey, Workloads, missing_pods
from planner_models.meta import KubeObject

_KINDS = tuple(kind.name for kind in fields(Workloads))


def replenished(inventory: Inventory, before: Inventory) -> Inventory:
    """The changed input with replicas made anew from the templates as they are now.

    Controllers that are the very objects they were in `before` keep the pods that were made for
    them, unless what admission does to pods has changed; on other nodes DaemonSets make others.
    """
    if all(
        getattr(inventory, name) is getattr(before, name)
        for name in (*_KINDS, "nodes", "priority_classes", "limit_ranges")
    ):
        return inventory
    workloads, known = _workloads(inventory), set[int]()
    if (
        inventory.priority_classes is before.priority_classes
        and inventory.limit_ranges is before.limit_ranges
    ):
        known = {id(each) for each in _controllers(_workloads(before))}
    if inventory.nodes is not before.nodes:
        known -= {id(each) for each in inventory.daemon_sets}
    changed = [each for each in _controllers(workloads) if id(each) not in known]
    if not changed:
        return inventory
    anew = frozenset(_makers(changed, inventory))
    pods = [
        pod
        for pod in inventory.pods
        if not pod.synthesised
        or pod.owner is None
        or (pod.owner.kind, pod.namespace, pod.owner.name) not in anew
    ]
    namespaces = {each.namespace for each in changed}
    beside = [pod for pod in pods if pod.namespace in namespaces]
    made = missing_pods(workloads, beside, inventory.nodes, inventory.claims, complete=known)
    classes = {each.name: each for each in inventory.priority_classes}
    stored = (pod.spec for pod in beside if pod.stored)
    admission = Admission(classes, inventory.limit_ranges, stored)
    return replace(
        inventory,
        pods=(*pods, *admission.replicas(made.pods)),
        replica_sets=(*inventory.replica_sets, *made.replica_sets),
        claims=(*inventory.claims, *made.claims),
    )


def _workloads(inventory: Inventory) -> Workloads:
    return Workloads(
        deployments=inventory.deployments,
        replica_sets=inventory.replica_sets,
        stateful_sets=inventory.stateful_sets,
        daemon_sets=inventory.daemon_sets,
        jobs=inventory.jobs,
        replication_controllers=inventory.replication_controllers,
    )


def _controllers(workloads: Workloads) -> Iterator[KubeObject]:
    for kind in fields(workloads):
        yield from getattr(workloads, kind.name)


def _makers(changed: list[KubeObject], inventory: Inventory) -> Iterator[OwnerKey]:
    """Whose pods are made anew: the changed controllers', and their ReplicaSets'."""
    for each in changed:
        yield type(each).__name__, each.namespace, each.name
    deployments = {each.key for each in changed if type(each).__name__ == "Deployment"}
    for each in inventory.replica_sets:
        owner = each.metadata.controller
        if (
            owner is not None
            and owner.kind == "Deployment"
            and f"{each.namespace}/{owner.name}" in deployments
        ):
            yield "ReplicaSet", each.namespace, each.name
