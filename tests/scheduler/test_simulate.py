from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import PENDING, Cluster
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile, build_profile, default_profile
from planner.scheduler.sampling import NodeSampling, nodes_wanted, tree_order
from planner.scheduler.simulate import Attempt, SimulationRun, simulate
from planner_models.scheduler_config import KubeSchedulerConfiguration
from planner_models.scheduler_profile import resolve_profiles
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, owned, pod


def placed(cluster: Cluster, run: SimulationRun) -> dict[str, str | None]:
    """Pod to node, None for those that found none."""
    return {
        cluster.pods[result.pod].name: None
        if result.node is None
        else cluster.nodes[result.node].name
        for result in run.results
    }


def configured(**configuration: Any) -> tuple[Profile, ...]:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    read = KubeSchedulerConfiguration.model_validate({**head, **configuration})
    return tuple(map(build_profile, resolve_profiles(read)))


def requesting(cpu: str, **spec: Any) -> Json:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}], **spec}


def near(app: str) -> Json:
    """Affinity to pods of an app on the same node."""
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAffinity": rule}}


def labelled(name: str, app: str, node_name: str = "", **spec: Any) -> Json:
    made = pod(name, node_name, spec=spec)
    made["metadata"]["labels"] = {"app": app}
    return made


def test_higher_priority_goes_first_and_then_the_order_of_the_input() -> None:
    cluster = cluster_of(
        node("a"),
        pod("late"),
        pod("urgent", spec={"priority": 10}),
        pod("later"),
    )
    assert list(placed(cluster, simulate(cluster))) == ["urgent", "late", "later"]


def test_a_run_ends_once_those_that_it_is_about_have_a_node() -> None:
    cluster = cluster_of(node("a"), pod("first"), pod("asked"), pod("last"))
    run = simulate(cluster, until=[cluster.pod_index["default/asked"]])
    assert placed(cluster, run) == {"first": "a", "asked": "a"}


def test_a_run_that_ends_early_says_the_same_of_those_that_it_is_about() -> None:
    cluster = cluster_of(
        node("a"),
        node("b"),
        labelled("client", "client", **near("server")),
        pod("large", spec=requesting("3")),
        labelled("server", "server"),
        pod("too-large", spec=requesting("3500m")),
        pod("never", spec=requesting("40")),
    )
    whole = placed(cluster, simulate(cluster))
    for index in cluster.pending.tolist():
        name = cluster.pods[index].name
        assert placed(cluster, simulate(cluster, until=[index]))[name] == whole[name]


def test_seed_0_takes_the_first_of_the_best_nodes_by_name() -> None:
    cluster = cluster_of(node("c"), node("a"), node("b"), pod("p"))
    run = simulate(cluster)
    assert placed(cluster, run) == {"p": "a"}
    assert (run.results[0].feasible, run.results[0].tied) == (3, 3)


def test_other_seeds_draw_among_the_best_and_repeat_themselves() -> None:
    cluster = cluster_of(*(node(f"n{i}") for i in range(4)), pod("p"))
    drawn = {placed(cluster, simulate(cluster, seed=seed))["p"] for seed in range(1, 40)}
    assert drawn == {"n0", "n1", "n2", "n3"}
    again = [placed(cluster, simulate(cluster, seed=7)) for _ in range(3)]
    assert again[0] == again[1] == again[2]


def test_a_placed_pod_counts_for_the_next() -> None:
    cluster = cluster_of(
        node("a"), node("b"), pod("one", spec=requesting("3")), pod("two", spec=requesting("3"))
    )
    assert placed(cluster, simulate(cluster)) == {"one": "a", "two": "b"}


def test_a_pod_that_waits_for_another_is_tried_again_when_that_is_placed() -> None:
    cluster = cluster_of(
        node("a"),
        node("b"),
        labelled("follower", "x", priority=5, **near("leader")),
        labelled("leader", "leader"),
    )
    run = simulate(cluster)
    assert placed(cluster, run) == {"follower": "a", "leader": "a"}
    assert [result.attempts for result in run.results] == [2, 1]


def test_a_pod_without_room_keeps_its_message() -> None:
    cluster = cluster_of(node("a"), pod("big", spec=requesting("5")))
    result = simulate(cluster).results[0]
    assert result.outcome == "unschedulable"
    assert result.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert result.event_message.endswith("1 Preemption is not helpful for scheduling.")


def test_interchangeable_pods_fail_alike_without_being_judged_again() -> None:
    big = [
        pod(f"big-{i}", spec=requesting("5"), metadata=owned("ReplicaSet", "big")) for i in "abc"
    ]
    cluster = cluster_of(node("a"), *big)
    seen: list[Attempt] = []
    simulate(cluster, observe=seen.append)
    assert [cluster.pods[attempt.result.pod].name for attempt in seen] == [
        "big-a",
        "big-b",
        "big-c",
    ]
    assert len({id(attempt.evaluation) for attempt in seen}) == 1


