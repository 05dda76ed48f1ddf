"""Rollouts in the cluster that ships with planner: 12 nodes, three zones, seven Deployments."""

from __future__ import annotations

from functools import cache

import pytest

from planner.cluster import Cluster, build_cluster
from planner.examples import example_path
from planner.scenario.controller_run import manners
from planner.scenario.rollout import rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner.scheduler.profile import default_profile
from planner.sources.load import load_paths
from planner_models.pod import PodTemplate
from planner_models.workload import Deployment
from tests.scenario.running_workloads import ref


@cache
def before_the_outage() -> Cluster:
    return build_cluster(load_paths([str(example_path("zone-outage-before"))]))


def runs(name: str, template: PodTemplate | None = None) -> list[RolloutRun]:
    rollout = rollout_of(before_the_outage(), default_profile(), ref(name), template)
    return [rollout.run(manner) for manner in manners(20)]


@pytest.mark.parametrize(
    ("name", "most_down"), [("api", 3), ("auth", 0), ("cart", 1), ("search", 1), ("web", 2)]
)
def test_every_rollout_completes_and_some_end_uneven(name: str, most_down: int) -> None:
    """Old and new pods are counted together while both are there (kubernetes#98215)."""
    found = runs(name)
    assert all(run.complete for run in found)
    assert max(run.most_down for run in found) == most_down
    assert any(run.excess for run in found)


@pytest.mark.parametrize("name", ["batch", "feed"])
def test_without_a_hard_rule_nothing_is_over_a_limit(name: str) -> None:
    assert all(run.complete and not run.spread for run in runs(name))


@pytest.mark.parametrize("name", ["api", "auth", "cart", "search", "web"])
def test_match_label_keys_on_the_zone_constraint_keep_it_even(name: str) -> None:
    found = before_the_outage().owners.controllers[ref(name)]
    assert isinstance(found, Deployment)
    template = found.spec.template
    zone, host = template.spec.topology_spread_constraints
    keyed = zone.replace(match_label_keys=("pod-template-hash",))
    spec = template.spec.replace(topology_spread_constraints=(keyed, host))
    for run in runs(name, template.replace(spec=spec)):
        assert run.complete
        assert run.spread[0].excess == 0
