"""Rollouts of Deployments to their end."""

from __future__ import annotations

import pytest

from planner.cluster import Cluster
from planner.errors import PlannerError
from planner.replay.trial import Manner
from planner.scenario.controller_run import manners
from planner.scenario.rollout import rollout_of
from planner.scheduler.profile import default_profile
from planner_models.pod import PodTemplate
from planner_models.workload import Deployment
from tests.objects import Json, cluster_of, node, pod, template, workload
from tests.scenario.running_workloads import (
    apart,
    changed,
    deployed,
    ref,
    revision_of,
    rolled,
    spread,
    where,
)

THREE = ("n1", "n2", "n3")
ALL_MANNERS = [Manner(s, t, o) for s in (0, 1, 2) for t in (False, True) for o in (False, True)]
in_every_manner = pytest.mark.parametrize("manner", ALL_MANNERS, ids=str)


def three_nodes(*more: Json, **strategy: int | str) -> Cluster:
    web = deployed("web", THREE, spec=apart(), **strategy)  # type: ignore[arg-type]
    return cluster_of(*map(node, THREE), *web, *more)


# kubernetes#116891: every node has a pod, and they keep away from each other


@in_every_manner
def test_a_surge_that_finds_no_node_stops_the_rollout_before_it_begins(manner: Manner) -> None:
    cluster = three_nodes()
    run = rollout_of(cluster, default_profile(), ref("web")).run(manner)
    assert not run.complete
    assert (run.replaced, run.of, len(run.waiting), run.most_down) == (0, 3, 1, 0)
    assert run.message == (
        "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
    )


@in_every_manner
@pytest.mark.parametrize("surge", ["25%", 0])
def test_one_unavailable_pod_lets_it_proceed(surge: int | str, manner: Manner) -> None:
    cluster = three_nodes(surge=surge, unavailable=1)
    run = rollout_of(cluster, default_profile(), ref("web")).run(manner)
    assert run.complete
    assert (run.replaced, run.most_down, run.message) == (3, 1, "")
    assert where(cluster, run) == ["n1", "n2", "n3"]


def test_so_does_a_fourth_node() -> None:
    run = rolled(three_nodes(node("n4")), "web")
    assert (run.complete, run.replaced, run.most_down) == (True, 3, 0)


PREFERRED = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "podAffinityTerm": {
                        "labelSelector": {"matchLabels": {"app": "web"}},
                        "topologyKey": "kubernetes.io/hostname",
                    },
                }
            ],
        }
    }
}


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(PREFERRED, id="preferred"),
        pytest.param(apart(matchLabelKeys=["pod-template-hash"]), id="match-label-keys"),
    ],
)
def test_softer_rules_of_new_pods_do_not_help_while_old_pods_carry_the_old_ones(
    rules: Json,
) -> None:
    cluster = three_nodes()
    run = rolled(cluster, "web", changed(cluster, "web", rules))
    assert (run.complete, run.replaced) == (False, 0)
    assert run.message == (
        "0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules."
    )


def test_the_next_rollout_has_the_new_rules_only() -> None:
    """With a fourth node the change gets through, and without it the next one would as well."""
    cluster = three_nodes(node("n4"))
    keys = apart(matchLabelKeys=["pod-template-hash"])
    first = rolled(cluster, "web", changed(cluster, "web", keys))
    assert first.complete
    (empty,) = {"n1", "n2", "n3", "n4"} - set(where(cluster, first))
    following = rolled(first.ended, "web", cordoned=[empty])
    assert (following.complete, following.replaced) == (True, 3)
    again = rolled(following.ended, "web")
    assert again.complete


# kubernetes#98215: even before, uneven afterwards


