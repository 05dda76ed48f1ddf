"""Which nodes the volumes of a group can reach, seen without other pods.

Bound claims: the volume's node affinity and its zone labels. Unbound ones of a WaitForFirstConsumer
class: a free volume that fits and reaches the node, or a node for which the class can make one. A
claim that is missing, lost, going away or waiting for an immediate binding keeps the pod from every
node.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.storage import Storage
from planner_models.node import REGION, ZONE
from planner_models.quantity import whole_value
from planner_models.selectors import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelectorRequirement,
)
from planner_models.volume import (
    SELECTED_NODE,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)

STORAGE = "storage"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_CURRENT = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    ZONE: ZONE,
    REGION: REGION,
}


@dataclass(frozen=True, eq=False)
class GroupClaim:
    """A claim that a group's pods use; `claim` is None if it doesn't exist."""

    key: str
    ephemeral: bool
    claim: PersistentVolumeClaim | None


def claims_of(storage: Storage, group: PodGroup) -> list[GroupClaim]:
    """The claims of a group in the order of its volumes."""
    found: list[GroupClaim] = []
    for volume in group.volumes:
        if volume.persistent_volume_claim is not None:
            name, ephemeral = volume.persistent_volume_claim.claim_name, False
        elif volume.ephemeral is not None:
            name, ephemeral = f"{group.example.name}-{volume.name}", True
        else:
            continue
        key = f"{group.namespace}/{name}"
        found.append(GroupClaim(key, ephemeral, storage.claims.get(key)))
    return found


def reach(cluster: Cluster, group: PodGroup) -> BoolArray:
    """The nodes that all claims of the group admit."""
    mask = np.ones(len(cluster.nodes), np.bool_)
    for entry in claims_of(cluster.storage, group):
        mask &= _reach_of(cluster, group, entry)
    return mask


def _reach_of(cluster: Cluster, group: PodGroup, entry: GroupClaim) -> BoolArray:
    nowhere = np.zeros(len(cluster.nodes), np.bool_)
    claim = entry.claim
    if claim is None or not _usable(claim, entry, group):
        return nowhere
    if claim.fully_bound:
        volume = cluster.storage.volumes.get(claim.spec.volume_name)
        if volume is None:
            return nowhere
        mask = of_volume(cluster, volume)
        return mask if entry.ephemeral else mask & _zones(cluster, volume)
    if claim.spec.volume_name or not delayed(cluster.storage, claim):
        return nowhere
    return _bindable(cluster, claim)


def _usable(claim: PersistentVolumeClaim, entry: GroupClaim, group: PodGroup) -> bool:
    if claim.status.phase == "Lost" or claim.metadata.deletion_timestamp is not None:
        return False
    owner = claim.metadata.controller
    return not entry.ephemeral or (owner is not None and owner.uid == group.example.uid)


def delayed(storage: Storage, claim: PersistentVolumeClaim) -> bool:
    """Whether an unbound claim waits for the scheduler's choice of a node."""
    found = storage.classes.get(claim.storage_class or "")
    return found is not None and found.volume_binding_mode == "WaitForFirstConsumer"


def of_volume(cluster: Cluster, volume: PersistentVolume) -> BoolArray:
    """Nodes that a volume's node affinity admits; it sees labels only."""
    required = volume.spec.node_affinity.required
    if required is None:
        return np.ones(len(cluster.nodes), np.bool_)
    mask = np.zeros(len(cluster.nodes), np.bool_)
    for term in required.node_selector_terms:
        if not term.is_empty:
            mask |= _all_of(cluster, term.match_expressions)
    return mask


def _zones(cluster: Cluster, volume: PersistentVolume) -> BoolArray:
    """Zone labels of a volume; nodes without any zone or region label pass. `a__b` is two zones."""
    labelled: BoolArray = np.logical_or.reduce(
        [cluster.topology(key).domain_of >= 0 for key in _CURRENT]
    )
    mask = np.ones(len(cluster.nodes), np.bool_)
    for key, current in _CURRENT.items():
        parts = {part.strip() for part in volume.metadata.labels.get(key, "").split("__")}
        if "" not in parts:
            same = cluster.topology(key).domain_of >= 0
            there = np.where(same, _having(cluster, key, parts), _having(cluster, current, parts))
            mask &= there | ~labelled
    return mask


