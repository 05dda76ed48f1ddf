"""From an inventory to a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster.groups import PodGroup, group_pods, other_selectors, visible_keys
from planner.cluster.notices import NAME_LABEL, cluster_notices
from planner.cluster.owners import Owners
from planner.cluster.resources import resource_table
from planner.cluster.snapshot import ELSEWHERE, GONE, PENDING, Cluster
from planner.cluster.storage import Storage
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory
from planner.sources.load import no_garbage_collection
from planner_models.node import Node
from planner_models.pod import Pod
from planner_models.pod_status import FINISHED
from planner_models.policy import PodDisruptionBudget
from planner_models.volume import PersistentVolumeClaim
from planner_models.workload import Controller, Namespace, Service


def build_cluster(inventory: Inventory) -> Cluster:
    """The snapshot of everything that was read."""
    with no_garbage_collection():
        return _build(inventory)


def _build(inventory: Inventory) -> Cluster:
    nodes = tuple(sorted(inventory.nodes, key=lambda node: node.name))
    finished = tuple(pod for pod in inventory.pods if pod.phase in FINISHED)
    pods = inventory.pods
    if finished:
        pods = tuple(pod for pod in pods if pod.phase not in FINISHED)
    owners = Owners(controllers_of(inventory))
    groups, group_of = _grouped(pods, inventory.services, owners, inventory.budgets)
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
        owners=owners,
        namespaces=_namespaces(inventory.namespaces, groups),
        terminating_namespaces=frozenset(
            n.name for n in inventory.namespaces if n.metadata.deletion_timestamp is not None
        ),
        services=inventory.services,
        budgets=inventory.budgets,
        cron_jobs=inventory.cron_jobs,
        autoscalers=inventory.autoscalers,
        quotas=inventory.quotas,
        storage=_storage(inventory),
        arrival=_arrival(inventory.nodes, nodes),
        finished_pods=finished,
        priority_classes={each.name: each for each in inventory.priority_classes},
        notices=(*inventory.notices, *cluster_notices(inventory, nodes, pods, node_of)),
    )


def rebuilt(
    cluster: Cluster,
    *,
    nodes: Iterable[Node] = (),
    pods: Iterable[Pod] = (),
    controllers: Iterable[Controller] = (),
    claims: Iterable[PersistentVolumeClaim] = (),
) -> Cluster:
    """The snapshot with more nodes, pods and claims, or with other controllers of the same names.

    Pods keep their index and their node, and new ones come behind them; nodes are sorted anew.
    """
    given = (*cluster.nodes, *nodes)
    sorted_nodes = tuple(sorted(given, key=lambda node: node.name))
    position = {id(node): i for i, node in enumerate(sorted_nodes)}
    now = np.fromiter((position[id(node)] for node in given), np.int64, len(given))
    more = tuple(pods)
    places = np.append(now, (GONE, ELSEWHERE, PENDING))  # -3, -2 and -1 are found from the end
    everything = (*cluster.pods, *more)
    refs = {(type(c), c.key): c for c in (*cluster.owners.controllers.values(), *controllers)}
    owners = Owners(refs.values())
    groups, group_of = _grouped(everything, cluster.services, owners, cluster.budgets)
    node_of = np.append(places[cluster.node_of], _node_of(sorted_nodes, more))
    for array in (node_of, group_of):
        array.flags.writeable = False
    storage = cluster.storage
    return replace(
        cluster,
        nodes=sorted_nodes,
        pods=everything,
        node_of=node_of,
        groups=groups,
        group_of=group_of,
        resources=resource_table(sorted_nodes, groups),
        owners=owners,
        namespaces={**_namespaces((), groups), **cluster.namespaces},
        storage=replace(storage, claims={**storage.claims, **{c.key: c for c in claims}}),
        arrival=np.append(now[cluster.arrival], now[len(cluster.nodes) :]),
        ghosts=frozenset(now[list(cluster.ghosts)].tolist()),
    )


def _grouped(
    pods: Sequence[Pod],
    services: Iterable[Service],
    owners: Owners,
    budgets: Iterable[PodDisruptionBudget],
) -> tuple[tuple[PodGroup, ...], IntArray]:
    specs = {id(pod.spec): pod.spec for pod in pods}.values()
    return group_pods(pods, visible_keys(specs, other_selectors(services, owners, budgets)))


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


def controllers_of(inventory: Inventory) -> Iterable[Controller]:
    """Everything that makes pods."""
    yield from inventory.deployments
    yield from inventory.replica_sets
    yield from inventory.stateful_sets
    yield from inventory.daemon_sets
    yield from inventory.jobs
    yield from inventory.replication_controllers


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
