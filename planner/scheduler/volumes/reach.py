"""Which nodes storage can reach: node affinity of volumes, allowed topologies, capacities.

All of them ask for node labels. Answers are boolean arrays over the nodes, computed once per
distinct question: the volumes of a zone share theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner_models.quantity import whole_value
from planner_models.selectors import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorRequirement,
)
from planner_models.volume import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologySelectorTerm,
)

NO_PROVISIONER = "kubernetes.io/no-provisioner"
STORAGE = "storage"


@dataclass(frozen=True, eq=False)
class Reach:
    """The nodes that a volume's node affinity admits, as a mask and as indexes."""

    mask: BoolArray

    @cached_property
    def nodes(self) -> IntArray:
        """The admitted nodes."""
        return np.flatnonzero(self.mask)


class NodeReach:
    """Label questions about the nodes of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._size = len(cluster.nodes)
        self._everywhere = Reach(np.ones(self._size, np.bool_))
        self._nowhere = np.zeros(self._size, np.bool_)
        self._of_volume: dict[str, Reach] = {}
        self._affinities: dict[NodeSelector, Reach] = {}
        self._by_value: dict[str, dict[str, IntArray]] = {}
        self._topologies: dict[tuple[TopologySelectorTerm, ...], BoolArray] = {}
        self._selected: dict[LabelSelector, BoolArray] = {}
        self._rooms: dict[tuple[str, int], BoolArray] = {}

    def of_volume(self, volume: PersistentVolume) -> Reach:
        """Nodes that a volume's node affinity admits.

        The scheduler shows it the node's labels only, so that `matchFields` ask nothing.
        """
        reach = self._of_volume.get(volume.name)
        if reach is None:
            reach = self._admitted(volume.spec.node_affinity.required)
            self._of_volume[volume.name] = reach
        return reach

    def _admitted(self, required: NodeSelector | None) -> Reach:
        if required is None:
            return self._everywhere
        found = self._affinities.get(required)
        if found is None:
            mask = self._nowhere.copy()
            for term in required.node_selector_terms:
                if not term.is_empty:
                    mask |= self._all_of(term.match_expressions)
            found = self._affinities[required] = Reach(mask)
        return found

    def provisionable(self, storage_class: StorageClass) -> BoolArray:
        """Nodes for which the class can make volumes.

        It needs a provisioner, and one of its `allowedTopologies` must match, if there are any.
        """
        if storage_class.provisioner in ("", NO_PROVISIONER):
            return self._nowhere
        terms = storage_class.allowed_topologies
        if not terms:
            return self._everywhere.mask
        found = self._topologies.get(terms)
        if found is None:
            found = self._nowhere.copy()
            for term in terms:
                found |= self._allowed(term)
            self._topologies[terms] = found
        return found

    def roomy(self, claim: PersistentVolumeClaim, storage_class: StorageClass) -> BoolArray:
        """Nodes with storage left for a claim, where its driver says how much there is.

        Each claim is compared alone: what other claims take is not subtracted (KEP 1472).
        """
        driver = self._cluster.storage.csi_drivers.get(storage_class.provisioner)
        wanted = claim.spec.resources.requests.get(STORAGE)
        if driver is None or not driver.spec.storage_capacity or wanted is None:
            return self._everywhere.mask
        key = (storage_class.name, wanted)
        found = self._rooms.get(key)
        if found is None:
            found = self._nowhere.copy()
            for capacity in self._cluster.storage.capacities:
                if capacity.storage_class_name == storage_class.name and _holds(capacity, wanted):
                    found |= self._selected_by(capacity.node_topology)
            self._rooms[key] = found
        return found

    def having(self, key: str, values: Iterable[str]) -> BoolArray:
        """Nodes whose label has one of these values."""
        by_value = self._by_value.get(key)
        if by_value is None:
            topology = self._cluster.topology(key)
            by_value = self._by_value[key] = _nodes_by_value(topology.domains, topology.domain_of)
        mask = self._nowhere.copy()
        for value in values:
            nodes = by_value.get(value)
            if nodes is not None:
                mask[nodes] = True
        return mask

    def labelled(self, key: str) -> BoolArray:
        """Nodes that have the label."""
        return self._cluster.topology(key).domain_of >= 0

    def _allowed(self, term: TopologySelectorTerm) -> BoolArray:
        if not term.match_label_expressions:
            return self._nowhere
        mask = self._everywhere.mask
        for requirement in term.match_label_expressions:
            mask = mask & self.having(requirement.key, requirement.values)
        return mask

    def _selected_by(self, selector: LabelSelector | None) -> BoolArray:
        if selector is None:
            return self._nowhere
        found = self._selected.get(selector)
        if found is None:
            found = self._all_of(selector.match_expressions)
            for key, value in selector.match_labels.items():
                found = found & self.having(key, (value,))
            self._selected[selector] = found
        return found

    def _all_of(
        self, requirements: Sequence[NodeSelectorRequirement | LabelSelectorRequirement]
    ) -> BoolArray:
        mask = self._everywhere.mask
        for requirement in requirements:
            mask = mask & self._meeting(requirement)
        return mask

    def _meeting(
        self, requirement: NodeSelectorRequirement | LabelSelectorRequirement
    ) -> BoolArray:
        key = requirement.key
        if requirement.operator == "In":
            return self.having(key, requirement.values)
        topology = self._cluster.topology(key)
        verdicts = [requirement.matches({key: value}) for value in topology.domains]
        return np.array([*verdicts, requirement.matches({})], np.bool_)[topology.domain_of]


def _nodes_by_value(domains: Sequence[str], domain_of: IntArray) -> dict[str, IntArray]:
    order = np.argsort(domain_of, kind="stable")
    starts = np.searchsorted(domain_of[order], np.arange(len(domains) + 1))
    return {
        value: order[start:end]
        for value, start, end in zip(domains, starts[:-1], starts[1:], strict=True)
    }


def _holds(capacity: CSIStorageCapacity, wanted: int) -> bool:
    """`maximumVolumeSize` says it better than `capacity`; neither means no storage at all.

    Both sides are rounded up to whole bytes.
    """
    limit = capacity.maximum_volume_size
    if limit is None:
        limit = capacity.capacity
    return limit is not None and whole_value(limit) >= whole_value(wanted)
