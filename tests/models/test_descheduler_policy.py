from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from planner_models.base import FieldError
from planner_models.descheduler_args import (
    HighNodeUtilizationArgs,
    LowNodeUtilizationArgs,
    RemoveFailedPodsArgs,
    TopologySpreadConstraintArgs,
    ViolatedNodeAffinityArgs,
)
from planner_models.descheduler_evictor import DefaultEvictorArgs
from planner_models.descheduler_policy import ARGS_BY_PLUGIN, DeschedulerPolicy, parse_args

HEADER = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD = "RemovePodsViolatingTopologySpreadConstraint"


def policy(*profiles: dict[str, Any], **fields: Any) -> DeschedulerPolicy:
    return DeschedulerPolicy.model_validate({**HEADER, "profiles": profiles, **fields})


def refusal(*profiles: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(ValidationError) as caught:
        policy(*profiles)
    error = caught.value.errors()[0]
    return ".".join(map(str, error["loc"])), error["msg"].removeprefix("Value error, ")


BOTH_PARTS = {
    "name": "default",
    "pluginConfig": [
        {"name": "DefaultEvictor", "args": {"nodeFit": True, "minReplicas": 2}},
        {"name": SPREAD, "args": {"constraints": ["DoNotSchedule", "ScheduleAnyway"]}},
        {"name": "RemovePodsViolatingNodeAffinity", "args": {"nodeAffinityType": [REQUIRED]}},
    ],
    "plugins": {
        "balance": {"enabled": [SPREAD]},
        "deschedule": {"enabled": ["RemovePodsViolatingNodeAffinity"]},
    },
}


def test_a_policy_gives_each_strategy_its_typed_arguments() -> None:
    profile = policy(BOTH_PARTS).profiles[0]
    assert profile.strategies == ("RemovePodsViolatingNodeAffinity", SPREAD)
    assert profile.evictor.node_fit
    assert profile.evictor.min_replicas == 2
    spread = profile.args_of(SPREAD)
    assert isinstance(spread, TopologySpreadConstraintArgs)
    assert spread.constraints == ("DoNotSchedule", "ScheduleAnyway")
    affinity = profile.args_of("RemovePodsViolatingNodeAffinity")
    assert isinstance(affinity, ViolatedNodeAffinityArgs)
    assert affinity.required
    assert not affinity.preferred


def test_the_limits_of_a_policy_are_absent_unless_given() -> None:
    assert policy().max_no_of_pods_to_evict_total is None
    limited = policy(
        maxNoOfPodsToEvictPerNode=5,
        maxNoOfPodsToEvictPerNamespace=50,
        maxNoOfPodsToEvictTotal=0,
        nodeSelector="pool=web",
        metricsProviders=[{"source": "KubernetesMetrics"}],
    )
    assert limited.max_no_of_pods_to_evict_per_node == 5
    assert limited.max_no_of_pods_to_evict_per_namespace == 50
    assert limited.max_no_of_pods_to_evict_total == 0
    assert limited.node_selector == "pool=web"


def test_the_evictor_guards_a_profile_that_does_not_mention_it() -> None:
    profile = policy({"name": "bare"}).profiles[0]
    assert profile.evictor == DefaultEvictorArgs()
    assert not profile.evictor.node_fit
    assert profile.evictor.no_eviction_policy == "Preferred"


def test_of_two_configurations_of_a_plugin_the_first_one_counts() -> None:
    twice = [{"name": "DefaultEvictor", "args": {"minReplicas": n}} for n in (3, 4)]
    assert policy({"name": "p", "pluginConfig": twice}).profiles[0].evictor.min_replicas == 3


def test_both_spellings_of_the_pre_eviction_filter_are_read() -> None:
    for spelling in ("preevictionfilter", "preEvictionFilter"):
        plugins = {spelling: {"enabled": ["DefaultEvictor"]}}
        profile = policy({"name": "p", "plugins": plugins}).profiles[0]
        assert profile.plugins.pre_eviction_filter.enabled == ("DefaultEvictor",)


@pytest.mark.parametrize(
    ("profile", "place", "words"),
    [
        pytest.param(
            {"name": "p", "plugins": {"balance": {"enabled": [SPREAD, "MyStrategy"]}}},
            "profiles.0.plugins.balance.enabled.1",
            "MyStrategy is a descheduler plugin that planner can't model",
            id="an unknown strategy",
        ),
        pytest.param(
            {"name": "p", "pluginConfig": [{"name": "MyEvictor", "args": {"a": 1}}]},
            "profiles.0.pluginConfig.0.name",
            "MyEvictor is a descheduler plugin that planner can't model",
            id="arguments of an unknown plugin",
        ),
        pytest.param(
            {"name": "p", "plugins": {"deschedule": {"enabled": [SPREAD]}}},
            "profiles.0.plugins.deschedule.enabled.0",
            "does not run at this extension point",
            id="a strategy at the wrong extension point",
        ),
        pytest.param(
            {"name": "p", "plugins": {"balance": {"enabled": [SPREAD]}}},
            "profiles.0",
            f"{SPREAD} has no entry in pluginConfig",
            id="a strategy without arguments",
        ),
        pytest.param(
            {"name": "p", "pluginConfig": [{"name": SPREAD, "args": {"constraint": []}}]},
            "profiles.0.pluginConfig.0.args.constraint",
            "Extra inputs",
            id="a misspelled argument",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_place(
    profile: dict[str, Any], place: str, words: str
) -> None:
    where, message = refusal(profile)
    assert where == place
    assert words in message


def test_an_old_policy_version_is_refused() -> None:
    with pytest.raises(ValidationError, match="descheduler/v1alpha2"):
        DeschedulerPolicy.model_validate({**HEADER, "apiVersion": "descheduler/v1alpha1"})


SELECTOR = {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("plugin", "args"),
    [
        ("HighNodeUtilization", {"thresholds": {"cpu": 20, "pods": 30}, "numberOfNodes": 1}),
        (
            "HighNodeUtilization",
            {
                "thresholds": {"cpu": 20},
                "evictionModes": ["OnlyThresholdingResources"],
                "evictableNamespaces": {"exclude": ["shop"]},
            },
        ),
        (
            "LowNodeUtilization",
            {
                "thresholds": {"cpu": 20, "memory": 30},
                "targetThresholds": {"cpu": 20, "memory": 5},
                "useDeviationThresholds": True,
                "evictionLimits": {"node": 2},
            },
        ),
        ("RemoveDuplicates", {"excludeOwnerKinds": ["Job"], "namespaces": {"include": ["a"]}}),
        ("RemovePodsViolatingInterPodAntiAffinity", {"labelSelector": SELECTOR}),
        ("RemovePodsViolatingNodeTaints", {"excludedTaints": ["dedicated=gpu", "spot"]}),
        ("RemovePodsViolatingNodeTaints", {"includePreferNoSchedule": True}),
        (SPREAD, {"topologyBalanceNodeFit": False, "namespaces": {"exclude": ["shop"]}}),
        ("PodLifeTime", {"maxPodLifeTimeSeconds": 86400, "states": ["Pending", "OOMKilled"]}),
        ("PodLifeTime", {"conditions": [{"type": "Ready", "status": "False"}]}),
        ("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 100}),
        ("RemoveFailedPods", {"reasons": ["OutOfcpu"], "exitCodes": [1]}),
        ("DefaultEvictor", {"podProtections": {"defaultDisabled": ["DaemonSetPods"]}}),
        ("DefaultEvictor", {"priorityThreshold": {"value": 1000}, "minPodAge": "5m"}),
    ],
)
def test_documented_arguments_are_accepted(plugin: str, args: dict[str, Any]) -> None:
    assert isinstance(parse_args(plugin, args), ARGS_BY_PLUGIN[plugin])


@pytest.mark.parametrize(
    ("plugin", "args", "words"),
    [
        (SPREAD, {"namespaces": {"include": ["a"], "exclude": ["b"]}}, "can't both be set"),
        (SPREAD, {"constraints": ["Maybe"]}, "ScheduleAnyway"),
        ("RemovePodsViolatingNodeAffinity", {}, "nodeAffinityType"),
        ("RemovePodsViolatingNodeAffinity", {"nodeAffinityType": []}, "nodeAffinityType"),
        (
            "RemovePodsViolatingNodeTaints",
            {"includedTaints": ["a"], "excludedTaints": ["b"]},
            "can't both be set",
        ),
        ("HighNodeUtilization", {"thresholds": {}}, "at least one resource"),
        ("HighNodeUtilization", {"thresholds": {"cpu": 101}}, "threshold of cpu is 101"),
        ("HighNodeUtilization", {"thresholds": {"cpu": "20"}}, "valid number"),
        (
            "HighNodeUtilization",
            {"thresholds": {"cpu": 20}, "evictableNamespaces": {"include": ["a"]}},
            "exclude only",
        ),
        (
            "LowNodeUtilization",
            {"thresholds": {"cpu": 20}, "targetThresholds": {"memory": 50}},
            "same resources",
        ),
        (
            "LowNodeUtilization",
            {"thresholds": {"cpu": 60}, "targetThresholds": {"cpu": 50}},
            "above its target",
        ),
        (
            "LowNodeUtilization",
            {
                "thresholds": {"cpu": 20},
                "targetThresholds": {"cpu": 50},
                "metricsUtilization": {"source": "KubernetesMetrics"},
            },
            "metricsUtilization",
        ),
        ("PodLifeTime", {}, "must be set"),
        ("PodLifeTime", {"states": ["Sleeping"]}, "CrashLoopBackOff"),
        ("PodLifeTime", {"conditions": [{}]}, "must be set"),
        ("RemovePodsHavingTooManyRestarts", {}, "podRestartThreshold"),
        ("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 0}, "at least 1"),
        ("DefaultEvictor", {"priorityThreshold": {"value": 1, "name": "high"}}, "both"),
        ("DefaultEvictor", {"priorityThreshold": {"value": 2_000_000_001}}, "exceed"),
        ("DefaultEvictor", {"noEvictionPolicy": "Never"}, "Mandatory"),
        ("DefaultEvictor", {"minReplicas": -1}, "minReplicas is -1; it must be at least 0"),
        ("DefaultEvictor", {"podProtections": {"defaultDisabled": ["PodsWithPVC"]}}, "DaemonSet"),
        (
            "DefaultEvictor",
            {"podProtections": {"extraEnabled": ["PodsWithPVC", "PodsWithPVC"]}},
            "twice",
        ),
        (
            "DefaultEvictor",
            {
                "evictLocalStoragePods": True,
                "podProtections": {"extraEnabled": ["PodsWithPVC"]},
            },
            "can't both be set",
        ),
    ],
)
def test_what_the_descheduler_refuses_is_refused(
    plugin: str, args: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError, match=words):
        parse_args(plugin, args)


def test_defaults_are_those_of_the_descheduler() -> None:
    spread = parse_args(SPREAD, {"constraints": []})
    failed = parse_args("RemoveFailedPods", {})
    high = parse_args("HighNodeUtilization", {"thresholds": {"cpu": 20}})
    assert isinstance(spread, TopologySpreadConstraintArgs)
    assert isinstance(failed, RemoveFailedPodsArgs)
    assert isinstance(high, HighNodeUtilizationArgs)
    assert spread.constraints == ("DoNotSchedule",)
    assert spread.topology_balance_node_fit
    assert failed.min_pod_lifetime_seconds == 3600
    assert high.number_of_nodes == 0


def test_thresholds_may_have_fractions() -> None:
    args = parse_args(
        "LowNodeUtilization", {"thresholds": {"cpu": 12.5}, "targetThresholds": {"cpu": 50}}
    )
    assert isinstance(args, LowNodeUtilizationArgs)
    assert args.thresholds == {"cpu": 12.5}


@pytest.mark.parametrize(
    ("args", "changed"),
    [
        ({}, set()),
        ({"evictLocalStoragePods": True}, {"PodsWithLocalStorage"}),
        ({"evictSystemCriticalPods": True}, {"SystemCriticalPods"}),
        ({"evictFailedBarePods": True}, {"FailedBarePods"}),
        ({"evictDaemonSetPods": True}, {"DaemonSetPods"}),
        ({"ignorePvcPods": True}, {"PodsWithPVC"}),
        ({"ignorePodsWithoutPDB": True}, {"PodsWithoutPDB"}),
        ({"podProtections": {"defaultDisabled": ["DaemonSetPods"]}}, {"DaemonSetPods"}),
        (
            {
                "podProtections": {
                    "defaultDisabled": ["FailedBarePods"],
                    "extraEnabled": ["PodsWithResourceClaims"],
                }
            },
            {"FailedBarePods", "PodsWithResourceClaims"},
        ),
    ],
)
def test_old_and_new_fields_change_the_same_protections(
    args: dict[str, Any], changed: set[str]
) -> None:
    default = DefaultEvictorArgs().protections
    assert DefaultEvictorArgs.model_validate(args).protections ^ default == changed


def test_protected_storage_classes_are_read() -> None:
    config = {"PodsWithPVC": {"protectedStorageClasses": [{"name": "zonal"}]}}
    protections = {"extraEnabled": ["PodsWithPVC"], "config": config}
    read = DefaultEvictorArgs.model_validate({"podProtections": protections}).pod_protections
    assert read.config is not None
    assert read.config.pods_with_pvc is not None
    assert [c.name for c in read.config.pods_with_pvc.protected_storage_classes] == ["zonal"]


def test_a_minimal_age_is_a_duration() -> None:
    assert DefaultEvictorArgs.model_validate({"minPodAge": "1h30m"}).min_pod_age == timedelta(
        minutes=90
    )


def test_a_refusal_over_several_fields_names_the_one_to_mend() -> None:
    with pytest.raises(ValidationError) as caught:
        parse_args("PodLifeTime", {"conditions": [{}], "states": ["Running"]})
    assert caught.value.errors()[0]["loc"] == ("conditions", 0)
    with pytest.raises(ValidationError) as caught:
        policy({"name": "p", "plugins": {"balance": {"enabled": [SPREAD]}}})
    error = caught.value.errors()[0]["ctx"]["error"]
    assert isinstance(error, FieldError)
    assert error.field == "plugins.balance.enabled[0]"
