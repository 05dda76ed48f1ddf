"""What the controllers make of an evicted pod."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import Cluster
from planner.disruption.replacement import Replacement, Replacements
from tests.objects import Json, cluster_of, merged, node, owned, pod, template, workload

HASH = "pod-template-hash"
REVISION = "controller-revision-hash"
BIG = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}


def replica_set(name: str = "web-1", replicas: int = 2, **changes: Any) -> Json:
    made = workload("ReplicaSet", name, {"replicas": replicas, "template": _hashed(name)})
    return merged(made, changes)


def _hashed(name: str) -> Json:
    return template({"app": "web", HASH: name.rpartition("-")[2]})


def of_deployment(replica_set: Json) -> Json:
    return merged(replica_set, {"metadata": owned("Deployment", "web")})


def replica(name: str, owner: str = "web-1", **changes: Any) -> Json:
    labels = {"app": "web", HASH: owner.rpartition("-")[2]}
    metadata = {"labels": labels, **owned("ReplicaSet", owner)}
    return merged(pod(name, "n1", metadata=metadata), changes)


def member(name: str, *, ready: bool = True, revision: str = "db-1", **changes: Any) -> Json:
    metadata = {"labels": {"app": "web", REVISION: revision}, **owned("StatefulSet", "db")}
    conditions = [{"type": "Ready", "status": str(ready)}]
    status = {"phase": "Running", "conditions": conditions}
    return merged(pod(name, "n1", metadata=metadata, status=status), changes)


def stateful_set(replicas: int = 3, status: Json | None = None, **spec: Any) -> Json:
    made = workload("StatefulSet", "db", {"replicas": replicas, **spec})
    revisions = {"currentRevision": "db-1", "updateRevision": "db-1", "currentReplicas": replicas}
    return merged(made, {"status": revisions if status is None else status})


def after(name: str, *objects: Json) -> Replacement:
    cluster: Cluster = cluster_of(node("n1"), *objects)
    return Replacements(cluster).of(cluster.pod_index[f"default/{name}"])


def test_a_replica_set_brings_an_equal_pod_back() -> None:
    assert after("a", replica_set(), replica("a"), replica("b")).fate == "equal"


def test_without_its_controller_in_the_input_a_pod_is_assumed_to_come_back() -> None:
    assert after("a", replica("a")).fate == "assumed"


def test_a_pod_more_than_wanted_is_not_made_again() -> None:
    found = after("a", replica_set(replicas=1), replica("a"), replica("b"))
    assert found == Replacement("none", "rs/web-1 has more pods than it wants")


def test_a_terminating_pod_does_not_count_for_its_replica_set() -> None:
    leaving = merged(replica("b"), {"metadata": {"deletionTimestamp": "2026-05-01T12:00:00Z"}})
    objects = (replica_set(replicas=1), replica("a"), leaving)
    assert after("a", *objects).fate == "equal"


def test_a_replica_set_of_its_own_may_have_another_template_by_now() -> None:
    changed = workload("ReplicaSet", "web-1", {"template": template(spec=BIG)})
    found = after("a", changed, replica("a"))
    assert found == Replacement("other", "its template has changed since (containers)")


def test_what_admission_adds_to_a_pod_is_no_sign_of_another_template() -> None:
    sidecar = {"name": "proxy", "resources": {"requests": {"cpu": "10m"}}}
    main = {"name": "main", "resources": {"requests": {"cpu": "500m"}}}
    tolerated = {"key": "node.kubernetes.io/not-ready", "operator": "Exists"}
    spec = {"containers": [main, sidecar], "tolerations": [tolerated], "priority": 7}
    own = workload("ReplicaSet", "web-1", {"replicas": 1})
    assert after("a", own, replica("a", spec=spec)).fate == "equal"


def test_a_pod_that_was_resized_in_place_comes_back_in_its_old_size() -> None:
    found = after("a", replica_set(), replica("a", spec=BIG), replica("b"))
    reason = "its requests are not its template's (resized in place, or by a webhook)"
    assert found == Replacement("other", reason)


def test_a_replica_set_whose_pods_the_api_server_refuses_makes_none() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}
    refused = replica_set(status={"conditions": [failure]})
    found = after("a", refused, replica("a"), replica("b"))
    assert found == Replacement("none", "the API server refuses new pods of rs/web-1")


def test_nothing_is_made_in_a_namespace_that_is_being_deleted() -> None:
    metadata = {"name": "default", "deletionTimestamp": "2026-05-01T12:00:00Z"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    found = after("a", namespace, replica_set(), replica("a"), replica("b"))
    assert found == Replacement("none", "its namespace default is being deleted")


def test_a_deployment_at_rest_brings_an_equal_pod_back() -> None:
    deployment = workload("Deployment", "web", {"replicas": 2})
    objects = (deployment, of_deployment(replica_set()), replica("a"), replica("b"))
    assert after("a", *objects).fate == "equal"


@pytest.mark.parametrize("name", ["a", "b"])
def test_during_a_rollout_nobody_knows_which_template_comes_next(name: str) -> None:
    deployment = workload("Deployment", "web", {"replicas": 2, "template": template(spec=BIG)})
    new = merged(replica_set("web-2", 1), {"spec": {"template": {"spec": BIG}}})
    objects = (of_deployment(replica_set("web-1", 1)), of_deployment(new))
    found = after(name, deployment, *objects, replica("a"), replica("b", "web-2"))
    assert found == Replacement("other", "a rollout of deploy/web is under way")


def test_a_paused_deployment_keeps_both_of_its_revisions() -> None:
    spec = {"replicas": 2, "paused": True, "template": template(spec=BIG)}
    deployment = workload("Deployment", "web", spec)
    objects = (of_deployment(replica_set("web-1", 2)), replica("a"), replica("b"))
    assert after("a", deployment, *objects).fate == "equal"


def test_a_deployment_that_is_scaled_down_makes_no_more_pods() -> None:
    deployment = workload("Deployment", "web", {"replicas": 1})
    objects = (of_deployment(replica_set()), replica("a"), replica("b"))
    assert after("a", deployment, *objects) == Replacement("other", "deploy/web is being scaled")


def test_another_controller_of_a_known_kind_is_not_known() -> None:
    foreign = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "StatefulSet", "name": "db"}
    owner = {"ownerReferences": [{**foreign, "uid": "o", "controller": True}]}
    assert after("a", pod("a", "n1", metadata=owner)).fate == "unknown"


@pytest.mark.parametrize(
    ("policy", "fate"), [("OrderedReady", "none"), ("Parallel", "equal")], ids=str
)
def test_an_ordered_set_waits_for_lower_ordinals(policy: str, fate: str) -> None:
    objects = (member("db-0", ready=False), member("db-1"), member("db-2"))
    found = after("db-2", stateful_set(podManagementPolicy=policy), *objects)
    assert found.fate == fate


def test_an_ordered_set_does_not_wait_for_higher_ordinals() -> None:
    objects = (member("db-0"), member("db-1"), member("db-2", ready=False))
    assert after("db-1", stateful_set(), *objects).fate == "equal"


def test_ordinals_may_start_elsewhere() -> None:
    ordinals = {"ordinals": {"start": 5}}
    found = after("db-6", stateful_set(2, **ordinals), member("db-5"), member("db-6"))
    assert found.fate == "equal"


def test_an_ordinal_beyond_the_replicas_is_not_made_again() -> None:
    found = after("db-3", stateful_set(), *(member(f"db-{i}") for i in range(4)))
    assert found == Replacement("none", "sts/db has more pods than it wants")


def test_on_delete_makes_the_latest_revision() -> None:
    status = {"currentRevision": "db-1", "updateRevision": "db-2", "currentReplicas": 1}
    owner = stateful_set(1, status, updateStrategy={"type": "OnDelete"})
    assert after("db-0", owner, member("db-0")).fate == "other"


@pytest.mark.parametrize(("name", "fate"), [("db-0", "equal"), ("db-1", "equal")])
def test_a_partition_keeps_both_revisions(name: str, fate: str) -> None:
    status = {"currentRevision": "db-1", "updateRevision": "db-2", "currentReplicas": 1}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    owner = stateful_set(2, status, updateStrategy=strategy)
    assert after(name, owner, member("db-0"), member("db-1", revision="db-2")).fate == fate


def test_a_rolling_update_under_way_replaces_pods_by_itself() -> None:
    status = {"currentRevision": "db-1", "updateRevision": "db-2", "currentReplicas": 1}
    owner = stateful_set(2, status)
    found = after("db-0", owner, member("db-0"), member("db-1", revision="db-2"))
    assert found == Replacement("other", "a rollout of sts/db is under way")


def job_after(spec: Json, status: Json | None = None) -> Replacement:
    made = workload("Job", "train", {"parallelism": 2, "completions": 2, **spec})
    objects = merged(made, {"status": status or {}})
    pods = (pod(name, "n1", metadata=owned("Job", "train")) for name in ("a", "b"))
    return after("a", objects, *pods)


IGNORE = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
EXIT = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}}


@pytest.mark.parametrize(
    ("spec", "status", "fate"),
    [
        pytest.param({"backoffLimit": 2}, {}, "equal", id="all-running-pods-may-fail"),
        pytest.param({"backoffLimit": 1}, {}, "none", id="two-evictions-would-end-it"),
        pytest.param({"backoffLimit": 2}, {"failed": 1}, "none", id="earlier-failures-count"),
        pytest.param({}, {}, "equal", id="the-usual-limit-is-6"),
        pytest.param(
            {"backoffLimit": 0, "podFailurePolicy": {"rules": [IGNORE]}}, {}, "equal", id="ignored"
        ),
        pytest.param(
            {"backoffLimit": 0, "podFailurePolicy": {"rules": [EXIT, IGNORE]}},
            {},
            "none",
            id="a-rule-before-may-fit",
        ),
        pytest.param({"backoffLimitPerIndex": 1}, {}, "unknown", id="failures-per-index"),
        pytest.param({"suspend": True}, {}, "none", id="a-suspended-job-makes-no-pods"),
        pytest.param({}, {"succeeded": 1}, "none", id="one-completion-left-for-two-pods"),
        pytest.param(
            {"managedBy": "example.com/kueue"}, {}, "unknown", id="not-the-job-controller"
        ),
    ],
)
def test_a_job_counts_evictions_as_failures(spec: Json, status: Json, fate: str) -> None:
    assert job_after(spec, status).fate == fate


# Admission


def classes(**values: int) -> list[Json]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return [{**kind, "metadata": {"name": name}, "value": v} for name, v in values.items()]


def of_class(name: str, priority: int) -> Json:
    spec = {"priorityClassName": name, "priority": priority}
    made = merged(replica_set(replicas=1), {"spec": {"template": {"spec": spec}}})
    return {"made": made, "pod": replica("a", spec=spec)}


@pytest.mark.parametrize(
    ("given", "fate", "reason"),
    [
        (classes(high=5), "equal", ""),
        ([], "equal", ""),
        (classes(low=1), "none", "there is no PriorityClass high"),
        (classes(high=7), "other", "a new pod the priority 7"),
    ],
)
def test_a_priority_class_that_is_gone_or_changed_makes_another_pod_or_none(
    given: list[Json], fate: str, reason: str
) -> None:
    objects = of_class("high", 5)
    found = after("a", *given, objects["made"], objects["pod"])
    assert found.fate == fate
    assert reason in found.reason


@pytest.mark.parametrize(("hard", "fate"), [("3", "equal"), ("2", "equal"), ("1", "none")])
def test_a_quota_below_what_is_used_keeps_new_pods_out(hard: str, fate: str) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": hard}},
        "status": {"used": {"pods": "2"}},
    }
    found = after("a", quota, replica_set(), replica("a"), replica("b"))
    assert found.fate == fate


# Rules of a podFailurePolicy


DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]
BY_EXIT = {"operator": "NotIn", "values": [0]}


@pytest.mark.parametrize(
    ("rules", "fate"),
    [
        ([], "equal"),
        ([{"action": "Ignore", "onPodConditions": DISRUPTED}], "equal"),
        ([{"action": "FailJob", "onPodConditions": DISRUPTED}], "none"),
        ([{"action": "FailJob", "onExitCodes": BY_EXIT}], "none"),
        (
            [
                {"action": "Ignore", "onPodConditions": DISRUPTED},
                {"action": "FailJob", "onExitCodes": BY_EXIT},
            ],
            "equal",
        ),
        ([{"action": "FailIndex", "onExitCodes": BY_EXIT}], "none"),
        ([{"action": "Count", "onExitCodes": BY_EXIT}], "equal"),
    ],
)
def test_a_rule_that_fails_the_job_on_an_eviction_is_worse_than_its_limit(
    rules: list[Json], fate: str
) -> None:
    spec = {"parallelism": 1, "completions": 5, "backoffLimit": 6}
    job = workload("Job", "train", {**spec, "podFailurePolicy": {"rules": rules}})
    mine = pod("a", "n1", metadata=owned("Job", "train"))
    assert after("a", job, mine).fate == fate


@pytest.mark.parametrize("condition", ["FailureTarget", "SuccessCriteriaMet", "Failed"])
def test_a_job_that_is_ending_makes_no_pods(condition: str) -> None:
    status = {"conditions": [{"type": condition, "status": "True"}]}
    job = merged(workload("Job", "train", {"parallelism": 1}), {"status": status})
    assert after("a", job, pod("a", "n1", metadata=owned("Job", "train"))).fate == "none"


def test_a_stateful_set_waits_for_the_finalizers_of_the_old_pod() -> None:
    """Its name is taken as long as the object is there."""
    kept = member("db-0", metadata={"finalizers": ["example.com/backup"]})
    found = after("db-0", stateful_set(1), kept)
    assert found.fate == "unknown"
    assert "its finalizers go (example.com/backup)" in found.reason


def test_a_replica_set_does_not_wait_for_finalizers() -> None:
    kept = replica("a", metadata={"finalizers": ["example.com/backup"]})
    assert after("a", replica_set(replicas=1), kept).fate == "equal"


# StatefulSets that the input lacks


def test_a_set_that_is_not_in_the_input_may_be_ordered() -> None:
    found = after("db-1", member("db-0", ready=False), member("db-1"))
    assert (found.fate, found.reason) == (
        "unknown",
        "sts/db may make it anew only when db-0 is ready",
    )
    assert after("db-0", member("db-0", ready=False), member("db-1")).fate == "assumed"
    assert after("db-1", member("db-0"), member("db-1")).fate == "assumed"


def test_pods_of_two_revisions_are_a_rollout() -> None:
    found = after("db-0", member("db-0"), member("db-1", revision="db-2"))
    assert (found.fate, found.reason) == ("other", "a rollout of sts/db may be under way")
