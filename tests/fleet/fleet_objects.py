"""Member clusters, placements and bindings for tests, as models and as plain JSON values."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from planner.documents.fleet_decision import fleet_decision
from planner.fleet.decision import decide
from planner.fleet.policy_snapshot import policy_hash
from planner.fleet.setting import Setting, make_setting
from planner_models.fleet import ClusterResourcePlacement, PlacementPolicy
from planner_models.fleet_binding import ClusterResourceBinding
from planner_models.fleet_decision import FleetDecision
from planner_models.member_cluster import MemberCluster
from tests.objects import Json, merged

PARENT = "kubernetes-fleet.io/parent-CRP"
NOW = "2026-05-01T12:00:00Z"
GPU: Json = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}


def member(name: str, labels: dict[str, str] | None = None, **changes: Any) -> Json:
    base = {
        "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
        "kind": "MemberCluster",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {},
    }
    return merged(base, changes)


def agent(heartbeat: str = NOW, joined: str = "True", healthy: str = "True") -> Json:
    """The status of a cluster whose member agent reports this."""
    conditions = [
        {"type": "Joined", "status": joined, "lastTransitionTime": "2026-05-01T08:00:00Z"},
        {"type": "Healthy", "status": healthy, "lastTransitionTime": "2026-05-01T08:00:00Z"},
    ]
    reported = {"type": "MemberAgent", "conditions": conditions, "lastReceivedHeartbeat": heartbeat}
    return {"agentStatus": [reported]}


def spread(key: str, max_skew: int = 1, when: str = "DoNotSchedule") -> Json:
    return {"topologyKey": key, "maxSkew": max_skew, "whenUnsatisfiable": when}


def placement(policy: Json | None = None, name: str = "crp", **changes: Any) -> Json:
    base: Json = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": name},
        "spec": {"resourceSelectors": [{"group": "", "kind": "Namespace", "name": "work"}]},
    }
    if policy is not None:
        base["spec"]["policy"] = policy
    return merged(base, changes)


def pick_n(number: int, *constraints: Json, **policy: Any) -> Json:
    return {
        "placementType": "PickN",
        "numberOfClusters": number,
        "topologySpreadConstraints": list(constraints),
        **policy,
    }


def binding(cluster: str, state: str = "Bound", **spec: Any) -> Json:
    base: Json = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterResourceBinding",
        "metadata": {"name": f"crp-{cluster}", "labels": {PARENT: "crp"}},
        "spec": {"state": state, "targetCluster": cluster},
    }
    return merged(base, {"spec": spec})


def snapshot(index: int, policy: Json, latest: bool = True, **changes: Any) -> Json:
    """The policy as Fleet stores it."""
    hashed = policy_hash(PlacementPolicy.model_validate(policy))
    base: Json = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ClusterSchedulingPolicySnapshot",
        "metadata": {
            "name": f"crp-{index}",
            "labels": {
                PARENT: "crp",
                "kubernetes-fleet.io/is-latest-snapshot": str(latest).lower(),
                "kubernetes-fleet.io/policy-index": str(index),
            },
            "annotations": {
                "kubernetes-fleet.io/CRP-generation": "1",
                "kubernetes-fleet.io/number-of-clusters": "1",
            },
        },
        "spec": {"policyHash": base64.b64encode(hashed.encode()).decode()},
    }
    return merged(base, changes)


def scored(spread_score: int, affinity_score: int = 0) -> Json:
    score = {"priorityScore": spread_score, "affinityScore": affinity_score}
    return {"clusterScore": score}


def setting_of(
    policy: Json | None,
    members: Iterable[Json],
    bindings: Iterable[Json] = (),
    now: int | None = None,
) -> Setting:
    return make_setting(
        ClusterResourcePlacement.model_validate(placement(policy)),
        [MemberCluster.model_validate(each) for each in members],
        [ClusterResourceBinding.model_validate(each) for each in bindings],
        now=now,
    )


def decided(
    policy: Json | None, members: Iterable[Json], bindings: Iterable[Json] = ()
) -> FleetDecision:
    return fleet_decision(decide(setting_of(policy, members, bindings)))


def by_region(**regions: str) -> list[Json]:
    """`by_region(ash="west")`: clusters with a region label."""
    return [member(name, {"region": region}) for name, region in regions.items()]


def preferred(weight: int, **labels: str) -> Json:
    return {"weight": weight, "preference": {"labelSelector": {"matchLabels": labels}}}


def affinity(required: Iterable[Json] = (), preferences: Iterable[Json] = ()) -> Json:
    """`affinity` of a policy."""
    terms: Json = {"preferredDuringSchedulingIgnoredDuringExecution": list(preferences)}
    wanted = list(required)
    if wanted:
        selector = {"clusterSelectorTerms": wanted}
        terms["requiredDuringSchedulingIgnoredDuringExecution"] = selector
    return {"clusterAffinity": terms}


DOCUMENTED = (
    member("bravelion", {"region": "east", "system": "critical"}),
    member("smartfish", {"region": "east"}),
    member("jumpingcat", {"region": "west", "system": "critical"}),
    member("flyingpenguin", {"region": "west"}),
)
"""The four clusters of the documentation's walk-through."""

