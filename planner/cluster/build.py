"""From an inventory to a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from planner.cluster.groups import PodGroup, group_pods, visible_keys
from planner.cluster.notices import NAME_LABEL, cluster_notices
from planner.cluster.owners import Owners
from planner.cluster.resources import resource_table
from planner.cluster.snapshot import ELSEWHERE, PENDING, Cluster
from planner.cluster.storage import Storage
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory
from planner.sources.load import no_garbage_collection
from planner_models.node import Node
from planner_models.pod import Pod
from planner_models.selectors import LabelSelector
from planner_models.workload import Controller, Namespace, ReplicaSet, StatefulSet


def build_cluster(inventory: Inventory) -> Cluster:
    """The snapshot of everything that was read."""
    with no_garbage_collection():
        return _build(inventory)


def _build(inventory: Inventory) -> Cluster:
    nodes = tuple(sorted(inventory.nodes, key=lambda node: node.name))
    pods = tuple(pod for pod in inventory.pods if not pod.finished)
    specs = {id(pod.spec): pod.spec for pod in pods}.values()
    groups, group_of = group_pods(pods, visible_keys(specs, _selectors(inventory)))
    node_of = _node_of(nodes, pods)
    for array in (node_of, group_of):
        array.flags.writeable = False
    return Cluster(
        nodes=nodes,
        pods=pods,
        node_of=node_of,
        groups=groups,
        group_of=group_of,
        resources=resource_table(nodes, groups),
        owners=Owners(_controllers(inventory)),
        namespaces=_namespaces(inventory.namespaces, groups),
        terminating_namespaces=frozenset(
            n.name for n in inventory.namespaces if n.metadata.deletion_timestamp is not None
        ),
        services=inventory.services,
        owner_selectors=tuple(_owner_selectors(inventory)),
        budgets=inventory.budgets,
        cron_jobs=inventory.cron_jobs,
        autoscalers=inventory.autoscalers,
        quotas=inventory.quotas,
        storage=_storage(inventory),
        arrival=_arrival(inventory.nodes, nodes),
        finished_pods=tuple(pod for pod in inventory.pods if pod.finished),
        priority_classes={each.name: each.value for each in inventory.priority_classes},
        notices=(*inventory.notices, *cluster_notices(inventory, nodes, pods, node_of)),
    )


def _namespaces(
    given: Iterable[Namespace], groups: Iterable[PodGroup]
) -> dict[str, dict[str, str]]:
    """The labels of every namespace with pods; the API server gives each its name as one.

    Where pods are, a namespace is, whether the input has its object or not.
    """
    labels = {group.namespace: {NAME_LABEL: group.namespace} for group in groups}
    return labels | {each.name: {**each.metadata.labels, NAME_LABEL: each.name} for each in given}


def _arrival(given: Sequence[Node], nodes: Sequence[Node]) -> IntArray:
    index = {node.name: i for i, node in enumerate(nodes)}
    return np.fromiter((index[node.name] for node in given), np.int64, len(given))


def _node_of(nodes: Sequence[Node], pods: Sequence[Pod]) -> IntArray:
    index = {node.name: i for i, node in enumerate(nodes)}
    return np.fromiter(
        (index.get(p.node_name, ELSEWHERE) if p.node_name else PENDING for p in pods),
        np.int64,
        len(pods),
    )


def _controllers(inventory: Inventory) -> Iterable[Controller]:
    yield from inventory.deployments
    yield from inventory.replica_sets
    yield from inventory.stateful_sets
    yield from inventory.daemon_sets
    yield from inventory.jobs
    yield from inventory.replication_controllers


def _selectors(inventory: Inventory) -> Iterable[LabelSelector]:
    """Selectors outside of pods that tell pods apart: services, owners and budgets."""
    for service in inventory.services:
        yield LabelSelector(match_labels=service.spec.selector)
    for _, selector in _owner_selectors(inventory):
        yield selector
    for budget in inventory.budgets:
        if budget.spec.selector is not None:
            yield budget.spec.selector


def _owner_selectors(inventory: Inventory) -> Iterable[tuple[str, LabelSelector]]:
    owners: tuple[ReplicaSet | StatefulSet, ...] = inventory.replica_sets + inventory.stateful_sets
    for owner in owners:
        if owner.spec.selector is not None:
            yield owner.namespace, owner.spec.selector
    for controller in inventory.replication_controllers:
        yield controller.namespace, LabelSelector(match_labels=controller.spec.selector)


def _storage(inventory: Inventory) -> Storage:
    return Storage(
        claims={c.key: c for c in inventory.claims},
        volumes={v.name: v for v in inventory.persistent_volumes},
        classes={c.name: c for c in inventory.storage_classes},
        csi_nodes={n.name: n for n in inventory.csi_nodes},
        csi_drivers={d.name: d for d in inventory.csi_drivers},
        capacities=inventory.storage_capacities,
        attachments=inventory.volume_attachments,
    )
