from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from planner_models.base import FieldError
from planner_models.scheduler_args import (
    SYSTEM_DEFAULT_CONSTRAINTS,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    OpaqueArgs,
    PluginArgs,
    PodTopologySpreadArgs,
)
from planner_models.scheduler_config import KubeSchedulerConfiguration
from planner_models.scheduler_profile import resolve_profiles

HEADER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def configuration(**fields: Any) -> KubeSchedulerConfiguration:
    return KubeSchedulerConfiguration.model_validate({**HEADER, **fields})


def with_args(plugin: str, args: dict[str, Any]) -> KubeSchedulerConfiguration:
    return configuration(profiles=[{"pluginConfig": [{"name": plugin, "args": args}]}])


def args_of(plugin: str, args: dict[str, Any]) -> PluginArgs:
    return with_args(plugin, args).profiles[0].plugin_config[0].args


def refusal(plugin: str, args: dict[str, Any]) -> tuple[str, str]:
    """The place and the message of the first refusal, the place without the common beginning."""
    with pytest.raises(ValidationError) as caught:
        with_args(plugin, args)
    error = caught.value.errors()[0]
    assert error["loc"][:5] == ("profiles", 0, "pluginConfig", 0, "args")
    return ".".join(map(str, error["loc"][5:])), error["msg"].removeprefix("Value error, ")


def test_an_empty_configuration_has_the_defaults_of_v1() -> None:
    config = configuration()
    assert [profile.scheduler_name for profile in config.profiles] == ["default-scheduler"]
    assert config.percentage_of_nodes_to_score == 0
    assert config.pod_initial_backoff_seconds == 1
    assert config.pod_max_backoff_seconds == 10


def test_an_empty_list_of_profiles_means_the_default_profile() -> None:
    assert configuration(profiles=[]) == configuration()


def test_fields_about_the_process_are_accepted_and_forgotten() -> None:
    config = configuration(
        leaderElection={"leaderElect": True},
        clientConnection={"qps": 50},
        enableProfiling=True,
        delayCacheUntilActive=False,
    )
    assert config == configuration()


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"apiVersion": "kubescheduler.config.k8s.io/v1beta1"}, id="an old version"),
        pytest.param({"kind": "Scheduler"}, id="another kind"),
        pytest.param({"percentageOfNodesToScore": 101}, id="more than all nodes"),
        pytest.param({"percentageOfNodesToscore": 50}, id="a misspelled field"),
        pytest.param({"parallelism": 0}, id="no worker"),
        pytest.param({"podInitialBackoffSeconds": 0}, id="no back-off"),
        pytest.param({"podInitialBackoffSeconds": 20}, id="a back-off that shrinks"),
        pytest.param({"profiles": [{"schedulerName": ""}]}, id="an empty scheduler name"),
        pytest.param(
            {"profiles": [{"schedulerName": "a"}, {}]}, id="two profiles, one without a name"
        ),
        pytest.param(
            {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]}, id="a name twice"
        ),
        pytest.param(
            {
                "profiles": [
                    {"schedulerName": "a"},
                    {
                        "schedulerName": "b",
                        "plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}},
                    },
                ]
            },
            id="different queue sort plugins",
        ),
        pytest.param(
            {"profiles": [{"pluginConfig": [{"name": "NodePorts"}, {"name": "NodePorts"}]}]},
            id="a plugin configured twice",
        ),
    ],
)
def test_what_kube_scheduler_refuses_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        configuration(**fields)


def test_fit_args_default_to_least_allocated_over_cpu_and_memory() -> None:
    args = args_of("NodeResourcesFit", {})
    assert isinstance(args, NodeResourcesFitArgs)
    assert args.scoring_strategy.type == "LeastAllocated"
    assert [(r.name, r.weight) for r in args.scoring_strategy.resources] == [
        ("cpu", 1),
        ("memory", 1),
    ]


def test_a_resource_weight_of_zero_is_one() -> None:
    resources = [{"name": "cpu", "weight": 0}, {"name": "nvidia.com/gpu"}]
    args = args_of(
        "NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "resources": resources}}
    )
    assert isinstance(args, NodeResourcesFitArgs)
    assert [r.weight for r in args.scoring_strategy.resources] == [1, 1]


