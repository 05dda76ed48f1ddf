"""Which bindings are current, and what makes them obsolete."""

from __future__ import annotations

from planner.fleet.bindings import Bindings, classify
from planner_models.fleet import ClusterResourcePlacement
from planner_models.fleet_binding import ClusterResourceBinding, ClusterSchedulingPolicySnapshot
from planner_models.member_cluster import MemberCluster
from tests.fleet.fleet_objects import (
    PARENT,
    binding,
    member,
    pick_n,
    placement,
    snapshot,
    spread,
)
from tests.objects import Json

MEMBERS = [MemberCluster.model_validate(member(name)) for name in ("ash", "elm", "yew")]
POLICY = pick_n(2, spread("region", 1))


def classified(*bindings: Json, snapshots: tuple[Json, ...] = ()) -> Bindings:
    return classify(
        ClusterResourcePlacement.model_validate(placement(POLICY)),
        [ClusterResourceBinding.model_validate(each) for each in bindings],
        [ClusterSchedulingPolicySnapshot.model_validate(each) for each in snapshots],
        MEMBERS,
    )


def under(cluster: str, policy: str) -> Json:
    return binding(cluster, schedulingPolicySnapshotName=policy)


def test_without_snapshots_the_newest_one_named_is_the_latest() -> None:
    found = classified(under("ash", "crp-9"), under("elm", "crp-10"))
    assert found.current == {"elm"}
    assert found.former == {"ash"}


def test_bindings_that_name_no_policy_are_current() -> None:
    assert classified(binding("ash"), binding("elm", "Scheduled")).current == {"ash", "elm"}


def test_the_latest_snapshot_tells_what_is_current() -> None:
    stored = (snapshot(1, POLICY), snapshot(0, POLICY, latest=False))
    found = classified(under("ash", "crp-0"), under("elm", "crp-1"), snapshots=stored)
    assert found.current == {"elm"}
    assert found.former == {"ash"}


def test_another_number_of_clusters_is_no_other_policy() -> None:
    stored = (snapshot(1, {**POLICY, "numberOfClusters": 7}),)
    assert classified(under("elm", "crp-1"), snapshots=stored).current == {"elm"}


def test_a_policy_that_differs_from_its_snapshot_makes_every_binding_obsolete() -> None:
    stored = (snapshot(1, pick_n(2, spread("region", 2))),)
    assert classified(under("elm", "crp-1"), snapshots=stored).former == {"elm"}


def test_bindings_of_other_placements_are_left_alone() -> None:
    other = binding("ash")
    other["metadata"]["labels"] = {PARENT: "web"}
    assert classified(other).every == ()


def test_a_binding_without_the_label_belongs_to_nobody() -> None:
    unlabelled = binding("ash")
    del unlabelled["metadata"]["labels"]
    assert classified(unlabelled).every == ()


def test_evicting_removes_the_binding_of_one_cluster() -> None:
    assert classified(binding("ash"), binding("elm")).without("ash").current == {"elm"}
