"""The few calls that a library user needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from planner.sources.options import DEFAULTS, ReadOptions

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.evictions.suggestion import EvictOptions
    from planner.scheduler.profile import Profile
    from planner.solver.options import SolveOptions
    from planner.solver.search import Report
    from planner.sources.inventory import Inventory
    from planner_models.descheduler_policy import DeschedulerPolicy
    from planner_models.evictions import EvictionPlan
    from planner_models.fleet import Placement
    from planner_models.fleet_decision import FleetDecision
    from planner_models.plan import Plan
    from planner_models.simulation import Simulation


def load(
    paths: Sequence[str], stdin: BinaryIO | None = None, options: ReadOptions = DEFAULTS
) -> Cluster:
    """A cluster from files, directories and standard input (`-`)."""
    from planner.cluster import build_cluster
    from planner.sources.load import load_paths

    return build_cluster(load_paths(paths, stdin, options))


def simulate(
    cluster: Cluster,
    profiles: Sequence[Profile] = (),
    *,
    seed: int = 0,
    preempt: bool = False,
    sampling: bool = False,
) -> Simulation:
    """What kube-scheduler would do with the pending pods; the default profile if none is given."""
    from planner.documents.simulation import SimulationOptions, simulation_of

    options = SimulationOptions(seed=seed, preempt=preempt, sampling=sampling)
    document, _ = simulation_of(cluster, profiles, options)
    return document


def solve(
    cluster: Cluster,
    options: SolveOptions | None = None,
    profile: Profile | None = None,
    progress: Report | None = None,
) -> Plan:
    """Where pods should go and in which steps; every step is checked by the scheduler's filters."""
    from planner.documents.plan import make_plan
    from planner.scheduler.profile import default_profile
    from planner.solver.options import SolveOptions

    return make_plan(cluster, options or SolveOptions(), profile or default_profile(), progress)


def evict(
    cluster: Cluster,
    options: EvictOptions | None = None,
    profile: Profile | None = None,
    *,
    policies: Sequence[DeschedulerPolicy] = (),
    progress: Report | None = None,
) -> EvictionPlan:
    """The fewest evictions after which kube-scheduler itself repairs what is broken."""
    from planner.documents.eviction_plan import make_eviction_plan
    from planner.evictions.suggestion import EvictOptions
    from planner.scheduler.profile import default_profile

    chosen, judged = options or EvictOptions(), profile or default_profile()
    return make_eviction_plan(cluster, chosen, judged, policies=policies, progress=progress)


def load_fleet(
    paths: Sequence[str], stdin: BinaryIO | None = None, options: ReadOptions = DEFAULTS
) -> Inventory:
    """Member clusters, placements and bindings from files, directories and standard input."""
    from planner.sources.load import load_paths

    return load_paths(paths, stdin, options)


def fleet(
    inventory: Inventory,
    placements: Sequence[Placement] | None = None,
    *,
    now: int | None = None,
    time_limit: float = 60.0,
) -> tuple[FleetDecision, ...]:
    """Which member clusters each placement gets, by Fleet and at best; all placements if None."""
    from planner.fleet import fleet as fleets

    chosen = fleets.placements(inventory) if placements is None else placements
    return fleets.decide_placements(inventory, chosen, now, time_limit)
