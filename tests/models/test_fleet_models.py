"""Placements and member clusters: what is read, defaulted and refused."""

from __future__ import annotations

from typing import Any

import pytest

from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner_models.fleet import ClusterResourcePlacement, PlacementPolicy
from tests.fleet.fleet_objects import affinity, binding, member, pick_n, placement, spread
from tests.objects import Json, inventory_of, merged

REQUIRED = (
    "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".clusterSelectorTerms[0]"
)
PREFERRED = (
    "spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]"
)


def refusal(value: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        inventory_of(value)
    return caught.value


def required(**term: Any) -> Json:
    return pick_n(1, affinity=affinity([term]))


def properties(**requirement: Any) -> Json:
    base = {"name": "kubernetes-fleet.io/node-count", "operator": "Ge", "values": ["3"]}
    return required(propertySelector={"matchExpressions": [merged(base, requirement)]})


def test_absent_fields_have_the_defaults_of_the_api() -> None:
    found = ClusterResourcePlacement.model_validate(placement({"placementType": "PickAll"}))
    assert found.policy == PlacementPolicy()
    policy = placement(pick_n(1, {"topologyKey": "region"}))
    (constraint,) = ClusterResourcePlacement.model_validate(
        policy
    ).policy.topology_spread_constraints
    assert (constraint.max_skew, constraint.hard) == (1, True)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_every_kind_is_read_in_both_versions(version: str) -> None:
    group = {"apiVersion": f"placement.kubernetes-fleet.io/{version}"}
    cluster = {"apiVersion": f"cluster.kubernetes-fleet.io/{version}"}
    spaced = {"metadata": {"namespace": "shop"}}
    labels = {"metadata": {"labels": {"kubernetes-fleet.io/is-latest-snapshot": "true"}}}
    stored = {"spec": {"policy": {"placementType": "PickN"}}, **labels}
    found = inventory_of(
        merged(member("ash"), cluster),
        merged(placement(pick_n(1)), group),
        merged(placement(pick_n(1)), {**group, **spaced, "kind": "ResourcePlacement"}),
        merged(binding("ash"), group),
        merged(binding("ash"), {**group, **spaced, "kind": "ResourceBinding"}),
        merged(placement(), {**group, **stored, "kind": "ClusterSchedulingPolicySnapshot"}),
        merged(placement(), {**group, **stored, "kind": "SchedulingPolicySnapshot"}),
    )
    assert [
        len(found.member_clusters),
        len(found.cluster_placements),
        len(found.resource_placements),
        len(found.cluster_bindings),
        len(found.resource_bindings),
        len(found.cluster_policy_snapshots),
        len(found.policy_snapshots),
    ] == [1] * 7
    assert found.notices == ()
    assert found.resource_placements[0].key == "shop/crp"


def test_the_same_placement_twice_counts_once_with_a_notice() -> None:
    found: Inventory = inventory_of(placement(pick_n(1)), placement(pick_n(2)))
    assert [each.policy.number_of_clusters for each in found.cluster_placements] == [2]
    assert found.notices[0].text == (
        "1 ClusterResourcePlacement object is in the input more than once; the last one counts"
    )


@pytest.mark.parametrize(
    ("policy", "field", "message"),
    [
        (
            {"placementType": "PickSome"},
            "spec.policy.placementType",
            '"PickSome": PickAll, PickFixed or PickN is expected',
        ),
        ({"placementType": "PickN"}, "spec.policy.numberOfClusters", "PickN needs"),
        (pick_n(-1), "spec.policy.numberOfClusters", "it must be at least 0"),
        (
            {"placementType": "PickAll", "numberOfClusters": 2},
            "spec.policy.numberOfClusters",
            "numberOfClusters is for PickN only",
        ),
        (
            {"placementType": "PickAll", "topologySpreadConstraints": [spread("region")]},
            "spec.policy.topologySpreadConstraints",
            "topologySpreadConstraints is for PickN only",
        ),
        (
            pick_n(1, clusterNames=["ash"]),
            "spec.policy.clusterNames",
            "clusterNames is for PickFixed only",
        ),
        (
            {"placementType": "PickFixed", "clusterNames": ["ash", "elm", "ash"]},
            "spec.policy.clusterNames[2]",
            "the cluster is named a second time",
        ),
        (
            {"placementType": "PickFixed", "clusterNames": ["Ash_1"]},
            "spec.policy.clusterNames[0]",
            "is not a DNS subdomain",
        ),
        (
            {"placementType": "PickFixed", "clusterNames": ["a" * 64]},
            "spec.policy.clusterNames[0]",
            "has 64 characters; Fleet allows at most 63",
        ),
        (
            {"placementType": "PickFixed", "affinity": {}},
            "spec.policy.affinity",
            "affinity is for PickAll and PickN only",
        ),
        (
            {"placementType": "PickFixed", "tolerations": []},
            "spec.policy.tolerations",
            "tolerations is for PickAll and PickN only",
        ),
        (
            pick_n(1, tolerations=[{"key": "gpu"}, {"key": "gpu", "operator": "Equal"}]),
            "spec.policy.tolerations[1]",
            "the toleration is given a second time",
        ),
        (
            {"placementType": "PickFixed", "tolerations": [{"operator": "Exists"}]},
            "spec.policy.tolerations",
            "tolerations is for PickAll and PickN only",
        ),
        (
            pick_n(1, spread("region", 0)),
            "spec.policy.topologySpreadConstraints[0].maxSkew",
            "maxSkew is 0; it must be at least 1",
        ),
        (
            pick_n(1, spread("region", 1, "Whatever")),
            "spec.policy.topologySpreadConstraints[0].whenUnsatisfiable",
            "DoNotSchedule or ScheduleAnyway is expected",
        ),
        (
            pick_n(1, {"maxSkew": 1}),
            "spec.policy.topologySpreadConstraints[0].topologyKey",
            "the field is required",
        ),
        (
            pick_n(1, tolerations=[{"key": "gpu", "effect": "NoExecute"}]),
            "spec.policy.tolerations[0].effect",
            "NoSchedule is expected",
        ),
        (
            required(propertySorter={"name": "a", "sortOrder": "Ascending"}),
            f"{REQUIRED}.propertySorter",
            "propertySorter is for preferred affinity only",
        ),
        (
            properties(operator="Between"),
            f"{REQUIRED}.propertySelector.matchExpressions[0].operator",
            "is expected",
        ),
        (
            properties(values=["3", "4"]),
            f"{REQUIRED}.propertySelector.matchExpressions[0].values",
            "must be exactly one quantity with Ge",
        ),
        (
            properties(values=["many"]),
            f"{REQUIRED}.propertySelector.matchExpressions[0].values[0]",
            '"many" is not a quantity',
        ),
        (
            properties(name="example.com/a b/c"),
            f"{REQUIRED}.propertySelector.matchExpressions[0].name",
            "is not a label key",
        ),
        (
            properties(name="resources.kubernetes-fleet.io/spare-cpu"),
            f"{REQUIRED}.propertySelector.matchExpressions[0].name",
            "is not a resource property",
        ),
        (
            pick_n(1, affinity=affinity(preferences=[{"weight": 101, "preference": {}}])),
            f"{PREFERRED}.weight",
            "it must be at most 100",
        ),
        (
            pick_n(
                1,
                affinity=affinity(
                    preferences=[
                        {
                            "weight": 1,
                            "preference": {"propertySelector": {"matchExpressions": []}},
                        }
                    ]
                ),
            ),
            f"{PREFERRED}.preference.propertySelector",
            "propertySelector is for required affinity only",
        ),
        (
            {
                "placementType": "PickAll",
                "affinity": affinity(preferences=[{"weight": 1, "preference": {}}]),
            },
            "spec.policy.affinity",
            "preferred affinity is for PickN only",
        ),
    ],
)
def test_what_fleet_refuses_is_refused_with_its_field(
    policy: Json, field: str, message: str
) -> None:
    found = refusal(placement(policy))
    assert (found.object, found.field) == ("ClusterResourcePlacement crp", field)
    assert message in found.message


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"strategy": {"type": "AtOnce"}}, "spec.strategy.type"),
        (
            {"strategy": {"type": "External", "rollingUpdate": {}}},
            "spec.strategy.rollingUpdate",
        ),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": "many"}}},
            "spec.strategy.rollingUpdate.maxSurge",
        ),
        (
            {"strategy": {"rollingUpdate": {"unavailablePeriodSeconds": -1}}},
            "spec.strategy.rollingUpdate.unavailablePeriodSeconds",
        ),
        (
            {"strategy": {"applyStrategy": {"serverSideApplyConfig": {"force": True}}}},
            "spec.strategy.applyStrategy.serverSideApplyConfig",
        ),
    ],
)
def test_strategies_that_fleet_refuses_are_refused(spec: Json, field: str) -> None:
    assert refusal(placement(pick_n(1), spec=spec)).field == field


