"""Which clusters a placement may have at all, and what their affinity is worth."""

from __future__ import annotations

from typing import Any

import pytest

from planner.fleet.affinity import matches_required
from planner.fleet.filters import ineligible, lacks_namespace, newest_heartbeat, refusals
from planner.fleet.schedule import schedule
from planner.sources.errors import SourceError
from planner_models.fleet import ClusterResourcePlacement, ResourcePlacement
from planner_models.member_cluster import MemberCluster
from planner_models.meta import parse_time
from tests.fleet.fleet_objects import (
    NOW,
    affinity,
    agent,
    binding,
    decided,
    member,
    pick_n,
    placement,
    preferred,
    setting_of,
)
from tests.objects import Json

AVAILABLE = "resources.kubernetes-fleet.io/available-cpu"
NODES = "kubernetes-fleet.io/node-count"


def cluster(name: str = "ash", **changes: Any) -> MemberCluster:
    return MemberCluster.model_validate(member(name, **changes))


def crp(policy: Json) -> ClusterResourcePlacement:
    return ClusterResourcePlacement.model_validate(placement(policy))


def status(cpu: str | None = None, nodes: str | None = None) -> Json:
    found: Json = {}
    if nodes is not None:
        found["properties"] = {NODES: {"value": nodes}}
    if cpu is not None:
        found["resourceUsage"] = {"available": {"cpu": cpu}}
    return found


@pytest.mark.parametrize(
    ("reported", "reason"),
    [
        (agent(), None),
        (agent(heartbeat="2026-05-01T11:55:00Z"), None),
        (
            agent(heartbeat="2026-05-01T11:54:30Z"),
            "cluster is not connected to the fleet: no recent heartbeat signals "
            "(last received 5.50 minutes ago)",
        ),
        (
            agent(joined="Unknown"),
            "cluster is not connected to the fleet: member agent not joined yet",
        ),
        (
            agent(healthy="False"),
            "cluster is not connected to the fleet: unhealthy for a prolonged period of time "
            "(last transitioned 240.00 minutes ago)",
        ),
        (
            {"conditions": [{"type": "ReadyToJoin", "status": "True"}]},
            "cluster is not connected to the fleet: member agent not online yet",
        ),
        (
            {"agentStatus": [{"type": "MemberAgent"}]},
            "cluster is not connected to the fleet: no recent heartbeat signals (none received)",
        ),
        (
            {
                "agentStatus": [
                    {
                        "type": "MemberAgent",
                        "lastReceivedHeartbeat": NOW,
                        "conditions": [{"type": "Joined", "status": "True"}],
                    }
                ]
            },
            "cluster is not connected to the fleet: health condition from member agent is not "
            "available",
        ),
    ],
)
def test_a_cluster_must_be_joined_heard_of_and_healthy(reported: Json, reason: str | None) -> None:
    assert ineligible(cluster(status=reported), parse_time(NOW)) == reason


def test_unhealthy_for_less_than_five_minutes_is_forgiven() -> None:
    reported = agent(healthy="False")
    reported["agentStatus"][0]["conditions"][1]["lastTransitionTime"] = "2026-05-01T11:56:00Z"
    assert ineligible(cluster(status=reported), parse_time(NOW)) is None


@pytest.mark.parametrize("written", [{}, {"status": {}}, {"status": status("4")}])
def test_a_cluster_written_by_hand_counts_as_joined_and_healthy(written: Json) -> None:
    assert ineligible(cluster(**written), 0) is None


def test_a_cluster_from_a_hub_without_a_status_has_not_joined() -> None:
    dumped = cluster(metadata={"resourceVersion": "7"})
    reason = "cluster is not connected to the fleet: member agent not online yet"
    assert ineligible(dumped, 0) == reason


def test_a_leaving_cluster_is_not_eligible() -> None:
    leaving = cluster(metadata={"deletionTimestamp": NOW})
    assert ineligible(leaving, 0) == "cluster has left the fleet"


def test_heartbeats_are_judged_at_the_newest_one() -> None:
    clusters = [
        cluster("ash", status=agent(heartbeat="2026-05-01T11:00:00Z")),
        cluster("elm", status=agent()),
        cluster("yew"),
    ]
    assert newest_heartbeat(clusters) == parse_time(NOW)


