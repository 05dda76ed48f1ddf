"""What may happen to a cluster, as values: somebody changes something, or something fails.

Nodes and pods are indexes of the snapshot that the changes are made to, and workloads its own
references: whoever takes names from users looks them up before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.cluster.owners import WorkloadRef
from planner.sources.inventory import Inventory
from planner_models.node import Node

Manner = Literal["unreachable", "removed"]
"""The node stops answering and its object stays; or the object is deleted, too."""


@dataclass(frozen=True)
class Apply:
    """Manifests over the cluster, as `kubectl apply`.

    `inventory` holds both: what was read of the cluster, then the manifests, loaded together, so
    that of two objects with the same name the later one counts.
    """

    inventory: Inventory


@dataclass(frozen=True)
class Scale:
    """As `kubectl scale`."""

    workload: WorkloadRef
    replicas: int


@dataclass(frozen=True)
class AddNodes:
    """So many nodes like the template: names and hostname labels of their own, the rest alike."""

    template: Node
    count: int = 1


@dataclass(frozen=True)
class Cordon:
    """As `kubectl cordon`: no new pod comes, and the nodes still count as domains."""

    nodes: tuple[int, ...]


@dataclass(frozen=True)
class RemovePods:
    """These pods are gone, and nobody makes them anew."""

    pods: tuple[int, ...]


@dataclass(frozen=True)
class Evict:
    """These pods are evicted and gone; their controllers make new ones. No budget is asked."""

    pods: tuple[int, ...]


@dataclass(frozen=True)
class LoseNodes:
    """These nodes fail together."""

    nodes: tuple[int, ...]
    manner: Manner


Change = Apply | Scale | AddNodes | Cordon | RemovePods | Evict | LoseNodes

ORDER: tuple[type[Change], ...] = (
    Apply,
    Scale,
    AddNodes,
    Cordon,
    RemovePods,
    Evict,
    LoseNodes,
)
"""In which changes are made, in whatever order they were asked for."""
