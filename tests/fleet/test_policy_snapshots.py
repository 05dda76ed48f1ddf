"""Which policy snapshot is in force: Fleet's hash of the policy decides."""

from __future__ import annotations

from typing import Any

import pytest

from planner.fleet.policy_snapshot import policy_hash, snapshot_in_force
from planner.sources.errors import SourceError
from planner_models.fleet import ClusterResourcePlacement, PlacementPolicy
from planner_models.fleet_binding import ClusterSchedulingPolicySnapshot
from tests.fleet.fleet_objects import affinity, pick_n, placement, preferred, snapshot, spread
from tests.objects import Json

POLICY = pick_n(2, spread("region"))


def hashed(policy: Json) -> str:
    return policy_hash(PlacementPolicy.model_validate(policy))


def in_force(*snapshots: Json, policy: Json = POLICY) -> str:
    return snapshot_in_force(
        ClusterResourcePlacement.model_validate(placement(policy)),
        [ClusterSchedulingPolicySnapshot.model_validate(each) for each in snapshots],
    )


def test_the_hash_is_the_one_that_fleet_stores() -> None:
    """Recorded from KubeFleet."""
    stored = "479f405eb7808cfc58366b2648680a3a815ef914fe6756ae8df0d6f74885416a"
    assert hashed({"placementType": "PickN", "numberOfClusters": 1}) == stored


def asks(value: str) -> Json:
    requirement = {"name": "example.com/p", "operator": "Ge", "values": [value]}
    return pick_n(1, affinity=affinity([{"propertySelector": {"matchExpressions": [requirement]}}]))


def selects(**selector: Any) -> Json:
    return pick_n(1, affinity=affinity([{"labelSelector": selector}]))


@pytest.mark.parametrize(
    ("policy", "same"),
    [
        (pick_n(1), pick_n(7)),
        (pick_n(1), pick_n(1, tolerations=[])),
        (pick_n(1), pick_n(1, affinity=None)),
        (pick_n(1, spread("zone")), pick_n(1, {"topologyKey": "zone"})),
        (selects(matchLabels={"a": "", "b": "c"}), selects(matchLabels={"b": "c", "a": ""})),
        (selects(), selects(matchLabels={}, matchExpressions=[])),
        (
            pick_n(1, tolerations=[{"key": "gpu"}]),
            pick_n(1, tolerations=[{"key": "gpu", "operator": "Equal", "value": ""}]),
        ),
    ],
)
def test_a_policy_stays_the_same(policy: Json, same: Json) -> None:
    assert hashed(policy) == hashed(same)


@pytest.mark.parametrize(
    ("policy", "other"),
    [
        (pick_n(1), pick_n(1, affinity={})),
        (pick_n(1, affinity={}), pick_n(1, affinity={"clusterAffinity": {}})),
        (pick_n(1, affinity=affinity([{}])), pick_n(1, affinity=affinity([{"labelSelector": {}}]))),
        (pick_n(1, spread("a"), spread("b")), pick_n(1, spread("b"), spread("a"))),
        (asks("1"), asks("1000m")),
        (selects(matchLabels={"a": ""}), selects(matchLabels={})),
        (
            pick_n(1, affinity=affinity(preferences=[preferred(0, a="b")])),
            pick_n(1, affinity=affinity(preferences=[preferred(1, a="b")])),
        ),
    ],
)
def test_a_policy_becomes_another(policy: Json, other: Json) -> None:
    assert hashed(policy) != hashed(other)


def test_the_first_snapshot_has_index_0() -> None:
    assert in_force() == "crp-0"


def test_a_snapshot_of_the_same_policy_is_kept() -> None:
    assert in_force(snapshot(4, POLICY)) == "crp-4"


def test_another_policy_makes_the_next_snapshot() -> None:
    assert in_force(snapshot(4, pick_n(2))) == "crp-5"


def test_without_a_latest_one_the_highest_index_counts() -> None:
    older, newer = snapshot(9, pick_n(2), latest=False), snapshot(10, POLICY, latest=False)
    assert in_force(newer, older) == "crp-10"


def test_two_latest_ones_make_fleet_fail() -> None:
    with pytest.raises(SourceError, match="2 policy snapshots are marked as the latest"):
        in_force(snapshot(0, POLICY), snapshot(1, POLICY))


@pytest.mark.parametrize(
    ("where", "key"),
    [
        ("labels", "kubernetes-fleet.io/policy-index"),
        ("annotations", "kubernetes-fleet.io/CRP-generation"),
        ("annotations", "kubernetes-fleet.io/number-of-clusters"),
    ],
)
def test_fleet_fails_on_a_snapshot_without_its_numbers(where: str, key: str) -> None:
    broken = snapshot(0, POLICY)
    del broken["metadata"][where][key]
    with pytest.raises(SourceError) as caught:
        in_force(broken)
    assert caught.value.field == f"metadata.{where}[{key}]"