_SNAPSHOT = {
    "apiVersion": "placement.kubernetes-fleet.io/v1",
    "metadata": {
        "name": "crp-1",
        "labels": {
            PARENT: "crp",
            "kubernetes-fleet.io/is-latest-snapshot": "true",
            "kubernetes-fleet.io/policy-index": "1",
        },
        "annotations": {
            "kubernetes-fleet.io/CRP-generation": "1",
            "kubernetes-fleet.io/number-of-clusters": "2",
        },
    },
    "spec": {"policyHash": "YWJj", "policy": {"placementType": "PickN"}},
}
_PROPERTY = {"name": "kubernetes-fleet.io/node-count", "operator": "Ge", "values": ["2"]}
_POLICY = pick_n(
    2,
    spread("region", 2),
    spread("env", 1, "ScheduleAnyway"),
    tolerations=[{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    affinity=affinity(
        [
            {
                "labelSelector": {"matchExpressions": [{"key": "region", "operator": "Exists"}]},
                "propertySelector": {"matchExpressions": [_PROPERTY]},
            }
        ],
        [
            preferred(10, env="prod"),
            {
                "weight": -20,
                "preference": {
                    "propertySorter": {
                        "name": "resources.kubernetes-fleet.io/available-cpu",
                        "sortOrder": "Ascending",
                    }
                },
            },
        ],
    ),
)
RICH: list[Json] = [
    member(
        "ash",
        {"region": "east", "env": "prod"},
        spec={"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
        status={
            **agent(),
            "conditions": [{"type": "NamespaceCollectionSucceeded", "status": "True"}],
            "namespaces": {"default": "work"},
            "properties": {"kubernetes-fleet.io/node-count": {"value": "3"}},
            "resourceUsage": {"available": {"cpu": "4500m", "memory": "8Gi"}},
        },
    ),
    placement(_POLICY, status={"conditions": [{"type": "Scheduled", "status": "True"}]}),
    placement(
        _POLICY, "web", kind="ResourcePlacement", metadata={"namespace": "default", "uid": "u"}
    ),
    binding("ash", schedulingPolicySnapshotName="crp-1", clusterDecision=scored(1, 10)),
    merged(
        binding("ash", "Scheduled"),
        {"kind": "ResourceBinding", "metadata": {"namespace": "default"}},
    ),
    {**_SNAPSHOT, "kind": "ClusterSchedulingPolicySnapshot"},
    {**_SNAPSHOT, "kind": "SchedulingPolicySnapshot"},
]
"""An object of every kind of Fleet's, with as many fields as it can have."""
