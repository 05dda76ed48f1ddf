"""What schedulers share about one set of nodes and groups, and what they must not share."""

from __future__ import annotations

from dataclasses import replace

from planner.cluster import PENDING, Cluster
from planner.replay.cordons import cordoned_node
from planner.scheduler.cycle import Evaluation, Scheduler
from planner.scheduler.framework.facts import facts_of
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.profile import default_profile
from tests.objects import cluster_of, node, pod

PROFILE = default_profile()


def example() -> Cluster:
    return cluster_of(node("n1"), node("n2", "b"), pod("web", "n1"), pod("db"))


def passing(cluster: Cluster, pod_index: int) -> list[int]:
    scheduler = Scheduler(SchedulingState(cluster), PROFILE)
    found: list[int] = scheduler.evaluate(pod_index).feasible.tolist()
    return found


def test_snapshots_that_differ_in_placement_share_the_facts_about_their_nodes() -> None:
    cluster = example()
    moved = cluster.with_placement({0: PENDING})
    assert facts_of(moved) is facts_of(cluster)
    assert SchedulingState(moved).node_rules is SchedulingState(cluster).node_rules


def test_other_nodes_have_other_facts() -> None:
    cluster = example()
    assert passing(cluster, 1) == [0, 1]
    cordoned = replace(cluster, nodes=(cordoned_node(cluster.nodes[0], True), cluster.nodes[1]))
    assert passing(cordoned, 1) == [1]
    assert passing(cluster, 1) == [0, 1]


def test_a_pod_with_another_spec_is_put_before_plugins_that_skipped_the_given_one() -> None:
    cluster = example()
    assert passing(cluster, 1) == [0, 1]
    state = SchedulingState(cluster)
    group = state.group(1)
    spec = group.spec.replace(node_selector={"topology.kubernetes.io/zone": "b"})
    cycle = GroupCycle(state, PROFILE, replace(group, spec=spec))
    assert Evaluation(state, 1, cycle).feasible.tolist() == [1]
    assert passing(cluster, 1) == [0, 1]


def test_what_was_found_once_is_not_looked_for_again() -> None:
    facts, answers = facts_of(example()), iter([42])
    assert facts.once("answer", lambda: next(answers)) == 42
    assert facts.once("answer", lambda: next(answers)) == 42
