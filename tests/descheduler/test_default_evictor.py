from __future__ import annotations

import pytest

from planner.cluster import Cluster
from planner.descheduler.policy import view_of
from planner.descheduler.strategies.default_evictor import DefaultEvictor, UnknownPriorityClassError
from planner.descheduler.strategies.node_fit import NodeFit
from planner_models.descheduler_evictor import DefaultEvictorArgs
from planner_models.pod import Pod
from tests.descheduler.strategy_examples import owned_pod
from tests.objects import Json, cluster_of, merged, node, pod

PREFERS_TO_STAY = {"descheduler.alpha.kubernetes.io/prefer-no-eviction": "true"}
EVICT_ME = {"descheduler.alpha.kubernetes.io/evict": "true"}
LOCAL = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}


def guard(cluster: Cluster, args: Json, now: int | None = None) -> DefaultEvictor:
    view = view_of(cluster, now=now)
    return DefaultEvictor(view, DefaultEvictorArgs.model_validate(args), NodeFit(view))


def first(cluster: Cluster) -> Pod:
    return (*cluster.pods, *cluster.finished_pods)[0]


def protection(tested: Json, args: Json | None = None, *others: Json) -> str | None:
    cluster = cluster_of(tested, node("a"), *others)
    return guard(cluster, args or {}).protection(first(cluster))


def test_a_replica_may_go() -> None:
    assert protection(owned_pod("web", "a")) is None


@pytest.mark.parametrize(
    ("tested", "why"),
    [
        (pod("bare", "a"), "it has no owner"),
        (owned_pod("web", "a", kind="DaemonSet"), "a DaemonSet runs it"),
        (owned_pod("web", "a", spec=LOCAL), "it has local storage"),
        (owned_pod("web", "a", spec={"priority": 2_000_000_000}), "its priority is 2000000000"),
        (
            owned_pod("web", "a", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
            "it is a static pod of its node",
        ),
        (
            owned_pod(
                "web", "a", metadata={"annotations": {"kubernetes.io/config.source": "file"}}
            ),
            "it is a static pod of its node",
        ),
        (
            owned_pod("web", "a", metadata={"deletionTimestamp": "2026-05-01T12:00:00Z"}),
            "it is terminating",
        ),
    ],
)
def test_pods_are_protected(tested: Json, why: str) -> None:
    assert protection(tested) == why


@pytest.mark.parametrize(
    ("tested", "args"),
    [
        (owned_pod("web", "a", spec=LOCAL), {"evictLocalStoragePods": True}),
        (
            owned_pod("web", "a", spec=LOCAL),
            {"podProtections": {"defaultDisabled": ["PodsWithLocalStorage"]}},
        ),
        (owned_pod("web", "a", kind="DaemonSet"), {"evictDaemonSetPods": True}),
        (pod("bare", "a", status={"phase": "Failed"}), {"evictFailedBarePods": True}),
        (owned_pod("web", "a", spec={"priority": 2**31 - 1}), {"evictSystemCriticalPods": True}),
    ],
)
def test_protections_can_be_switched_off(tested: Json, args: Json) -> None:
    assert protection(tested, args) is None


def test_a_bare_pod_that_has_not_failed_stays_in_any_case() -> None:
    why = protection(pod("bare", "a"), {"evictFailedBarePods": True})
    assert why == "it has no owner and has not failed"


def test_the_annotation_that_asks_for_eviction_overrules_all_protections() -> None:
    bare = pod("bare", "a", spec=LOCAL, metadata={"annotations": EVICT_ME})
    assert protection(bare) is None


@pytest.mark.parametrize(("rule", "stays"), [("Preferred", False), ("Mandatory", True)])
def test_a_pod_that_prefers_to_stay_does_so_if_the_policy_is_mandatory(
    rule: str, stays: bool
) -> None:
    reluctant = owned_pod("web", "a", metadata={"annotations": PREFERS_TO_STAY})
    assert (protection(reluctant, {"noEvictionPolicy": rule}) is not None) == stays


def test_priorities_at_or_above_the_threshold_are_protected() -> None:
    args = {"priorityThreshold": {"value": 100}}
    assert protection(owned_pod("web", "a", spec={"priority": 99}), args) is None
    assert protection(owned_pod("web", "a", spec={"priority": 100}), args) is not None
    assert protection(owned_pod("web", "a"), args) is None


def test_the_threshold_may_be_the_name_of_a_priority_class() -> None:
    high: Json = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 50,
    }
    args = {"priorityThreshold": {"name": "high"}}
    web = owned_pod("web", "a", spec={"priority": 60})
    assert protection(web, args, high) == "its priority is 60"
    with pytest.raises(UnknownPriorityClassError, match="PriorityClass high"):
        protection(web, args)


