"""What was odd about a fleet is said once, and never stops a decision."""

from __future__ import annotations

from planner.fleet.fleet import decide_placements, placements
from tests.fleet.fleet_objects import GPU, agent, binding, member, pick_n, placement, spread
from tests.objects import Json, inventory_of


def notices(*objects: Json) -> dict[str, tuple[str, tuple[str, ...]]]:
    inventory = inventory_of(*objects)
    (decision,) = decide_placements(inventory, placements(inventory))
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