def test_a_taint_with_another_effect_is_refused() -> None:
    found = refusal(member("ash", spec={"taints": [{"key": "gpu", "effect": "NoExecute"}]}))
    assert (found.object, found.field) == ("MemberCluster ash", "spec.taints[0].effect")


def test_a_binding_needs_its_cluster() -> None:
    broken = binding("ash")
    del broken["spec"]["targetCluster"]
    assert refusal(broken).field == "spec.targetCluster"


def asked(*requirements: tuple[str, str]) -> Json:
    """A policy that compares one property with several values."""
    name = "kubernetes-fleet.io/node-count"
    expressions = [{"name": name, "operator": op, "values": [value]} for op, value in requirements]
    return placement(required(propertySelector={"matchExpressions": expressions}))


@pytest.mark.parametrize(
    "requirements",
    [
        [("Gt", "5"), ("Lt", "3")],
        [("Gt", "3"), ("Le", "3")],
        [("Eq", "5"), ("Eq", "3")],
        [("Ne", "5"), ("Eq", "5000m")],
        [("Ge", "6"), ("Eq", "5")],
    ],
)
def test_requirements_that_exclude_each_other_are_refused(
    requirements: list[tuple[str, str]],
) -> None:
    found = refusal(asked(*requirements))
    assert found.field == f"{REQUIRED}.propertySelector.matchExpressions[1]"
    assert "exclude each other, so no cluster can match" in found.message


@pytest.mark.parametrize(
    "requirements", [[("Ge", "3"), ("Le", "3")], [("Gt", "3"), ("Lt", "5"), ("Ne", "4")]]
)
def test_requirements_that_leave_a_value_are_accepted(requirements: list[tuple[str, str]]) -> None:
    assert inventory_of(asked(*requirements)).cluster_placements


@pytest.mark.parametrize("name", ["count", "example.com/a/b", "Example_Com/a", "a/b/c/d"])
def test_property_names_are_those_of_the_webhook(name: str) -> None:
    assert inventory_of(placement(properties(name=name))).cluster_placements


def test_a_topology_key_may_be_any_text() -> None:
    assert inventory_of(placement(pick_n(1, spread("a b")))).cluster_placements


def test_a_placement_s_name_must_fit_a_label() -> None:
    assert refusal(placement(pick_n(1), "a" * 64)).field == "metadata.name"


def test_a_policy_hash_is_base64() -> None:
    kind = {"kind": "ClusterSchedulingPolicySnapshot"}
    found = refusal(merged(placement(), {**kind, "spec": {"policyHash": "?"}}))
    assert found.field == "spec.policyHash"
