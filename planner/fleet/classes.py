"""Clusters that no rule tells apart: only how many of them are picked matters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from planner.fleet.setting import Setting
from planner.fleet.topology_spread import Topology


@dataclass(frozen=True)
class ClusterClass:
    """Interchangeable clusters, in the order in which Fleet would take them: last name first."""

    domains: tuple[int, ...]
    affinity: int
    existing: bool
    members: tuple[int, ...]


def classes(
    setting: Setting, candidates: Iterable[int], topologies: Sequence[Topology]
) -> tuple[ClusterClass, ...]:
    """The candidates by their domains, affinity score and whether they have the resources now."""
    found: dict[tuple[tuple[int, ...], int, bool], list[int]] = defaultdict(list)
    for cluster in candidates:
        domains = tuple(topology.domain_of[cluster] for topology in topologies)
        found[domains, setting.affinity[cluster], cluster in setting.existing].append(cluster)
    return tuple(
        ClusterClass(*key, members=tuple(sorted(members, reverse=True)))
        for key, members in sorted(found.items())
    )


def chosen(groups: Sequence[ClusterClass], numbers: Sequence[int]) -> tuple[int, ...]:
    """The clusters that so many of each class stand for."""
    picked = (
        cluster
        for group, number in zip(groups, numbers, strict=True)
        for cluster in group.members[:number]
    )
    return tuple(sorted(picked))


def numbers_of(groups: Sequence[ClusterClass], picked: Collection[int]) -> list[int]:
    """How many of each class are among the picked."""
    return [sum(member in picked for member in group.members) for group in groups]
