"""What the Reserve steps of placed pods have taken: free volumes, and nodes for new ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner_models.volume import SELECTED_NODE

NO_SUCH_NODE = -1


@dataclass(frozen=True)
class Bindings:
    """What a pod's unbound claims get on a node: free volumes, or volumes still to be made.

    `pairs` are claims with the free volumes they take. A claim that a pod mounts twice takes two.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    provision: tuple[str, ...] = ()

    @property
    def bind(self) -> Mapping[str, str]:
        """Claim to free volume."""
        return dict(self.pairs)

    def __bool__(self) -> bool:
        return bool(self.pairs or self.provision)


NOTHING = Bindings()


class Promises:
    """Free volumes promised to claims and claims tied to nodes, by how many placed pods.

    Pods that share an unbound claim hold its promise together: it lasts until the last one leaves.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._storage = cluster.storage
        self._nodes = cluster.node_index
        self._holders: IntArray = np.zeros(len(cluster.storage.volumes), np.int64)
        self._volumes: Counter[tuple[str, int]] = Counter()
        self._claims: Counter[tuple[str, int]] = Counter()
        self._promised: dict[str, set[int]] = defaultdict(set)
        self._node_of: dict[str, int] = {}

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(sorted(self._storage.volumes))}

    def shift(self, namespace: str, bindings: Bindings, node: int, delta: int) -> None:
        """A pod takes (1) or gives back (-1) what its claims got on the node."""
        for name, volume in bindings.pairs:
            claim, index = f"{namespace}/{name}", self._index[volume]
            self._holders[index] += delta
            self._volumes[claim, index] += delta
            if self._volumes[claim, index]:
                self._promised[claim].add(index)
            else:
                self._promised[claim].discard(index)
        for name in bindings.provision:
            claim = f"{namespace}/{name}"
            self._claims[claim, node] += delta
            if self._claims[claim, node]:
                self._node_of[claim] = node
            else:
                self._node_of.pop(claim, None)

    @property
    def taken(self) -> BoolArray:
        """Which free volumes were promised to some claim, in the order of their names."""
        return self._holders > 0

    def promised(self, claim: str) -> Iterable[int]:
        """The free volumes that were promised to a claim."""
        return self._promised.get(claim, ())

    def selected(self, claim: str) -> int | None:
        """The node a claim is tied to, by a placed pod or by its selected-node annotation."""
        node = self._node_of.get(claim)
        if node is not None:
            return node
        name = self._storage.claims[claim].metadata.annotations.get(SELECTED_NODE)
        return None if name is None else self._nodes.get(name, NO_SUCH_NODE)
