"""The few calls that a library user needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from models.simulation import Simulation
    from planner.cluster import Cluster
    from planner.scheduler.profile import Profile


def load(paths: Sequence[str], stdin: BinaryIO | None = None) -> Cluster:
    """A cluster from files, directories and standard input (`-`)."""
    from planner.cluster import build_cluster
    from planner.sources.load import load_paths

    return build_cluster(load_paths(paths, stdin))


def simulate(
    cluster: Cluster,
    profiles: Sequence[Profile] = (),
    *,
    seed: int = 0,
    preempt: bool = False,
    sampling: bool = False,
) -> Simulation:
    """What kube-scheduler would do with the pending pods; the default profile if none is given."""
    from planner.report.simulation import SimulationOptions, simulation_of

    options = SimulationOptions(seed=seed, preempt=preempt, sampling=sampling)
    document, _ = simulation_of(cluster, profiles, options)
    return document