def zones(count: int, spec: Json) -> Cluster:
    nodes = [node(f"{zone}{i}", zone) for zone in "abc" for i in range(2)]
    web = deployed("web", [f"{z}{i % 2}" for i in range(count // 3) for z in "abc"], spec=spec)
    return cluster_of(*nodes, *web)


def test_a_rollout_may_end_over_the_limit_of_its_spread() -> None:
    cluster = zones(3, spec=spread())
    rollout = rollout_of(cluster, default_profile(), ref("web"))
    runs = [rollout.run(manner) for manner in manners(20)]
    assert all(run.complete for run in runs)
    uneven = [run for run in runs if run.excess]
    assert 0 < len(uneven) < 20
    assert {tuple(sorted(run.spread[0].counts)) for run in uneven} == {(0, 1, 2)}


def test_with_match_label_keys_it_ends_even_at_once() -> None:
    cluster = zones(3, spec=spread())
    template = changed(cluster, "web", spread(matchLabelKeys=["pod-template-hash"]))
    rollout = rollout_of(cluster, default_profile(), ref("web"), template)
    runs = [rollout.run(manner) for manner in manners(20)]
    assert all(run.complete and not run.excess for run in runs)


# Which pods go, and where


def test_a_restart_moves_pods_off_cordoned_nodes_without_any_being_down() -> None:
    """A budget that allows no eviction does not hold a rollout up (kubernetes#66811)."""
    cluster = cluster_of(node("n1"), node("n2"), *deployed("ledger", ["n2"]))
    run = rolled(cluster, "ledger", cordoned=["n2"])
    assert (run.complete, run.most_down, where(cluster, run)) == (True, 0, ["n1"])


def test_cordoned_nodes_without_any_other_leave_the_new_pod_waiting() -> None:
    cluster = cluster_of(node("n1"), *deployed("ledger", ["n1"]))
    run = rolled(cluster, "ledger", cordoned=["n1"])
    assert (run.complete, run.replaced) == (False, 0)
    assert run.message == "0/1 nodes are available: 1 node(s) were unschedulable."


def test_a_zone_that_can_not_hold_its_share_leaves_the_last_pod_waiting() -> None:
    """A new zone of one node: spread wants a third of 12 pods there, its node may have 3."""
    nodes = [node(f"{zone}{i}", zone) for zone in "ab" for i in range(4)]
    rules = spread(skew=1)
    rules["topologySpreadConstraints"] += spread(key="kubernetes.io/hostname", skew=2)[
        "topologySpreadConstraints"
    ]
    on = [f"{zone}{i % 4}" for i in range(6) for zone in "ab"]
    cluster = cluster_of(*nodes, node("c0", "c"), *deployed("api", on, spec=rules_of("api", rules)))
    run = rolled(cluster, "api")
    assert not run.complete
    assert len(run.waiting) == 1


def rules_of(app: str, rules: Json) -> Json:
    for each in rules["topologySpreadConstraints"]:
        each["labelSelector"] = {"matchLabels": {"app": app}}
    return rules


def test_pods_that_are_not_ready_go_first_and_do_not_count_as_available() -> None:
    made = deployed("web", ["n1", "n1", "n1", "n1"], surge=0, unavailable=1)
    made[-1]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    run = rolled(cluster_of(node("n1"), *made), "web")
    assert (run.complete, run.most_down) == (True, 1)


def test_terminating_pods_hold_their_room_until_they_are_gone() -> None:
    full = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "4"}}}]}
    made = deployed("web", ["n1"], spec=full, surge=0, unavailable=1)
    cluster = cluster_of(node("n1"), node("n2"), *made)
    assert where(cluster, rolled(cluster, "web", terminating=True)) == ["n2"]
    assert where(cluster, rolled(cluster, "web", terminating=False)) == ["n1"]


def test_a_node_that_does_not_answer_keeps_what_is_told_to_go() -> None:
    full = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "4"}}}]}
    gone = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    cluster = cluster_of(node("n1", status=gone), *deployed("web", ["n1"], spec=full, surge=0))
    run = rolled(cluster, "web")
    assert (run.complete, len(run.waiting)) == (False, 1)
    assert run.ended.terminating.tolist() == [True, False]
    assert run.ended.used.tolist() == cluster.used.tolist()


# Other strategies and states


@in_every_manner
def test_recreate_takes_all_pods_down_first(manner: Manner) -> None:
    web = deployed("web", THREE, spec=apart(), strategy={"type": "Recreate"})
    cluster = cluster_of(*map(node, THREE), *web)
    run = rollout_of(cluster, default_profile(), ref("web")).run(manner)
    assert (run.complete, run.replaced, run.most_down) == (True, 3, 3)


def test_a_paused_deployment_rolls_nothing_out() -> None:
    run = rolled(cluster_of(node("n1"), *deployed("web", ["n1"], paused=True)), "web")
    assert (run.complete, run.replaced, run.waiting) == (False, 0, ())