def test_gated_pods_come_last_with_their_gates() -> None:
    gated = pod("gated", spec={"schedulingGates": [{"name": "quota"}], "priority": 9})
    cluster = cluster_of(node("a"), gated, pod("free"))
    run = simulate(cluster)
    assert [result.outcome for result in run.results] == ["scheduled", "gated"]
    assert run.results[1].message == "waiting for scheduling gates: [quota]"
    assert run.final.node_of[0] == PENDING


def test_pods_of_other_schedulers_are_left_aside() -> None:
    cluster = cluster_of(node("a"), pod("mine"), pod("theirs", spec={"schedulerName": "volcano"}))
    run = simulate(cluster)
    assert placed(cluster, run) == {"mine": "a"}
    assert [(each.pod, each.reason) for each in run.aside] == [(1, "otherScheduler")]


def test_pods_with_a_node_are_left_aside_even_if_asked_for() -> None:
    bypassing = pod("bypassing", "a", status={"phase": "Pending"})
    cluster = cluster_of(node("a"), pod("running", "a"), bypassing)
    assert simulate(cluster).results == ()
    run = simulate(cluster, pods=[0, 1])
    assert [each.reason for each in run.aside] == ["running", "nodeName"]


def test_terminating_pods_are_left_aside() -> None:
    going = pod("going")
    going["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
    assert simulate(cluster_of(node("a"), going)).aside[0].reason == "terminating"


def test_only_the_pods_asked_for_are_scheduled() -> None:
    cluster = cluster_of(node("a"), pod("one"), pod("two"))
    run = simulate(cluster, pods=[1])
    assert placed(cluster, run) == {"two": "a"}
    assert run.final.node_of.tolist() == [PENDING, 0]


def test_without_nodes_every_pod_is_unschedulable() -> None:
    run = simulate(cluster_of(pod("p")))
    assert run.results[0].outcome == "unschedulable"
    assert run.results[0].message == "no nodes available to schedule pods"


def test_without_pods_nothing_happens() -> None:
    run = simulate(cluster_of(node("a")))
    assert (run.results, run.aside, run.victims) == ((), (), ())


def test_without_anything_nothing_happens() -> None:
    assert simulate(cluster_of({"kind": "List", "items": []})).results == ()


def test_all_nodes_cordoned_is_said_so() -> None:
    cluster = cluster_of(*(node(n, spec={"unschedulable": True}) for n in "ab"), pod("p"))
    message = simulate(cluster).results[0].message
    assert message == "0/2 nodes are available: 2 node(s) were unschedulable."


def test_the_cluster_is_not_changed_and_the_result_is_another() -> None:
    cluster = cluster_of(node("a"), pod("p"))
    run = simulate(cluster)
    assert cluster.node_of.tolist() == [PENDING]
    assert run.final.node_of.tolist() == [0]
    assert simulate(run.final).results == ()


def full_house() -> Cluster:
    """Two nodes with a small pod each, and a big one that fits beside neither."""
    return cluster_of(
        node("a"),
        node("b"),
        pod("low-a", "a", spec=requesting("2", priority=1)),
        pod("low-b", "b", spec=requesting("2", priority=2)),
        pod("high", spec=requesting("3", priority=10)),
    )


def test_preemption_is_recorded_only_unless_asked_for() -> None:
    cluster = full_house()
    run = simulate(cluster)
    found = run.results[0].preemption
    assert run.results[0].outcome == "unschedulable"
    assert found is not None
    assert (found.nominated, found.victims) == (0, (0,))
    assert run.victims == ()
    assert run.final.node_of.tolist() == [0, 1, PENDING]


def test_with_preempt_victims_leave_and_the_pod_is_tried_again() -> None:
    cluster = full_house()
    run = simulate(cluster, preempt=True)
    assert placed(cluster, run) == {"high": "a"}
    assert run.results[0].attempts == 2
    assert [cluster.pods[victim].name for victim in run.victims] == ["low-a"]
    assert run.final.used.tolist()[0][0] == 3000


def test_two_pods_that_preempt_do_not_count_on_the_same_room() -> None:
    cluster = cluster_of(
        node("a"),
        node("b"),
        pod("low-a", "a", spec=requesting("2", priority=1)),
        pod("low-b", "b", spec=requesting("2", priority=2)),
        pod("high-1", spec=requesting("3", priority=10)),
        pod("high-2", spec=requesting("3", priority=10)),
    )
    run = simulate(cluster, preempt=True)
    assert placed(cluster, run) == {"high-1": "a", "high-2": "b"}
    assert len(run.victims) == 2


def test_a_lower_priority_pod_does_not_take_the_room_of_a_nominated_one() -> None:
    cluster = cluster_of(
        node("a"),
        pod("victim", "a", spec=requesting("2", priority=1)),
        pod("high", spec=requesting("3", priority=10)),
        pod("low", spec=requesting("2", priority=0)),
    )
    run = simulate(cluster, preempt=True)
    assert placed(cluster, run) == {"high": "a", "low": None}


def test_a_nomination_in_the_input_keeps_others_away() -> None:
    waiting = pod("waiting", spec=requesting("3", priority=5))
    waiting["status"]["nominatedNodeName"] = "a"
    cluster = cluster_of(node("a"), waiting, pod("low", spec=requesting("2")))
    assert placed(cluster, simulate(cluster)) == {"waiting": "a", "low": None}


def test_a_nominated_node_is_taken_though_another_is_better() -> None:
    waiting = pod("waiting", spec=requesting("1"))
    waiting["status"]["nominatedNodeName"] = "b"
    busy = pod("busy", "b", spec=requesting("2"))
    cluster = cluster_of(node("a"), node("b"), busy, waiting)
    assert placed(cluster, simulate(cluster)) == {"waiting": "b"}


def test_each_pod_uses_the_profile_that_it_names() -> None:
    profiles = configured(
        profiles=[
            {"schedulerName": "default-scheduler"},
            {
                "schedulerName": "packing",
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {
                            "scoringStrategy": {
                                "type": "MostAllocated",
                                "resources": [{"name": "cpu", "weight": 1}],
                            }
                        },
                    }
                ],
            },
        ]
    )
    cluster = cluster_of(
        node("a"),
        node("b"),
        pod("busy", "b", spec=requesting("2")),
        pod("spread", spec=requesting("1")),
        pod("packed", spec=requesting("1", schedulerName="packing")),
        pod("other", spec={"schedulerName": "unknown"}),
    )
    run = simulate(cluster, profiles)
    assert placed(cluster, run) == {"spread": "a", "packed": "b"}
    assert [each.reason for each in run.aside] == ["otherScheduler"]


