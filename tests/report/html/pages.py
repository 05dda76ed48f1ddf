"""The reports of packaged examples and of made-up clusters, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from planner.api import evict, fleet, load, load_fleet, solve
from planner.cluster import Cluster
from planner.documents.simulation import simulation_of
from planner.examples import example_path
from planner.explain.diagnose import ExplainOptions
from planner.explain.many import explain_pods
from planner.report.html.evict_page import evict_page
from planner.report.html.explain_page import explain_page
from planner.report.html.fleet_page import fleet_page
from planner.report.html.simulate_page import simulate_page
from planner.report.html.solve_page import solve_page
from planner.report.html.view import Page
from planner.scheduler.profile import default_profile
from planner.solver.options import SolveOptions
from planner_models.plan import Plan


def example(name: str) -> Cluster:
    return load([str(example_path(name))])


def solved(cluster: Cluster, *, rebalance: bool = True) -> Page:
    return solve_page(cluster, planned(cluster, rebalance=rebalance))


def planned(cluster: Cluster, *, rebalance: bool = True) -> Plan:
    return solve(cluster, SolveOptions(rebalance=rebalance))


def evicted(cluster: Cluster) -> Page:
    return evict_page(cluster, evict(cluster))


def simulated(cluster: Cluster) -> Page:
    return simulate_page(cluster, simulation_of(cluster)[0])


def explained(cluster: Cluster, pods: Sequence[str]) -> Page:
    indexes = [cluster.pod_index[pod] for pod in pods]
    found = explain_pods(cluster, indexes, default_profile(), ExplainOptions())
    return explain_page(cluster, found)


def placed(file: str) -> Page:
    """The page of all placements of a fleet."""
    inventory = load_fleet([file])
    return fleet_page(inventory.member_clusters, fleet(inventory))