def test_the_threshold_is_off_together_with_the_protection_of_critical_pods() -> None:
    args = {"priorityThreshold": {"value": 100}, "evictSystemCriticalPods": True}
    assert protection(owned_pod("web", "a", spec={"priority": 2_000_000_000}), args) is None


def test_a_label_selector_leaves_others_out() -> None:
    args = {"labelSelector": {"matchLabels": {"app": "web"}}}
    assert protection(owned_pod("web", "a"), args) is None
    assert protection(owned_pod("db", "a", owner="db"), args) == "labelSelector omits it"


def test_min_replicas_counts_all_pods_of_the_owner() -> None:
    args = {"minReplicas": 2}
    assert protection(owned_pod("web", "a"), args) == "its owner has 1 replicas"
    pending = owned_pod("web-2", "")
    finished = owned_pod("web-3", "a", status={"phase": "Succeeded"})
    assert protection(owned_pod("web", "a"), args, pending) is None
    assert protection(owned_pod("web", "a"), args, finished) is None


def test_pods_younger_than_the_minimum_age_stay() -> None:
    web = owned_pod("web", "a", status={"startTime": "1970-01-01T00:10:00Z"})
    cluster = cluster_of(node("a"), web)
    args = {"minPodAge": "5m"}
    assert guard(cluster, args, now=600 + 299).protection(first(cluster)) is not None
    assert guard(cluster, args, now=600 + 300).protection(first(cluster)) is None


def test_a_pod_that_has_not_started_has_no_age() -> None:
    assert protection(owned_pod("web", "a"), {"minPodAge": "0s"}) is not None


def test_volume_claims_protect_on_request() -> None:
    assert protection(owned_pod("web", "a", spec=CLAIM)) is None
    args = {"podProtections": {"extraEnabled": ["PodsWithPVC"]}}
    assert protection(owned_pod("web", "a", spec=CLAIM), args) == "it has a volume claim"


@pytest.mark.parametrize(("storage_class", "stays"), [("fast", True), ("slow", False), ("", True)])
def test_only_claims_of_listed_classes_protect(storage_class: str, stays: bool) -> None:
    args = {
        "podProtections": {
            "extraEnabled": ["PodsWithPVC"],
            "config": {"PodsWithPVC": {"protectedStorageClasses": [{"name": "fast"}]}},
        }
    }
    claim: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"storageClassName": storage_class},
    }
    found = protection(owned_pod("web", "a", spec=CLAIM), args, claim)
    assert (found is not None) == stays


def test_pods_without_a_budget_stay_on_request() -> None:
    args = {"ignorePodsWithoutPDB": True}
    budget: Json = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    assert protection(owned_pod("web", "a"), args) == "it has no PodDisruptionBudget"
    assert protection(owned_pod("web", "a"), args, budget) is None


def test_resource_claims_protect_on_request() -> None:
    args = {"podProtections": {"extraEnabled": ["PodsWithResourceClaims"]}}
    web = owned_pod("web", "a", spec={"resourceClaims": [{"name": "gpu"}]})
    assert protection(web, args) == "it has resource claims"


def test_node_fit_asks_for_another_ready_node_of_the_selector() -> None:
    spare = node("b", metadata={"labels": {"pool": "spare"}})
    not_ready = merged(spare, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    for other, selector, goes in (
        (spare, "", True),
        (spare, "pool=spare", True),
        (spare, "pool!=spare", False),
        (not_ready, "", False),
    ):
        cluster = cluster_of(node("a"), other, owned_pod("web", "a"))
        args = {"nodeFit": True, "nodeSelector": selector}
        assert guard(cluster, args).pre_eviction_filter(first(cluster)) == goes


def test_the_namespace_has_to_match_its_selector() -> None:
    args = {"namespaceLabelSelector": {"matchLabels": {"team": "shop"}}}
    namespace: Json = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": "shop"}},
    }
    for others, goes in (((namespace,), True), ((), False)):
        cluster = cluster_of(node("a"), owned_pod("web", "a"), *others)
        assert guard(cluster, args).pre_eviction_filter(first(cluster)) == goes
