"""Take one picked cluster back, so that the counts allow the next pick again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.fleet.repairs.proposal import Proposal
from planner.fleet.setting import Setting


def proposals(setting: Setting) -> Iterator[Proposal]:
    """Each cluster that has a current binding; the first that helps in each group of a label."""
    for cluster in sorted(setting.current):
        name = setting.clusters[cluster].name
        domains = tuple(topology.domain_of[cluster] for topology in setting.topologies)
        yield Proposal(
            kind="evictBinding",
            family=str(domains),
            text=f"evict {name}",
            before=setting,
            after=replace(setting, bindings=setting.bindings.without(name)),
            object=f"MemberCluster/{name}",
        )
