"""Waves of evictions by names: who is evicted, where that is expected again, what to wait for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import counted_key
from planner.cluster.topology import IntArray
from planner.documents.ready_pods import ReadyAfter, controller_of
from planner.documents.workload_changes import counts_per_domain
from planner.evictions.goals import Aim, placed_at
from planner.evictions.repeated_trials import TriedWaves
from planner_models.evictions import (
    DomainCounts,
    EvictionLanding,
    EvictionWave,
    PlannedEviction,
    Promised,
)


class Tried(Protocol):
    """Waves that were tried, and the cluster that they are for."""

    @property
    def given(self) -> Cluster:
        """The cluster as it was read."""

    @property
    def start(self) -> Cluster:
        """The same after kube-scheduler has placed what it can."""

    @property
    def aim(self) -> Aim:
        """What is to be reached."""

    @property
    def tried(self) -> TriedWaves:
        """The waves, and how they went."""

    def excess_at(self, node_of: IntArray) -> int:
        """What is left to do with pods on these nodes."""


def planned_evictions(found: Tried) -> Iterator[tuple[int, PlannedEviction]]:
    """Every pod to evict, wave by wave, with the nodes on which it is expected again.

    Thousands of pods may be expected on the same thousands of nodes: they share one tuple, which is
    put in unchecked, since a model makes a copy of what it checks.
    """
    real, names = found.aim.real, [node.name for node in found.aim.real.nodes]
    every = np.array(names, np.object_)
    expected = {key: tuple(every[nodes].tolist()) for key, nodes in found.tried.choices.items()}
    last = len(found.tried.waves)
    for number, wave in enumerate(found.tried.waves):
        for pod in sorted(wave.evictions, key=lambda pod: real.pods[pod].key):
            group, node = int(real.group_of[pod]), names[real.node_of[pod]]
            waves = (w for w in range(number, last) if (w, group) in expected)
            landing = next(waves, None)
            yield (
                pod,
                PlannedEviction(
                    pod=real.pods[pod].key,
                    uid=real.pods[pod].uid,
                    workload=real.workloads[group].short,
                    controller=controller_of(real.pods[pod]),
                    node=node,
                    wave=number + 1,
                    reason=f"makes room on {node}",
                ).model_copy(
                    update={"expected_nodes": () if landing is None else expected[landing, group]}
                ),
            )


def eviction_waves(found: Tried) -> Iterator[EvictionWave]:
    """The waves with their cordons, what each waits for, and where pods are after it."""
    real = found.aim.real
    waited = int(np.count_nonzero(found.start.node_of == PENDING))
    first = found.tried.runs[0]
    before = found.given.node_of
    ready = ReadyAfter(found.start)
    for number, wave in enumerate(found.tried.waves):
        refs = {real.workloads[real.group_of[pod]] for pod in wave.evictions}
        ended = first.after[number] if number < len(first.after) else first.node_of
        waiting = int(np.count_nonzero(ended == PENDING))
        yield EvictionWave(
            number=number + 1,
            evictions=tuple(sorted(real.pods[pod].key for pod in wave.evictions)),
            cordon=tuple(real.nodes[node].name for node in wave.cordons),
            drain=tuple(real.nodes[n].name for n in found.aim.drained) if number == 0 else (),
            hold=wave.holds,
            wait_for=tuple(sorted(f"{ref.namespace}/{ref.short}" for ref in refs)),
            ready=ready.wave(wave.evictions, before, ended),
            pending=max(0, waiting - waited),
            landings=tuple(_landings(real, before, ended)),
            promises=tuple(_promises(placed_at(real, ended), wave.evictions)),
            excess=found.excess_at(ended),
        )
        before = ended


def promised(found: Tried, excess: int, *, everything: bool) -> Promised | None:
    """What every seed was measured by; of a part of the rules, what is left if ties go by name."""
    target = found.tried.target
    if target is None:
        return None
    return Promised(excess=target.excess if everything else excess, waiting=target.waiting)


def _promises(cluster: Cluster, evicted: Iterable[int]) -> Iterator[DomainCounts]:
    """Where the pods of the workloads run that lose some in a wave."""
    key = counted_key(cluster)
    topology = None if key is None else cluster.topology(key)
    counts = counts_per_domain(cluster, topology)
    refs = {cluster.workloads[int(cluster.group_of[pod])] for pod in evicted}
    groups: dict[WorkloadRef, list[int]] = {ref: [] for ref in sorted(refs)}
    for group, ref in enumerate(cluster.workloads):
        if ref in groups:
            groups[ref].append(group)
    for ref, own in groups.items():
        row = counts[own].sum(axis=0).tolist()
        domains = () if topology is None else topology.domains
        yield DomainCounts(
            namespace=ref.namespace,
            workload=ref.short,
            topology_key=key,
            counts=dict(zip(domains, row, strict=True)),
        )


def _landings(cluster: Cluster, before: IntArray, after: IntArray) -> Iterator[EvictionLanding]:
    for pod in np.flatnonzero(before != after).tolist():
        node = int(after[pod])
        yield EvictionLanding(
            pod=cluster.pods[pod].key, node=cluster.nodes[node].name if node >= 0 else None
        )
