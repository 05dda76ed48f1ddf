"""Sets of nodes in words: by name while they are few, then by domain, pool and number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.words import NAMED, conjoined, count_of, short_key
from planner_models.node import HOSTNAME, ZONE

LISTED = 4
"""So many names a narrow column lists."""


class NodeNames:
    """Names for the nodes of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def total(self) -> int:
        """How many nodes there are."""
        return len(self._cluster.nodes)

    @cached_property
    def zones(self) -> Topology | None:
        """The topology that people think in: the zone label, or the first key that ends in it."""
        nodes = self._cluster.nodes
        keys = {key for node in nodes for key in node.labels if short_key(key) == "zone"}
        for key in sorted(keys, key=lambda key: (key != ZONE, key)):
            return self._cluster.topology(key)
        return None

    def per_node(self, key: str) -> bool:
        """Whether the label holds the node's own name, as hostname does."""
        if key == HOSTNAME:
            return True
        topology, nodes = self._cluster.topology(key), self._cluster.nodes
        labelled = np.flatnonzero(topology.domain_of >= 0).tolist()
        return bool(labelled) and all(
            topology.domains[topology.domain_of[i]] == nodes[i].name for i in labelled
        )

    def within(self, key: str) -> str:
        """`on node1`, but `in eu-1a`."""
        return "on" if self.per_node(key) else "in"

    def names(self, mask: BoolArray) -> list[str]:
        """The nodes' names."""
        return [self._cluster.nodes[i].name for i in np.flatnonzero(mask).tolist()]

    def names_at(self, nodes: IntArray) -> tuple[str, ...]:
        """The names of indexed nodes."""
        return tuple(self._cluster.nodes[i].name for i in nodes.tolist())

    def describe(self, mask: BoolArray) -> str:
        """`a1 and a2`, `12 nodes in eu-1a`, `every node`."""
        number = int(mask.sum())
        if number <= NAMED:
            return conjoined(self.names(mask))
        if number == self.total:
            return f"all {number} nodes"
        return f"{number} nodes{self._in_zones(mask)}"

    def mask(self, nodes: Sequence[int]) -> BoolArray:
        """Nodes by index as an array of all of them."""
        mask = np.zeros(self.total, np.bool_)
        mask[list(nodes)] = True
        return mask

    def listed(self, mask: BoolArray, word: str = "") -> str:
        """`a1 a2 b1 b2`, for the narrow columns of repairs, or with a word before the last one."""
        number = int(mask.sum())
        if number == self.total and number > 1:
            return "any node"
        if number <= LISTED:
            return conjoined(self.names(mask), word) if word else " ".join(self.names(mask))
        return f"{number} nodes{self._in_zones(mask)}"

    def _in_zones(self, mask: BoolArray) -> str:
        zones = self._zones_of(mask)
        return f" in {conjoined(zones)}" if zones else ""

    def _zones_of(self, mask: BoolArray) -> list[str]:
        """The zones, if they are fewer than all and few enough to name."""
        if self.zones is None:
            return []
        found = np.unique(self.zones.domain_of[mask])
        if len(found) > 3 or found[0] < 0 or len(found) == len(self.zones.domains):
            return []
        return [self.zones.domains[i] for i in found.tolist()]

    def which(self, mask: BoolArray) -> str:
        """`ssd-*, eu-1a and eu-1b`: for the rows of a table of classes."""
        if int(mask.sum()) <= 2:
            return ", ".join(self.names(mask))
        names = self.names(mask)
        prefix = _common_prefix(names)
        pool = f"{prefix}*" if prefix and prefix not in names else ""
        if not pool:
            pool = names[0] + ", ..." if len(names) > NAMED else ", ".join(names)
        if self.zones is None:
            return pool
        zones = self._zones_of(mask)
        return f"{pool}, {conjoined(zones)}" if zones else f"{pool}, {self._every(mask)}"

    def _every(self, mask: BoolArray) -> str:
        assert self.zones is not None
        found = np.unique(self.zones.domain_of[mask])
        everywhere = len(found[found >= 0]) == len(self.zones.domains)
        return "every zone" if everywhere else count_of(len(found), "zone")


def _common_prefix(names: Sequence[str]) -> str:
    """What all names begin with: that of the first and the last in order is that of all."""
    first, last = min(names), max(names)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]
