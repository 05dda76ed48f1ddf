from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_models.scheduler_config import KubeSchedulerConfiguration, KubeSchedulerProfile
from planner_models.scheduler_plugins import DEFAULT_PLUGINS, EXTENSION_POINTS
from planner_models.scheduler_profile import ResolvedProfile, resolve_profile, resolve_profiles
from planner_models.scheduler_refusals import UnsupportedConfigurationError

EVERYTHING = [{"name": "*"}]


def enabled(*names: str, **weights: int) -> list[dict[str, Any]]:
    weighted = [{"name": name, "weight": weight} for name, weight in weights.items()]
    return [{"name": name} for name in names] + weighted


def resolve(plugins: dict[str, Any], **options: Any) -> ResolvedProfile:
    return resolve_profile(KubeSchedulerProfile.model_validate({"plugins": plugins}), **options)


def weights(profile: ResolvedProfile) -> dict[str, int]:
    return {plugin.name: plugin.weight for plugin in profile.score}


def refusals(plugins: dict[str, Any], **options: Any) -> list[str]:
    with pytest.raises(UnsupportedConfigurationError) as caught:
        resolve(plugins, **options)
    return [str(refusal) for refusal in caught.value.refusals]


DEFAULT = resolve({})


def test_the_default_profile_filters_in_the_documented_order() -> None:
    assert DEFAULT.filter == (
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    )


def test_the_default_profile_scores_with_the_documented_weights() -> None:
    assert weights(DEFAULT) == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


def test_the_default_profile_queues_and_preempts() -> None:
    assert DEFAULT.queue_sort == "PrioritySort"
    assert DEFAULT.pre_enqueue[0] == "SchedulingGates"
    assert DEFAULT.post_filter == ("DynamicResources", "DefaultPreemption")
    assert DEFAULT.ignored == ()


def test_every_extension_point_of_the_table_exists() -> None:
    named = {point for plugin in DEFAULT_PLUGINS for point in plugin.points}
    assert named <= set(EXTENSION_POINTS)


def test_a_plugin_disabled_at_multi_point_runs_nowhere() -> None:
    profile = resolve({"multiPoint": {"disabled": enabled("PodTopologySpread")}})
    assert "PodTopologySpread" not in profile.filter
    assert "PodTopologySpread" not in weights(profile)


def test_a_plugin_disabled_at_score_still_filters() -> None:
    profile = resolve({"score": {"disabled": enabled("PodTopologySpread")}})
    assert "PodTopologySpread" in profile.filter
    assert "PodTopologySpread" not in weights(profile)


def test_a_star_at_score_leaves_only_what_score_enables() -> None:
    profile = resolve({"score": {"disabled": EVERYTHING, "enabled": enabled(ImageLocality=7)}})
    assert weights(profile) == {"ImageLocality": 7}
    assert profile.filter == DEFAULT.filter


def test_a_star_at_multi_point_leaves_only_what_multi_point_enables() -> None:
    few = enabled("PrioritySort", "NodeName", "NodeResourcesFit", "DefaultBinder")
    profile = resolve({"multiPoint": {"disabled": EVERYTHING, "enabled": few}})
    assert profile.filter == ("NodeName", "NodeResourcesFit")
    assert weights(profile) == {"NodeResourcesFit": 1}
    assert profile.post_filter == ()


def test_a_weight_given_at_multi_point_replaces_the_default_in_place() -> None:
    profile = resolve({"multiPoint": {"enabled": enabled(NodeAffinity=9)}})
    assert list(weights(profile)) == list(weights(DEFAULT))
    assert weights(profile)["NodeAffinity"] == 9


def test_a_plugin_re_enabled_without_a_weight_falls_back_to_one() -> None:
    profile = resolve({"multiPoint": {"enabled": enabled("TaintToleration")}})
    assert weights(profile)["TaintToleration"] == 1


def test_a_weight_of_zero_means_one() -> None:
    profile = resolve({"score": {"enabled": enabled(NodeAffinity=0)}})
    assert weights(profile)["NodeAffinity"] == 1


def test_the_weight_at_score_wins_over_the_one_at_multi_point() -> None:
    profile = resolve(
        {
            "multiPoint": {"enabled": enabled(NodeAffinity=9)},
            "score": {"enabled": enabled(NodeAffinity=4)},
        }
    )
    assert weights(profile)["NodeAffinity"] == 4