def halfway(*, replicas: int, new: int, old: int, **metadata: Json) -> Cluster:
    other, day = {"containers": [{"name": "m", "image": "v2"}]}, "2026-01-0{}T00:00:00Z"
    return cluster_of(
        node("n1", status={"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "200"}}),
        deployed("web", [], spec=other, replicas=replicas)[0],
        *revision_of("web", "v2", ["n1"] * new, other, creationTimestamp=day.format(2), **metadata),
        *revision_of("web", "v1", ["n1"] * old, creationTimestamp=day.format(1), **metadata),
    )


def own_template(cluster: Cluster) -> PodTemplate:
    found = cluster.owners.controllers[ref("web")]
    assert isinstance(found, Deployment)
    return found.spec.template


def test_a_rollout_that_is_under_way_goes_on_with_the_replica_set_that_is_there() -> None:
    cluster = halfway(replicas=4, new=2, old=3)
    run = rolled(cluster, "web", own_template(cluster))
    assert (run.complete, run.replaced) == (True, 4)
    kept = {cluster.pod_index[f"default/web-v2-{i}"] for i in range(2)}
    assert kept <= set(run.updated)


def test_a_template_that_is_rolled_out_already_changes_nothing() -> None:
    cluster = three_nodes()
    run = rolled(cluster, "web", own_template(cluster))
    assert (run.complete, run.replaced, run.most_down) == (True, 3, 0)
    assert (run.ended.node_of[: len(cluster.pods)] == cluster.node_of).all()


def test_a_restart_in_the_middle_makes_both_replica_sets_old() -> None:
    cluster = halfway(replicas=4, new=2, old=3)
    run = rolled(cluster, "web")
    assert (run.complete, run.replaced) == (True, 4)
    assert not set(run.updated) & set(range(len(cluster.pods)))


def test_scaling_in_the_middle_keeps_proportions_and_then_goes_on() -> None:
    numbers = {"desired-replicas": "4", "max-replicas": "5"}
    annotations = {f"deployment.kubernetes.io/{key}": value for key, value in numbers.items()}
    cluster = halfway(replicas=12, new=2, old=3, annotations=annotations)
    run = rolled(cluster, "web", own_template(cluster))
    assert (run.complete, run.replaced, run.of) == (True, 12, 12)


def test_the_input_may_lack_replica_sets() -> None:
    made = [each for each in deployed("web", THREE, spec=apart()) if each["kind"] != "ReplicaSet"]
    run = rolled(cluster_of(*map(node, THREE), *made), "web")
    assert (run.complete, len(run.waiting)) == (False, 1)


def test_a_manifest_that_was_never_applied_is_placed_before_it_is_restarted() -> None:
    manifest = workload("Deployment", "web", {"replicas": 3, "template": template()})
    run = rolled(cluster_of(*map(node, THREE), manifest), "web")
    assert (run.complete, run.replaced) == (True, 3)


def test_new_pods_of_higher_priority_drive_others_off() -> None:
    full = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "3"}}}]}
    cluster = cluster_of(
        node("n1"),
        node("n2"),
        *deployed("web", ["n1"], spec=full),
        *deployed("batch", ["n2"], spec={**full, "priority": -1}),
        {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "value": 7,
         "metadata": {"name": "high"}},
    )  # fmt: skip
    run = rolled(cluster, "web", changed(cluster, "web", {"priorityClassName": "high"}))
    assert (run.complete, where(cluster, run)) == (True, ["n2"])
    assert run.ended.pods[run.updated[0]].priority == 7
    batch = cluster.pod_index["default/batch-v1-0"]
    assert cluster.nodes[int(run.ended.node_of[batch])].name == "n1", "it takes what web left"


def test_pods_that_wait_take_the_room_that_a_rollout_frees() -> None:
    half = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "2"}}}]}
    web = deployed("web", ["n1", "n1"], spec=half, surge=0, unavailable=1)
    high = pod("urgent", spec={**half, "priority": 5, "preemptionPolicy": "Never"})
    run = rolled(cluster_of(node("n1"), *web, high), "web")
    assert (run.complete, run.replaced, len(run.waiting)) == (False, 0, 1)


def test_scheduling_gates_keep_new_pods_waiting() -> None:
    cluster = three_nodes(unavailable=1)
    gated = changed(cluster, "web", {"schedulingGates": [{"name": "later"}]})
    run = rolled(cluster, "web", gated)
    assert (run.complete, run.replaced) == (False, 0)


def test_what_ended_is_a_snapshot_like_any_other() -> None:
    cluster = three_nodes(surge=0, unavailable=1)
    run = rolled(cluster, "web")
    live = [p for p in range(len(run.ended.pods)) if run.ended.node_of[p] >= 0]
    assert [run.ended.pods[pod].ready for pod in live] == [True] * 3
    assert {run.ended.workloads[g] for g in run.ended.group_of[live].tolist()} == {ref("web")}
    assert rolled(run.ended, "web").complete


def test_the_same_seed_gives_the_same_end() -> None:
    cluster = zones(3, spec=spread())
    one, other = (rolled(cluster, "web", seed=7) for _ in range(2))
    assert one.ended.node_of.tolist() == other.ended.node_of.tolist()


# Refusals


def test_only_workloads_with_rollouts_are_rolled_out() -> None:
    job = workload("Job", "sums", {"template": template()})
    cluster = cluster_of(node("n1"), job)
    with pytest.raises(PlannerError, match="a Job has no rollouts"):
        rollout_of(cluster, default_profile(), ref("sums").__class__("default", "Job", "sums"))
    with pytest.raises(PlannerError, match="does not have it"):
        rollout_of(cluster, default_profile(), ref("web"))


def test_pods_that_name_their_node_are_not_rolled_out() -> None:
    cluster = three_nodes()
    named = changed(cluster, "web", {"nodeName": "n1"})
    with pytest.raises(PlannerError, match="name their node"):
        rolled(cluster, "web", named)