def _bindable(cluster: Cluster, claim: PersistentVolumeClaim) -> BoolArray:
    """Nodes where an unbound claim finds a free volume or can have one made."""
    storage_class = cluster.storage.classes[claim.storage_class or ""]
    made = _provisionable(cluster, storage_class) & _roomy(cluster, claim, storage_class)
    selected = claim.metadata.annotations.get(SELECTED_NODE)
    if selected is not None:
        mask = np.zeros(len(cluster.nodes), np.bool_)
        if selected in cluster.node_index:
            mask[cluster.node_index[selected]] = True
        return mask & made
    named = [v for v in fitting(cluster.storage, claim) if v.spec.claim_ref is not None]
    if named:
        return of_volume(cluster, named[0]) | made
    for volume in fitting(cluster.storage, claim):
        made = made | of_volume(cluster, volume)
    return made


def fitting(storage: Storage, claim: PersistentVolumeClaim) -> list[PersistentVolume]:
    """Free volumes that an unbound claim may take, in order of their names."""
    wanted = claim.spec.resources.requests.get(STORAGE, 0)
    return [
        volume
        for _, volume in sorted(storage.volumes.items())
        if volume.metadata.deletion_timestamp is None
        and volume.storage_class == (claim.storage_class or "")
        and volume.spec.capacity.get(STORAGE, 0) >= wanted
        and volume.spec.volume_mode == claim.spec.volume_mode
        and _free_for(volume, claim)
    ]


def _free_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    reference = volume.spec.claim_ref
    if reference is not None:
        same = (reference.namespace, reference.name) == (claim.namespace, claim.name)
        return same and reference.uid in ("", claim.metadata.uid)
    selector = claim.spec.selector
    return (
        volume.status.phase == "Available"
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        and (selector is None or selector.matches(volume.metadata.labels))
    )


def _provisionable(cluster: Cluster, storage_class: StorageClass) -> BoolArray:
    mask = np.zeros(len(cluster.nodes), np.bool_)
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return mask
    if not storage_class.allowed_topologies:
        return ~mask
    for term in storage_class.allowed_topologies:
        if term.match_label_expressions:
            here = np.ones(len(cluster.nodes), np.bool_)
            for requirement in term.match_label_expressions:
                here &= _having(cluster, requirement.key, requirement.values)
            mask |= here
    return mask


def _roomy(
    cluster: Cluster, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> BoolArray:
    """Nodes with storage left, where the driver says how much there is (KEP 1472)."""
    driver = cluster.storage.csi_drivers.get(storage_class.provisioner)
    wanted = claim.spec.resources.requests.get(STORAGE)
    everywhere = np.ones(len(cluster.nodes), np.bool_)
    if driver is None or not driver.spec.storage_capacity or wanted is None:
        return everywhere
    mask = ~everywhere
    for capacity in cluster.storage.capacities:
        limit = capacity.maximum_volume_size
        limit = capacity.capacity if limit is None else limit
        enough = limit is not None and whole_value(limit) >= whole_value(wanted)
        if capacity.storage_class_name == storage_class.name and enough:
            mask |= _selected(cluster, capacity.node_topology)
    return mask


def _selected(cluster: Cluster, selector: LabelSelector | None) -> BoolArray:
    if selector is None:
        return np.zeros(len(cluster.nodes), np.bool_)
    mask = _all_of(cluster, selector.match_expressions)
    for key, value in selector.match_labels.items():
        mask &= _having(cluster, key, (value,))
    return mask


def _all_of(
    cluster: Cluster, requirements: Sequence[NodeSelectorRequirement | LabelSelectorRequirement]
) -> BoolArray:
    mask = np.ones(len(cluster.nodes), np.bool_)
    for requirement in requirements:
        if requirement.operator == "In":
            mask &= _having(cluster, requirement.key, requirement.values)
            continue
        topology = cluster.topology(requirement.key)
        verdicts = [requirement.matches({requirement.key: value}) for value in topology.domains]
        mask &= np.array([*verdicts, requirement.matches({})], np.bool_)[topology.domain_of]
    return mask


def _having(cluster: Cluster, key: str, values: Iterable[str]) -> BoolArray:
    """Nodes whose label has one of the values; the domains of a topology are sorted."""
    topology = cluster.topology(key)
    mask = np.zeros(len(cluster.nodes), np.bool_)
    for value in values:
        index = bisect_left(topology.domains, value)
        if index < len(topology.domains) and topology.domains[index] == value:
            mask |= topology.domain_of == index
    return mask
