"""Topologies: a node label key splits the nodes into domains by its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner_models.node import Node

IntArray = NDArray[np.int64]
NO_DOMAIN = -1


@dataclass(frozen=True, eq=False)
class Topology:
    """The domains of one key: `domain_of[n]` is the domain of node n, -1 if it lacks the label."""

    key: str
    domains: tuple[str, ...]
    domain_of: IntArray

    @cached_property
    def single(self) -> bool:
        """Whether no two nodes are in the same domain, as is so with host names."""
        return len(self.domains) == int((self.domain_of >= 0).sum())

    def nodes_of(self, domain: int) -> IntArray:
        """The nodes in a domain."""
        return np.flatnonzero(self.domain_of == domain)


def topology_of(nodes: Sequence[Node], key: str) -> Topology:
    """Domains sorted by name, with or without pods on their nodes."""
    values = [node.labels.get(key) for node in nodes]
    domains = tuple(sorted({value for value in values if value is not None}))
    index = {value: i for i, value in enumerate(domains)}
    domain_of = np.fromiter(
        (NO_DOMAIN if value is None else index[value] for value in values), np.int64, len(nodes)
    )
    return Topology(key, domains, domain_of)
