"""Pods that rules count per domain, in every lane.

Copies of a node are in the same domain of every key but the host name: there each is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner_models.node import HOSTNAME


@dataclass(frozen=True, eq=False)
class Counter:
    """What one rule counts; arrays are by node of the sample, with a last place for no node."""

    number: int
    hosts: bool
    """Whether each node is a domain of its own."""
    factors: Mapping[int, int]
    """By group: how much one of its pods counts."""
    counted: IntArray
    """1 where pods count, 0 elsewhere."""
    domain: IntArray
    """`domains` for nodes without the label."""
    domains: int
    start: IntArray
    """What is counted on a node of the sample already."""

    @property
    def labelled(self) -> BoolArray:
        """Nodes that are in a domain."""
        found: BoolArray = self.domain < self.domains
        return found

    def begin(self, kind: IntArray) -> IntArray:
        """By lane: counts by node, or by domain with a last place for none."""
        if self.hosts:
            return self.start[kind]
        counts = np.zeros((len(kind), self.domains + 1), np.int64)
        np.add.at(counts, (np.arange(len(kind))[:, None], self.domain[kind]), self.start[kind])
        return counts


class Counters:
    """Every counter once: groups with the same rule share it."""

    def __init__(self) -> None:
        self.every: list[Counter] = []
        self._known: dict[tuple[object, ...], Counter] = {}

    def get(
        self, topology: Topology, factors: Mapping[int, int], counted: BoolArray, start: IntArray
    ) -> Counter:
        """The counter of these groups' pods; only labelled nodes count."""
        there = counted & (topology.domain_of >= 0)
        begun = np.where(there, start, 0)
        key = (topology.key, frozenset(factors.items()), there.tobytes(), begun.tobytes())
        found = self._known.get(key)
        if found is None:
            domains = len(topology.domains)
            domain = np.where(topology.domain_of < 0, domains, topology.domain_of)
            found = self._known[key] = Counter(
                len(self.every),
                topology.key == HOSTNAME,
                dict(factors),
                np.append(there, False).astype(np.int64),
                np.append(domain, domains),
                domains,
                np.append(begun, 0),
            )
            self.every.append(found)
        return found