def test_a_ratio_strategy_keeps_its_shape() -> None:
    args = args_of(
        "NodeResourcesFit",
        {
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 2}],
                "requestedToCapacityRatio": {
                    "shape": [
                        {"utilization": 0, "score": 0},
                        {"utilization": 70, "score": 10},
                        {"utilization": 100, "score": 5},
                    ]
                },
            }
        },
    )
    assert isinstance(args, NodeResourcesFitArgs)
    ratio = args.scoring_strategy.requested_to_capacity_ratio
    assert ratio is not None
    assert [(p.utilization, p.score) for p in ratio.shape] == [(0, 0), (70, 10), (100, 5)]


def shaped(*points: tuple[int, int]) -> dict[str, Any]:
    shape = [{"utilization": x, "score": y} for x, y in points]
    return {
        "scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "requestedToCapacityRatio": {"shape": shape},
        }
    }


@pytest.mark.parametrize(
    ("args", "place", "words"),
    [
        (shaped(), "scoringStrategy.requestedToCapacityRatio.shape", "at least 1 item"),
        (
            shaped((0, 0), (50, 5), (50, 6)),
            "scoringStrategy.requestedToCapacityRatio.shape",
            "point 2 has utilization 50; utilization must increase",
        ),
        (
            shaped((0, 11)),
            "scoringStrategy.requestedToCapacityRatio.shape.0.score",
            "score is 11; it must be between 0 and 10",
        ),
        (
            shaped((101, 0)),
            "scoringStrategy.requestedToCapacityRatio.shape.0.utilization",
            "utilization is 101; it must be between 0 and 100",
        ),
        ({"scoringStrategy": {}}, "scoringStrategy.type", "Field required"),
        (
            {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
            "scoringStrategy",
            "needs requestedToCapacityRatio",
        ),
        (
            {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}]},
                }
            },
            "scoringStrategy",
            "not allowed with type MostAllocated",
        ),
        (
            {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 101}],
                }
            },
            "scoringStrategy.resources.0",
            "weight of cpu is 101; it must be between 1 and 100",
        ),
        ({"ignoredResourceGroups": ["a.com/b"]}, "ignoredResourceGroups.0", "contains a slash"),
        ({"ignoredResources": ["a b"]}, "ignoredResources.0", "a b"),
    ],
)
def test_bad_fit_args_are_refused_with_their_place(
    args: dict[str, Any], place: str, words: str
) -> None:
    where, message = refusal("NodeResourcesFit", args)
    assert where == place
    assert words in message


def test_balanced_allocation_takes_each_resource_once_with_weight_one() -> None:
    args = args_of("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu"}]})
    assert isinstance(args, NodeResourcesBalancedAllocationArgs)
    assert [(r.name, r.weight) for r in args.resources] == [("cpu", 1)]
    heavy = {"resources": [{"name": "cpu", "weight": 2}]}
    assert "must be 1" in refusal("NodeResourcesBalancedAllocation", heavy)[1]
    twice = {"resources": [{"name": "cpu"}, {"name": "cpu"}]}
    assert "listed twice" in refusal("NodeResourcesBalancedAllocation", twice)[1]


ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def test_spread_defaults_are_the_systems_unless_listed() -> None:
    system = args_of("PodTopologySpread", {})
    nothing = args_of("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": []})
    listed = args_of("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [ZONE]})
    assert isinstance(system, PodTopologySpreadArgs)
    assert isinstance(nothing, PodTopologySpreadArgs)
    assert isinstance(listed, PodTopologySpreadArgs)
    assert system.effective_constraints == SYSTEM_DEFAULT_CONSTRAINTS
    assert nothing.effective_constraints == ()
    assert [c.topology_key for c in listed.effective_constraints] == ["zone"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"defaultConstraints": [ZONE]}, "need defaultingType: List"),
        ({"defaultingType": "Any"}, "'System' or 'List'"),
        ({"defaultingType": "List", "defaultConstraints": [{**ZONE, "maxSkew": 0}]}, "maxSkew"),
        (
            {"defaultingType": "List", "defaultConstraints": [{**ZONE, "labelSelector": {}}]},
            "deduced for each pod",
        ),
        (
            {"defaultingType": "List", "defaultConstraints": [ZONE, ZONE]},
            "second constraint for topologyKey zone",
        ),
    ],
)
def test_bad_default_constraints_are_refused(args: dict[str, Any], words: str) -> None:
    assert words in refusal("PodTopologySpread", args)[1]


