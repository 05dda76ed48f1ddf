"""Room in clusters that are too large for the solver: found by trying, proven by counting."""

from __future__ import annotations

from typing import Any

from planner.cluster import Cluster
from planner.explain.diagnose import ExplainOptions
from planner.explain.room.rearrange import Limits
from planner.explain.several_pods import explain_pods
from planner.replay.verify import check_steps
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import nodes, requests, spread, workload
from tests.explain.test_batches import steps_of
from tests.objects import cluster_of

ZONES = {zone: [f"{zone}{i:02}" for i in range(20)] for zone in ("a", "b", "c")}
LARGE = Limits(cells=1)
"""The solver is not asked."""


def stuck_in_c(batch: str, per_node: int, pending: int = 1, free: int = 0) -> Cluster:
    """Web may go to c only, whose nodes are full of batch pods; a and b have room for those."""
    web: dict[str, Any] = {**requests("2"), "topologySpreadConstraints": [spread("web")]}
    full = [name for name in ZONES["c"][free:] for _ in range(per_node)]
    return cluster_of(
        *nodes(ZONES),
        *workload("web", ["a00", "b00"], pending, spec=web),
        *workload("batch", full, spec=requests(batch)),
    )


def explained(cluster: Cluster, limits: Limits = LARGE) -> Diagnosis:
    pods = cluster.pending.tolist()
    return explain_pods(cluster, pods, default_profile(), ExplainOptions(limits))


def accepted(cluster: Cluster, found: Diagnosis) -> bool:
    checked = check_steps(cluster, steps_of(cluster, found), default_profile())
    run = all(checked.after.node_of[cluster.pod_index[target]] >= 0 for target in found.targets)
    return checked.good and run


def test_three_evictions_from_one_node_and_no_fewer() -> None:
    cluster = stuck_in_c("500m", 7)
    found = explained(cluster)
    assert found.verdict == "stuck"
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == 3
    assert found.rearrangement.fewest
    assert accepted(cluster, found)


def test_the_solver_agrees_where_it_is_asked() -> None:
    cluster = stuck_in_c("1", 3)
    by_hand, by_solver = explained(cluster), explained(cluster, Limits())
    assert by_hand.rearrangement is not None
    assert by_solver.rearrangement is not None
    assert by_hand.rearrangement.evictions == by_solver.rearrangement.evictions == 1


def test_more_evictions_than_can_be_combined() -> None:
    cluster = stuck_in_c("200m", 20)
    found = explained(cluster)
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == 10
    assert found.rearrangement.fewest
    assert accepted(cluster, found)


def test_several_pods_get_room_one_after_the_other() -> None:
    cluster = stuck_in_c("1500m", 2, pending=4)
    found = explained(cluster)
    assert found.verdict == "stuck"
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == 2
    assert accepted(cluster, found)


def test_what_is_not_decided_says_which_limit_was_hit() -> None:
    cluster = stuck_in_c("1500m", 2, pending=40)
    found = explained(cluster)
    assert found.verdict == "undecided"
    assert found.rearranging[-1] == (
        "These evictions make room for the first of them; whether others help all of them is not "
        "known: more than 12 pods are not given room one by one in a cluster of this size."
    )


def test_evictions_that_an_undecided_headline_counts_are_listed() -> None:
    found = explained(stuck_in_c("1500m", 2, pending=40))
    assert "1 eviction makes" in found.headline
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == len(found.rearrangement.moves) == 1
    assert not found.rearrangement.fewest
    assert found.remedy == "1 eviction for one"


def test_evictions_for_the_only_pod_that_is_left_over_let_all_run() -> None:
    cluster = stuck_in_c("1500m", 2, pending=31, free=5)
    found = explained(cluster)
    assert found.without_node == 1
    assert found.verdict == "stuck"
    assert accepted(cluster, found)
    assert found.rearrangement is not None
    assert not found.rearrangement.fewest