@pytest.mark.parametrize(
    ("tolerations", "refused"),
    [
        ([], True),
        ([{"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}], False),
        ([{"key": "gpu", "value": "a100"}], False),
        ([{"key": "gpu", "value": "h100"}], True),
        ([{"key": "gpu", "operator": "Exists"}], False),
        ([{"operator": "Exists"}], False),
    ],
)
def test_an_untolerated_taint_filters(tolerations: list[Json], refused: bool) -> None:
    taint = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
    found = refusals(cluster(spec={"taints": [taint]}), crp(pick_n(1, tolerations=tolerations)), 0)
    assert [each.plugin for each in found] == (["TaintToleration"] if refused else [])
    told = "taint &{Key:gpu Value:a100 Effect:NoSchedule} cannot be tolerated"
    assert not found or found[0].reason == told


@pytest.mark.parametrize(
    ("terms", "matched"),
    [
        ([], True),
        ([{"labelSelector": {"matchLabels": {"tier": "gold"}}}], True),
        ([{"labelSelector": {"matchLabels": {"tier": "tin"}}}], False),
        (
            [
                {"labelSelector": {"matchLabels": {"tier": "tin"}}},
                {"labelSelector": {"matchLabels": {"tier": "gold"}}},
            ],
            True,
        ),
        ([{}], True),
    ],
)
def test_one_required_term_must_hold(terms: list[Json], matched: bool) -> None:
    gold = cluster(metadata={"labels": {"tier": "gold"}})
    assert matches_required(gold, crp(pick_n(1, affinity=affinity(terms))).policy) is matched


def asks(operator: str, value: str, name: str = AVAILABLE, **labels: str) -> Json:
    requirement = {"name": name, "operator": operator, "values": [value]}
    return {
        "labelSelector": {"matchLabels": labels},
        "propertySelector": {"matchExpressions": [requirement]},
    }


@pytest.mark.parametrize(
    ("operator", "value", "matched"),
    [
        ("Gt", "3900m", True),
        ("Gt", "4", False),
        ("Ge", "4000m", True),
        ("Eq", "4", True),
        ("Eq", "4001m", False),
        ("Ne", "4", False),
        ("Lt", "4.5", True),
        ("Lt", "4", False),
        ("Le", "4", True),
    ],
)
def test_properties_are_compared_as_quantities(operator: str, value: str, matched: bool) -> None:
    policy = crp(pick_n(1, affinity=affinity([asks(operator, value)]))).policy
    assert matches_required(cluster(status=status("4")), policy) is matched
    assert not matches_required(cluster(), policy)


def test_labels_and_properties_of_a_term_must_both_hold() -> None:
    policy = crp(pick_n(1, affinity=affinity([asks("Ge", "2", tier="gold")]))).policy
    assert not matches_required(cluster(status=status("4")), policy)
    gold: Json = {"labels": {"tier": "gold"}}
    assert matches_required(cluster(metadata=gold, status=status("4")), policy)


VERSION = "kubernetes-fleet.io/k8s-version"


def versioned(**changes: Any) -> Json:
    """A cluster with a property that is no quantity."""
    return member("ash", status={"properties": {VERSION: {"value": "v1.30.2"}}}, **changes)


def test_a_property_that_is_no_quantity_is_an_error_where_fleet_comes_to_it() -> None:
    setting = setting_of(pick_n(1, affinity=affinity([asks("Ge", "2", VERSION)])), [versioned()])
    with pytest.raises(SourceError) as caught:
        schedule(setting)
    assert caught.value.object == "MemberCluster ash"
    assert caught.value.field == f"status.properties[{VERSION}].value"


@pytest.mark.parametrize(
    ("terms", "picked"),
    [
        ([], 1),
        ([asks("Ge", "2", VERSION, tier="gold")], 0),
        ([asks("Ge", "2", NODES), asks("Ge", "2", VERSION, tier="gold")], 0),
        ([{"labelSelector": {}}, asks("Ge", "2", VERSION)], 1),
    ],
    ids=["not asked for", "behind a label", "in no term that is read", "behind a term that holds"],
)
def test_a_property_that_fleet_never_reads_is_no_error(terms: list[Json], picked: int) -> None:
    decision = decided(pick_n(1, affinity=affinity(terms)), [versioned()])
    assert len(decision.picked) == picked


def test_nothing_is_read_where_nothing_is_to_be_picked() -> None:
    policy = pick_n(1, affinity=affinity(preferences=[sorter(10, "Ascending", VERSION)]))
    assert decided(policy, [versioned()], [binding("ash")]).picked == ("ash",)
    with pytest.raises(SourceError):
        decided(policy, [versioned()])


def test_a_sorter_is_read_even_if_it_weighs_nothing() -> None:
    policy = pick_n(1, affinity=affinity(preferences=[sorter(0, "Ascending", VERSION)]))
    with pytest.raises(SourceError):
        schedule(setting_of(policy, [versioned()]))


def test_fleet_fails_on_resources_with_a_dash_in_their_name() -> None:
    name = "resources.kubernetes-fleet.io/total-ephemeral-storage"
    policy = pick_n(1, affinity=affinity([asks("Ge", "1Gi", name)]))
    with pytest.raises(SourceError, match="has a dash in its name"):
        schedule(setting_of(policy, [member("ash")]))


def test_a_property_name_may_have_several_slashes() -> None:
    name = "kubernetes.azure.com/vm-sizes/Standard_D4s_v3/count"
    policy = pick_n(1, affinity=affinity([asks("Ge", "3", name)]))
    having = member("ash", status={"properties": {name: {"value": "4"}}})
    assert decided(policy, [having, member("elm")]).picked == ("ash",)


@pytest.mark.parametrize(
    ("observed", "wanted"),
    [("9223372036854775808", "9223372036854775807"), ("0.000000001", "0"), ("1e20", "1e19")],
)
def test_properties_of_any_size_are_compared_exactly(observed: str, wanted: str) -> None:
    policy = crp(pick_n(1, affinity=affinity([asks("Gt", wanted, NODES)]))).policy
    assert matches_required(cluster(status=status(nodes=observed)), policy)


def sorter(weight: int, order: str, name: str = NODES, **labels: str) -> Json:
    term: Json = {"propertySorter": {"name": name, "sortOrder": order}}
    if labels:
        term["labelSelector"] = {"matchLabels": labels}
    return {"weight": weight, "preference": term}


def scores(members: list[Json], *preferences: Json) -> list[int]:
    policy = pick_n(1, affinity=affinity(preferences=preferences))
    return list(setting_of(policy, members).affinity)


def counting(*values: str | None) -> list[Json]:
    return [
        member(f"c{index}", status={} if value is None else status(nodes=value))
        for index, value in enumerate(values)
    ]


def test_the_documented_interpolation() -> None:
    """The API's own example: values from 10 to 100, weight 100."""
    assert scores(counting("10", "20", "100"), sorter(100, "Descending")) == [0, 11, 100]
    assert scores(counting("10", "20", "100"), sorter(100, "Ascending")) == [100, 89, 0]


def test_halves_are_rounded_away_from_zero() -> None:
    assert scores(counting("0", "1", "2"), sorter(5, "Descending")) == [0, 3, 5]
    assert scores(counting("0", "1", "2"), sorter(-5, "Descending")) == [0, -3, -5]


def test_halves_fall_where_the_floats_of_fleet_have_them() -> None:
    """33 is in the middle of 26 and 40; 33 times 0.1 is a bit beyond it, and so on."""
    halves = sorter(45, "Ascending")
    assert scores(counting("26", "33", "40"), halves) == [45, 23, 0]
    assert scores(counting("2.6", "3.3", "4.0"), halves) == [45, 22, 0]
    assert scores(counting("2600000u", "3300000u", "4000000u"), halves) == [45, 23, 0]


def test_fleet_fails_where_one_amount_in_two_spellings_makes_two_floats() -> None:
    """3 times 0.1 is above 300 times 0.001, and the first of equals is the extreme."""
    policy = pick_n(2, affinity=affinity(preferences=[sorter(10, "Ascending")]))
    with pytest.raises(SourceError, match="in floating point it lies outside"):
        schedule(setting_of(policy, counting("0.3", "300m", "1")))
    assert len(schedule(setting_of(policy, counting("300m", "0.3", "1"))).picked) == 2


def test_no_value_and_no_difference_score_nothing() -> None:
    assert scores(counting("10", None, "20"), sorter(50, "Descending")) == [0, 0, 50]
    assert scores(counting("10", "10"), sorter(50, "Ascending")) == [0, 0]
    assert scores(counting(None, None), sorter(50, "Ascending")) == [0, 0]


def test_extremes_are_those_of_the_fleet_not_of_the_selected() -> None:
    members = counting("0", "50", "100")
    members[1]["metadata"]["labels"] = {"tier": "gold"}
    assert scores(members, sorter(100, "Descending", tier="gold")) == [0, 50, 0]


def test_weights_of_matching_terms_are_added_up() -> None:
    members = [member("ash", {"tier": "gold", "gpu": "yes"}), member("elm", {"tier": "gold"})]
    given = (preferred(30, tier="gold"), preferred(-10, gpu="yes"), preferred(0, tier="gold"))
    assert scores(members, *given) == [20, 30]


def test_a_resource_placement_needs_its_namespace_where_namespaces_are_collected() -> None:
    wanted = ResourcePlacement.model_validate({"metadata": {"name": "rp", "namespace": "shop"}})
    collects = [{"type": "NamespaceCollectionSucceeded", "status": "True"}]
    having = cluster(status={"conditions": collects, "namespaces": {"shop": "work"}})
    lacking = cluster(status={"conditions": collects, "namespaces": {"desk": ""}})
    silent = cluster(status={"conditions": collects})
    assert lacks_namespace(having, wanted) is None
    assert lacks_namespace(lacking, wanted) == "target namespace does not exist on cluster"
    assert lacks_namespace(silent, wanted) == "cluster has no namespace information available"
    assert lacks_namespace(cluster(), wanted) is None
    assert lacks_namespace(lacking, crp(pick_n(1))) is None


def test_every_refusal_is_kept_in_the_order_of_fleet() -> None:
    members = [
        member(
            "ash",
            spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
            status=agent(joined="False"),
        )
    ]
    policy = pick_n(1, affinity=affinity([{"labelSelector": {"matchLabels": {"a": "b"}}}]))
    (found,) = setting_of(policy, members).refusals
    plugins = [each.plugin for each in found]
    assert plugins == ["ClusterAffinity", "ClusterEligibility", "TaintToleration"]