def test_plugins_re_configured_at_a_point_run_first_there() -> None:
    profile = resolve({"filter": {"enabled": enabled("PodTopologySpread", "NodePorts")}})
    others = [name for name in DEFAULT.filter if name not in ("PodTopologySpread", "NodePorts")]
    assert profile.filter == ("PodTopologySpread", "NodePorts", *others)
    assert profile.pre_filter == DEFAULT.pre_filter


def test_plugins_that_only_a_point_enables_run_last_there() -> None:
    profile = resolve(
        {
            "multiPoint": {"disabled": enabled("NodeName")},
            "filter": {"enabled": enabled("NodeName")},
        }
    )
    assert profile.filter[-1] == "NodeName"


def test_disabling_and_enabling_at_a_point_moves_a_plugin_to_the_end() -> None:
    moved = {"disabled": enabled("NodeAffinity"), "enabled": enabled(NodeAffinity=5)}
    profile = resolve({"score": moved})
    assert profile.score[-1].name == "NodeAffinity"
    assert weights(profile)["NodeAffinity"] == 5


@pytest.mark.parametrize(
    ("plugins", "words"),
    [
        ({"filter": {"enabled": enabled("ImageLocality")}}, "ImageLocality has no filter part"),
        ({"filter": {"enabled": enabled("NodeName", "NodeName")}}, "NodeName is enabled twice"),
        ({"multiPoint": {"enabled": enabled("NodeName", "NodeName")}}, "NodeName is enabled twice"),
        ({"queueSort": {"disabled": EVERYTHING}}, "exactly one plugin is needed, not none"),
        ({"bind": {"disabled": EVERYTHING}}, "at least one bind plugin"),
    ],
)
def test_profiles_that_kube_scheduler_would_not_start_with_are_refused(
    plugins: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        resolve(plugins)


def test_unknown_plugins_are_refused_by_name_and_place() -> None:
    plugins = {"multiPoint": {"enabled": enabled("NodeName", "NodePorts", "Coscheduling")}}
    with pytest.raises(UnsupportedConfigurationError) as caught:
        resolve(plugins)
    assert caught.value.message == (
        "the scheduler profile enables plugins that planner can't model"
    )
    assert str(caught.value).splitlines()[1:] == [
        "profiles[0].plugins.multiPoint.enabled[2]: Coscheduling"
    ]


def test_all_unknown_plugins_are_named_at_once() -> None:
    plugins = {
        "multiPoint": {"enabled": enabled("Coscheduling")},
        "permit": {"enabled": enabled("GangScheduling")},
    }
    assert refusals(plugins, path="profiles[3]") == [
        "profiles[3].plugins.multiPoint.enabled[0]: Coscheduling",
        "profiles[3].plugins.permit.enabled[0]: GangScheduling",
    ]


def test_ignored_plugins_are_left_out_and_reported() -> None:
    plugins = {"multiPoint": {"enabled": enabled("Coscheduling")}}
    profile = resolve(plugins, ignored=frozenset({"Coscheduling", "NotThere"}))
    assert profile.filter == DEFAULT.filter
    assert profile.ignored == ("Coscheduling",)


def test_a_known_plugin_can_be_ignored_too() -> None:
    profile = resolve({}, ignored=frozenset({"ImageLocality"}))
    assert "ImageLocality" not in weights(profile)
    assert profile.ignored == ("ImageLocality",)


def test_ignoring_the_queue_sort_plugin_falls_back_to_priorities() -> None:
    plugins = {"queueSort": {"disabled": EVERYTHING, "enabled": enabled("Coscheduling")}}
    profile = resolve(plugins, ignored=frozenset({"Coscheduling"}))
    assert profile.queue_sort == "PrioritySort"


def test_ignoring_something_else_does_not_excuse_a_missing_queue_sort() -> None:
    with pytest.raises(ValueError, match="exactly one plugin is needed"):
        resolve({"queueSort": {"disabled": EVERYTHING}}, ignored=frozenset({"ImageLocality"}))


FILTERS = st.lists(st.sampled_from(DEFAULT.filter), unique=True)


@given(multi=FILTERS, multi_off=FILTERS, own=FILTERS, own_off=FILTERS)
def test_filters_run_if_enabled_at_the_point_or_left_on_at_multi_point(
    multi: list[str], multi_off: list[str], own: list[str], own_off: list[str]
) -> None:
    profile = resolve(
        {
            "multiPoint": {"enabled": enabled(*multi), "disabled": enabled(*multi_off)},
            "filter": {"enabled": enabled(*own), "disabled": enabled(*own_off)},
        }
    )
    left_on = (set(DEFAULT.filter) - set(multi_off) | set(multi)) - set(own_off)
    assert sorted(profile.filter) == sorted(left_on | set(own))
    overridden = [name for name in own if name in left_on]
    added = [name for name in own if name not in left_on]
    assert list(profile.filter[: len(overridden)]) == overridden
    assert list(profile.filter[len(profile.filter) - len(added) :]) == added


def with_args(name: str, args: dict[str, Any], **profile: Any) -> KubeSchedulerProfile:
    config = [{"name": name, "args": args}]
    return KubeSchedulerProfile.model_validate({"pluginConfig": config, **profile})


@pytest.mark.parametrize(
    ("name", "args", "field"),
    [
        ("VolumeBinding", {"shape": [{"utilization": 0, "score": 10}]}, "shape"),
        ("DynamicResources", {"filterTimeout": "3s"}, "filterTimeout"),
        ("TaintToleration", {"strict": True}, "strict"),
    ],
)
def test_arguments_that_planner_cannot_follow_are_refused_by_name(
    name: str, args: dict[str, Any], field: str
) -> None:
    with pytest.raises(UnsupportedConfigurationError) as caught:
        resolve_profile(with_args(name, args))
    assert [str(refusal) for refusal in caught.value.refusals] == [
        f"profiles[0].pluginConfig[0].args.{field}: {name}"
    ]
    resolve_profile(with_args(name, args), ignored=frozenset({name}))


def test_default_arguments_written_out_are_no_obstacle() -> None:
    timeouts = {"filterTimeout": "10s", "bindingTimeout": "10m0s", "kind": "DynamicResourcesArgs"}
    assert resolve_profile(with_args("DynamicResources", timeouts)) == DEFAULT


def test_arguments_of_a_plugin_that_does_not_run_do_not_matter() -> None:
    assert resolve_profile(with_args("Coscheduling", {"permitWaitingTimeSeconds": 10})) == DEFAULT


def test_given_arguments_reach_the_resolved_profile() -> None:
    profile = resolve_profile(with_args("InterPodAffinity", {"hardPodAffinityWeight": 50}))
    assert profile.args.inter_pod_affinity.hard_pod_affinity_weight == 50
    assert profile.args.node_resources_fit == DEFAULT.args.node_resources_fit


def configuration(**fields: Any) -> KubeSchedulerConfiguration:
    header = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    return KubeSchedulerConfiguration.model_validate({**header, **fields})


def test_a_profiles_own_percentage_wins_over_the_configurations() -> None:
    profiles = [
        {"schedulerName": "a", "percentageOfNodesToScore": 0},
        {"schedulerName": "b"},
    ]
    resolved = resolve_profiles(configuration(profiles=profiles, percentageOfNodesToScore=30))
    assert [p.percentage_of_nodes_to_score for p in resolved] == [0, 30]


def test_the_place_of_a_refusal_names_the_profile() -> None:
    stranger = {"plugins": {"score": {"enabled": enabled("Trimaran")}}}
    profiles = [{"schedulerName": "a"}, {"schedulerName": "b", **stranger}]
    with pytest.raises(UnsupportedConfigurationError, match=r"profiles\[1\]\.plugins\.score"):
        resolve_profiles(configuration(profiles=profiles))


def test_extenders_are_refused_by_their_address() -> None:
    extender = {"urlPrefix": "http://127.0.0.1:12345", "filterVerb": "filter", "weight": 5}
    with pytest.raises(UnsupportedConfigurationError) as caught:
        resolve_profiles(configuration(extenders=[extender]))
    assert [str(refusal) for refusal in caught.value.refusals] == [
        "extenders[0]: http://127.0.0.1:12345"
    ]
