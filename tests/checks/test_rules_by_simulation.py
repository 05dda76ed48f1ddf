"""Rules that let kube-scheduler and the controllers act: rollouts, outages, drains, preemption."""

from __future__ import annotations

from tests.checks.manifests import NODES, budget, deployment, of_rule, spread
from tests.objects import HOSTNAME, ZONE, Json, node, owned, pod, template, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
OLD = {"app": "web", "pod-template-hash": "old"}
HOSTS = tuple(node(f"n{i}", zone) for i, zone in enumerate("aabbcc"))


def apart(key: str = HOSTNAME) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def running(spec: Json, homes: list[str], cpu: str = "500m") -> tuple[Json, ...]:
    """A Deployment as the API server has it: itself, its ReplicaSet and ready pods."""
    asking = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}]
    inside = {**spec, "containers": asking}
    replica_set = workload(
        "ReplicaSet",
        "web-old",
        {"replicas": len(homes), "template": template(OLD, inside)},
        metadata={"uid": "rs", **owned("Deployment", "web")},
    )
    pods = [
        pod(
            f"web-old-{i}",
            home,
            spec=inside,
            metadata={"labels": OLD, **owned("ReplicaSet", "web-old")},
            status={"conditions": [{"type": "Ready", "status": "True"}]},
        )
        for i, home in enumerate(homes)
    ]
    return (
        deployment(len(homes), inside, metadata={"uid": "d"}),
        replica_set,
        *pods,
    )


def with_image(spec: Json, replicas: int) -> Json:
    main = {"name": "main", "image": "web:2", "resources": {"requests": {"cpu": "500m"}}}
    return deployment(replicas, {**spec, "containers": [main]})


def test_a_rollout_stops_where_every_node_has_a_pod_that_keeps_the_new_one_out() -> None:
    """kubernetes#116891."""
    cluster = (*NODES, *running(apart(), ["n1", "n2", "n3"]))
    (found,) = of_rule("rollout-deadlock", with_image(apart(), 3), cluster=cluster)
    assert found.title == "the rolling update of web stops before it begins"
    assert found.proof.seen == found.proof.seeds == 20
    helping = {each.text: each.then for each in found.fixes if each.helps}
    assert helping["maxUnavailable: 1"] == "3 of 3 replaced, 1 down"
    assert helping["one more node in a or b"] == "3 of 3 replaced"
    assert [each.text for each in found.fixes if not each.helps] == [
        "anti-affinity as preferred",
        "matchLabelKeys: [pod-template-hash]",
    ]


def test_a_rollout_with_a_free_node_goes_through() -> None:
    cluster = (*HOSTS, *running(apart(), ["n0", "n2", "n4"]))
    assert not of_rule("rollout-deadlock", with_image(apart(), 3), cluster=cluster)


def test_the_next_restart_is_tried_where_the_manifest_changes_nothing() -> None:
    cluster = (*NODES, *running(apart(), ["n1", "n2", "n3"]))
    (found,) = of_rule("rollout-deadlock", cluster[3], cluster=cluster)
    assert found.title.startswith("the next rolling update")


def test_a_rollout_may_end_uneven_because_old_pods_are_counted() -> None:
    """kubernetes#98215."""
    cluster = (*HOSTS, *running(spread(), ["n0", "n2", "n4"]))
    (found,) = of_rule("rollout-ends-uneven", with_image(spread(), 3), cluster=cluster)
    assert 0 < int(found.table[1][2]) < 20
    assert [each.text for each in found.fixes] == ["matchLabelKeys: [pod-template-hash]"]


def test_an_unreachable_zone_keeps_replacements_out_until_it_is_removed() -> None:
    """kubernetes#106127."""
    cluster = (*HOSTS, *running(spread(), ["n0", "n1", "n2", "n3", "n4", "n5"]))
    (found,) = of_rule("outage-blocks", cluster[6], cluster=cluster)
    assert found.facts == {"a": 2, "b": 2, "c": 2}
    assert [each.text for each in found.fixes] == ["nodeTaintsPolicy: Honor"]


def test_an_outage_without_room_elsewhere_is_named() -> None:
    full = running({}, ["n1", "n3"], cpu="3")
    (found,) = of_rule("outage-no-room", full[0], cluster=(node("n1", "a"), node("n3", "b"), *full))
    assert found.facts == {"a": 1, "b": 1}


def test_anti_affinity_by_zone_allows_one_pod_in_each() -> None:
    (found,) = of_rule("too-many-replicas", deployment(5, apart(ZONE)), cluster=HOSTS)
    assert found.title == "2 of 5 web pods can never run"
    texts = [each.text for each in found.fixes]
    assert texts[0] == "replicas 5 -> 3"
    assert f"anti-affinity by {HOSTNAME}" in texts


def test_two_constraints_stop_each_other_before_all_replicas_run() -> None:
    """kubernetes#109364."""
    both = {
        "topologySpreadConstraints": [
            *spread(ZONE)["topologySpreadConstraints"],
            *spread(HOSTNAME)["topologySpreadConstraints"],
        ]
    }
    (found,) = of_rule("too-many-replicas", deployment(7, both), cluster=NODES)
    assert (found.proof.kind, found.proof.reached) == ("searched", 5)
    assert {each.text: each.then for each in found.fixes} == {
        "replicas 7 -> 5": "all run",
        "zone: maxSkew 1 -> 2": "all run, up to 8 pods",
        "hostname: maxSkew 1 -> 2": "all run, up to 9 pods",
        "one more node in b": "all run, tried up to 14 pods",
    }


def test_room_that_evictions_make_is_no_reason_to_say_never() -> None:
    cluster = (node("n1"), node("n2"), *running({}, ["n1", "n2"], cpu="1500m"))
    containers = [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]
    large = template({"app": "large"}, {"containers": containers})
    (found,) = of_rule(
        "too-many-replicas", workload("Deployment", "large", {"template": large}), cluster=cluster
    )
    assert found.severity == "warning"
    assert found.title == "1 of 1 large pod finds no node as things are"
    assert found.text[-1] == "1 eviction would make room: planner solve --rebalance."


def test_a_pod_of_high_priority_runs_at_the_cost_of_others() -> None:
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    cluster = (node("n1"), high, *running({}, ["n1"], cpu="3"))
    fraud = workload(
        "Deployment",
        "fraud",
        {
            "template": template(
                {"app": "fraud"},
                {
                    "priorityClassName": "high",
                    "containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}],
                },
            )
        },
    )
    (found,) = of_rule("priority-preempts", fraud, cluster=cluster)
    assert found.facts == {"preempted": 1, "pending": 1, "fit": 0}


def test_a_drain_hangs_where_a_budget_waits_for_a_pod_without_a_place() -> None:
    cluster = (
        node("n1", "a"),
        node("n2", "b"),
        *running(spread(HOSTNAME), ["n1", "n1", "n2", "n2"]),
    )
    guarded = (cluster[2], budget(maxUnavailable=1))
    (found,) = of_rule("pdb-locks-with-spread", *guarded, cluster=cluster)
    assert found.facts == {"hanging": 2, "tried": 2}


def test_a_quota_refuses_replicas() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "1"}},
    }
    (found,) = of_rule("over-quota", deployment(3), quota, cluster=NODES)
    assert found.facts == {"room": 2, "wanted": 3}