def test_inter_pod_affinity_args_have_a_range() -> None:
    args = args_of("InterPodAffinity", {"hardPodAffinityWeight": 0})
    assert isinstance(args, InterPodAffinityArgs)
    assert args.hard_pod_affinity_weight == 0
    where, message = refusal("InterPodAffinity", {"hardPodAffinityWeight": 101})
    assert where == "hardPodAffinityWeight"
    assert message == "hardPodAffinityWeight is 101; it must be between 0 and 100"


def test_preemption_must_look_at_some_node() -> None:
    nobody = {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}
    assert "can't both be 0" in refusal("DefaultPreemption", nobody)[1]
    args_of("DefaultPreemption", {"minCandidateNodesPercentage": 0})


def test_added_affinity_is_read() -> None:
    term = {"matchExpressions": [{"key": "disktype", "operator": "Exists"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    args = args_of("NodeAffinity", {"addedAffinity": required})
    assert isinstance(args, NodeAffinityArgs)
    assert args.added_affinity is not None
    assert args.added_affinity.required is not None
    assert args_of("NodeAffinity", {}) == NodeAffinityArgs(added_affinity=None)


def test_added_affinity_is_checked_like_a_pods() -> None:
    term = {"matchExpressions": [{"key": "disktype", "operator": "Sometimes"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    assert refusal("NodeAffinity", {"addedAffinity": required})[0].endswith("operator")


def test_a_refusal_over_several_fields_keeps_the_field_to_mend() -> None:
    args = {"defaultingType": "List", "defaultConstraints": [ZONE, ZONE]}
    with pytest.raises(ValidationError) as caught:
        with_args("PodTopologySpread", args)
    error = caught.value.errors()[0]["ctx"]["error"]
    assert isinstance(error, FieldError)
    assert error.field == "defaultConstraints[1]"


def test_args_of_another_kind_are_refused() -> None:
    assert "kind" in refusal("NodeAffinity", {"kind": "InterPodAffinityArgs"})[1]
    args_of("NodeAffinity", {"kind": "NodeAffinityArgs", "apiVersion": HEADER["apiVersion"]})


def test_args_of_an_unknown_plugin_are_kept_by_name_only() -> None:
    args = args_of("Coscheduling", {"permitWaitingTimeSeconds": 10, "kind": "CoschedulingArgs"})
    assert args == OpaqueArgs(fields=("permitWaitingTimeSeconds",))


def test_absent_args_are_the_defaults() -> None:
    config = configuration(profiles=[{"pluginConfig": [{"name": "InterPodAffinity"}]}])
    assert config.profiles[0].plugin_config[0].args == InterPodAffinityArgs()


def test_a_configuration_survives_writing_and_reading() -> None:
    config = with_args("NodeResourcesFit", shaped((0, 0), (100, 10)))
    written = config.model_dump(by_alias=True, exclude_none=True)
    assert KubeSchedulerConfiguration.model_validate(written) == config


def test_the_documentations_default_constraints_are_read_in_their_old_version() -> None:
    text = """
    {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": "KubeSchedulerConfiguration",
     "profiles": [{"schedulerName": "default-scheduler", "pluginConfig": [
       {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": [
         {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
          "whenUnsatisfiable": "ScheduleAnyway"}]}}]}]}
    """
    config = KubeSchedulerConfiguration.model_validate_json(text)
    (profile,) = resolve_profiles(config)
    (constraint,) = profile.args.pod_topology_spread.effective_constraints
    assert (constraint.max_skew, constraint.hard) == (1, False)
