"""How many more pods a ResourceQuota lets in, as the quota admission plugin counts them."""

from __future__ import annotations

import pytest

from planner.cluster.quotas import QuotaRoom, Quotas
from tests.objects import Json, cluster_of, manifest, node, pod


def quota(hard: Json, *, used: Json | None = None, **spec: object) -> Json:
    made: Json = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": hard, **spec},
    }
    return made if used is None else {**made, "status": {"hard": hard, "used": used}}


def room(*objects: Json) -> QuotaRoom | None:
    """Room for more pods like the first one; it asks for 500m."""
    cluster = cluster_of(node("n1"), *objects)
    return Quotas(cluster).room("default", cluster.pods[0].spec)


def test_without_a_quota_nothing_limits() -> None:
    assert room(pod("a", "n1")) is None


def test_pods_of_the_input_are_counted_where_the_quota_has_no_status() -> None:
    found = room(pod("a", "n1"), pod("b"), quota({"requests.cpu": "2"}))
    assert found == QuotaRoom("default/team", "requests.cpu", 2)


def test_what_the_controller_counted_holds_where_it_says_so() -> None:
    found = room(pod("a", "n1"), quota({"cpu": "4"}, used={"cpu": "3"}))
    assert found == QuotaRoom("default/team", "cpu", 2)


def test_the_tightest_resource_decides() -> None:
    found = room(pod("a", "n1"), quota({"requests.cpu": "10", "pods": "3", "count/pods": "2"}))
    assert found == QuotaRoom("default/team", "count/pods", 1)


def test_a_quota_that_is_used_up_lets_nothing_in() -> None:
    found = room(pod("a", "n1"), quota({"pods": "5"}, used={"pods": "7"}))
    assert found == QuotaRoom("default/team", "pods", 0)


@pytest.mark.parametrize(
    ("spec", "limited"),
    [
        ({"scopes": ["BestEffort"]}, False),
        ({"scopes": ["NotBestEffort"]}, True),
        ({"scopes": ["PriorityClass"]}, False),
        ({"scopes": ["Terminating"]}, False),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [
                        {"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}
                    ]
                }
            },
            True,
        ),
    ],
)
def test_a_quota_counts_the_pods_of_its_scopes(spec: Json, limited: bool) -> None:
    assert (room(pod("a", "n1"), quota({"pods": "3"}, **spec)) is not None) == limited


def test_a_quota_holds_in_its_own_namespace_alone() -> None:
    cluster = cluster_of(node("n1"), pod("a", "n1"), quota({"pods": "3"}))
    assert Quotas(cluster).room("other", cluster.pods[0].spec) is None


def test_limits_count_as_well() -> None:
    limited = {"containers": [{"name": "main", "resources": {"limits": {"memory": "1Gi"}}}]}
    found = room(manifest("a", spec=limited), quota({"limits.memory": "4Gi"}))
    assert found == QuotaRoom("default/team", "limits.memory", 3)
