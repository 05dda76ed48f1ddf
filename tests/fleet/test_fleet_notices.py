"""What was odd about a fleet is said once, and never stops a decision."""

from __future__ import annotations

from planner.documents.fleet import decide_placements, placements
from planner_models.fleet_decision import FleetDecision
from tests.fleet.fleet_objects import (
    GPU,
    agent,
    binding,
    member,
    pick_n,
    placement,
    snapshot,
    spread,
)
from tests.objects import Json, inventory_of


def decided(*objects: Json) -> FleetDecision:
    inventory = inventory_of(*objects)
    (decision,) = decide_placements(inventory, placements(inventory))
    return decision


def notices(*objects: Json) -> dict[str, tuple[str, tuple[str, ...]]]:
    decision = decided(*objects)
    return {each.code: (each.text, each.objects) for each in decision.notices}


def test_an_observed_fleet_is_not_odd() -> None:
    assert notices(member("ash", status=agent()), placement(pick_n(1))) == {}


def test_clusters_without_a_status_are_named() -> None:
    found = notices(member("ash"), member("elm", status=agent()), placement(pick_n(1)))
    text = "1 member cluster has no status and counts as joined and healthy"
    assert found == {"noStatus": (text, ("ash",))}


def test_a_picked_cluster_that_would_be_refused_now_is_named() -> None:
    found = notices(member("ash", spec=GPU, status=agent()), placement(pick_n(1)), binding("ash"))
    text = "1 picked cluster stays, though the filters would refuse it now"
    assert found == {"staysPicked": (text, ("ash",))}


def test_a_status_without_bindings_is_told() -> None:
    scheduled = {"type": "Scheduled", "status": "True"}
    reported = {"placementStatuses": [{"clusterName": "ash", "conditions": [scheduled]}]}
    found = notices(member("ash", status=agent()), placement(pick_n(1), status=reported))
    assert found["noBindings"][1] == ("ash",)


def test_a_placement_that_is_being_deleted_is_told() -> None:
    deleted = placement(pick_n(1), metadata={"deletionTimestamp": "2026-05-01T12:00:00Z"})
    assert set(notices(member("ash", status=agent()), deleted)) == {"deleting"}


def test_constraints_without_effect_are_told() -> None:
    members = [member(name, {"region": "east"}, status=agent()) for name in ("ash", "elm")]
    policy = pick_n(2, spread("region"))
    text = "the label region has one value in this fleet, so its constraint has no effect"
    field = "spec.policy.topologySpreadConstraints[0]"
    assert notices(*members, placement(policy)) == {"noDomains": (text, (field,))}


def test_a_label_with_one_value_makes_clusters_without_it_the_better_ones() -> None:
    labelled = [member(name, {"region": "east"}, status=agent()) for name in ("elm", "yew")]
    members = [member("ash", status=agent()), *labelled]
    found = decided(*members, placement(pick_n(1, spread("region"))))
    assert found.picked == ("ash",)
    assert [each.text for each in found.notices] == [
        "the label region has one value in this fleet, so its constraint refuses nothing, but "
        "Fleet prefers 1 cluster without it"
    ]


def test_bindings_without_their_label_are_named() -> None:
    unlabelled = binding("ash")
    del unlabelled["metadata"]["labels"]
    found = notices(member("ash", status=agent()), placement(pick_n(1)), unlabelled)
    text = "1 binding has no label kubernetes-fleet.io/parent-CRP: Fleet ignores them"
    assert found == {"noParentLabel": (text, ("crp-ash",))}


def test_an_input_without_policy_snapshots_is_told() -> None:
    bound = binding("ash", schedulingPolicySnapshotName="crp-3")
    policy = pick_n(1)
    alone = notices(member("ash", status=agent()), placement(policy), bound)
    assert alone["noSnapshots"][0].startswith(
        "the input has no policy snapshots: crp-3, the newest"
    )
    stored = snapshot(3, policy)
    assert notices(member("ash", status=agent()), placement(policy), bound, stored) == {}


def test_a_cluster_with_two_bindings_is_told() -> None:
    twice = binding("ash")
    twice["metadata"]["name"] = "crp-ash-2"
    found = notices(member("ash", status=agent()), placement(pick_n(2)), binding("ash"), twice)
    assert found["severalBindings"][0].startswith("Fleet counts 2 bindings on 1 cluster")
