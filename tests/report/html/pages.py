"""The reports of packaged examples and of made-up clusters, for tests."""

from __future__ import annotations

from collections.abc import Sequence

import planner
from planner.cluster import Cluster
from planner.documents.drain_plan import drain_plan
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.documents.simulation import simulation_of
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.evictions.suggestion import EvictOptions
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.report.html.drain_page import drain_page
from planner.report.html.evict_page import evict_page
from planner.report.html.explain_page import explain_page
from planner.report.html.fleet_page import fleet_page
from planner.report.html.simulate_page import simulate_page
from planner.report.html.solve_page import solve_page
from planner.report.html.view import Page
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.plan import Plan


def example(name: str) -> Cluster:
    return planner.load(example=name).snapshot


def solved(cluster: Cluster, *, rebalance: bool = True) -> Page:
    return solve_page(cluster, planned(cluster, rebalance=rebalance))


def planned(cluster: Cluster, *, rebalance: bool = True) -> Plan:
    return make_plan(cluster, SolveOptions(rebalance=rebalance), default_profile())


def evicted(cluster: Cluster) -> Page:
    plan = make_eviction_plan(cluster, EvictOptions(), default_profile())
    return evict_page(cluster, plan)


def drained(cluster: Cluster, *nodes: str) -> Page:
    options = DrainOptions(tuple(cluster.node_index[name] for name in nodes), seeds=3)
    return drain_page(cluster, drain_plan(find_drain(cluster, options, default_profile())))


def simulated(cluster: Cluster) -> Page:
    return simulate_page(cluster, simulation_of(cluster)[0])


def explained(cluster: Cluster, pods: Sequence[str]) -> Page:
    indexes = [cluster.pod_index[pod] for pod in pods]
    found = explain_pods(cluster, indexes, default_profile(), ExplainOptions())
    return explain_page(cluster, found)


def placed(file: str) -> Page:
    """The page of all placements of a fleet."""
    fleet = planner.load_fleet(file)
    return fleet_page(fleet.members, fleet.decide().items)