@pytest.mark.parametrize(
    ("percentage", "nodes", "wanted"),
    [(0, 99, 99), (0, 100, 100), (0, 1000, 420), (0, 5000, 500), (0, 6000, 300), (30, 1000, 300)],
)
def test_enough_nodes_end_the_search(percentage: int, nodes: int, wanted: int) -> None:
    assert nodes_wanted(percentage, nodes) == wanted


def test_nodes_come_interleaved_by_zone_in_the_order_of_the_input() -> None:
    zones = {"a1": "a", "a2": "a", "a3": "a", "c1": "c", "b1": "b", "b2": "b"}
    cluster = cluster_of(*(node(name, zone) for name, zone in zones.items()))
    order = [cluster.nodes[index].name for index in tree_order(cluster)]
    assert order == ["a1", "c1", "b1", "a2", "b2", "a3"]


def test_the_next_search_begins_where_the_last_one_stopped() -> None:
    cluster = cluster_of(*(node(f"n{i:03}", zone="") for i in range(200)), pod("one"), pod("two"))
    profiles = configured(percentageOfNodesToScore=60)
    looked_at: list[list[int]] = []
    run = simulate(
        cluster,
        profiles,
        observe=lambda attempt: looked_at.append(attempt.evaluation.looked_at.tolist()),
    )
    assert looked_at == [list(range(120)), [*range(40), *range(120, 200)]]
    assert [result.feasible for result in run.results] == [120, 120]


def test_sampling_goes_on_over_nodes_that_refuse() -> None:
    nodes = [node(f"n{i:03}", spec={"unschedulable": i < 50}) for i in range(200)]
    cluster = cluster_of(*nodes, pod("p"))
    sampling = NodeSampling(cluster)
    scheduler = Scheduler(SchedulingState(cluster), default_profile())
    evaluation = scheduler.evaluate(0, sampling.search(50, None))
    assert len(evaluation.feasible) == 100
    assert len(evaluation.looked_at) == 150
    sampling.advance(evaluation)
    assert sampling.search(50, None).order[0] == 150


def test_the_same_input_gives_the_same_run() -> None:
    objects = [node(f"n{i}", zone="abc"[i % 3]) for i in range(6)]
    spread: Json = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    }
    objects += [labelled(f"web-{i}", "web", **spread) for i in range(10)]
    for seed in (0, 3):
        runs = [simulate(cluster_of(*objects), seed=seed) for _ in range(2)]
        assert runs[0].final.node_of.tolist() == runs[1].final.node_of.tolist()
