"""Waves of evictions as controllers and kube-scheduler carry them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.replay.trial import Manner, Trial, TrialRun, WavePlan
from planner.scheduler.profile import default_profile
from tests.objects import Json, cluster_of, merged, node, owned, pod, workload

HIGH: Json = {"priority": 1000}


def replica(name: str, node_name: str = "", cpu: str = "4", **spec: Any) -> Json:
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    metadata = {"labels": {"app": name}, **owned("ReplicaSet", name)}
    return pod(name, node_name, spec={"containers": containers, **spec}, metadata=metadata)


def member(ordinal: int, node_name: str, *, cpu: str = "1") -> Json:
    made = replica(f"db-{ordinal}", node_name, cpu)
    return merged(made, {"metadata": owned("StatefulSet", "db")})


def tried(cluster: Cluster, *waves: Sequence[str], **manner: Any) -> TrialRun:
    plans = [WavePlan(tuple(cluster.pod_index[f"default/{p}"] for p in wave)) for wave in waves]
    pods = [pod for plan in plans for pod in plan.evictions]
    trial = Trial(cluster, default_profile(), allowances(cluster), pods)
    return trial.run(plans, Manner(**{"seed": 0, **manner}), unlimited=True)


def where(cluster: Cluster, run: TrialRun, name: str) -> str:
    found = int(run.node_of[cluster.pod_index[f"default/{name}"]])
    return cluster.nodes[found].name if found >= 0 else "waits"


def names(cluster: Cluster, pods: Sequence[int]) -> list[str]:
    return [cluster.pods[each].name for each in pods]


def test_a_waiting_pod_of_higher_priority_drives_others_off_before_anything_is_evicted() -> None:
    cluster = cluster_of(node("n1"), replica("low", "n1"), replica("high", **HIGH))
    run = tried(cluster)
    assert (where(cluster, run, "high"), where(cluster, run, "low")) == ("n1", "waits")
    assert run.preempted == ()


def test_a_replacement_that_finds_no_room_drives_others_off() -> None:
    here: Json = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    cluster = cluster_of(
        node("n1"), node("n2"), replica("low", "n2"), replica("high", "n1", **HIGH),
        replica("other", **here),
    )  # fmt: skip
    run = tried(cluster, ["high"], one_by_one=False, terminating=True)
    assert where(cluster, run, "high") == "n2"
    assert names(cluster, run.preempted) == ["low"]


def test_a_pod_that_never_preempts_waits() -> None:
    never: Json = {**HIGH, "preemptionPolicy": "Never"}
    cluster = cluster_of(node("n1"), replica("low", "n1"), replica("high", **never))
    assert where(cluster, tried(cluster), "high") == "waits"


def test_who_was_driven_off_finds_another_node_if_a_controller_brings_it_back() -> None:
    here: Json = {"nodeSelector": {"kubernetes.io/hostname": "n1"}, **HIGH}
    nodes = (node("n1"), node("n2"))
    cluster = cluster_of(*nodes, replica("low", "n1"), replica("high", **here))
    assert where(cluster, tried(cluster), "low") == "n2"
    bare = merged(replica("low", "n1"), {"metadata": {"ownerReferences": []}})
    cluster = cluster_of(*nodes, bare, replica("high", **here))
    assert where(cluster, tried(cluster), "low") == "waits"


def test_an_ordered_set_makes_a_pod_only_when_those_below_run() -> None:
    """db-0 no longer fits beside what took its room; db-1 would, and is not made."""
    nodes = (node("n1"), node("n2", spec={"unschedulable": True}))
    big = (member(0, "n2", cpu="3"), member(1, "n1"), replica("other", "n1", "3"))
    for policy, expected in (("OrderedReady", "waits"), ("Parallel", "n1")):
        owner = workload("StatefulSet", "db", {"replicas": 2, "podManagementPolicy": policy})
        cluster = cluster_of(*nodes, owner, *big)
        run = tried(cluster, ["db-0", "db-1"])
        assert where(cluster, run, "db-1") == expected


def test_a_stateful_pod_is_made_anew_only_when_the_old_one_is_gone() -> None:
    """So it can go back to its full node, where a ReplicaSet's pod can't."""
    owner = workload("StatefulSet", "db", {"replicas": 1})
    cluster = cluster_of(node("n1"), owner, member(0, "n1", cpu="4"))
    assert where(cluster, tried(cluster, ["db-0"], terminating=True), "db-0") == "n1"


def test_what_happens_before_the_first_wave_is_the_same_in_every_trial() -> None:
    cluster = cluster_of(
        node("n1"),
        node("n2"),
        replica("low", "n1"),
        replica("other", "n2"),
        replica("high", **HIGH),
    )
    evicted = cluster.pod_index["default/other"]
    trial = Trial(cluster, default_profile(), allowances(cluster), [evicted])
    for seed in range(4):
        runs = [
            trial.run([WavePlan(pods)], Manner(seed), unlimited=True)
            for pods in ((), (evicted,), ())
        ]
        assert runs[0].node_of.tolist() == runs[2].node_of.tolist()
        assert list(runs[0].landings) == list(runs[2].landings)
        assert runs[0].driven == runs[2].driven == ()


def test_a_trial_may_end_with_the_first_that_is_driven_off() -> None:
    here: Json = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    cluster = cluster_of(
        node("n1"), node("n2"), node("n3"), replica("low", "n2"), replica("high", "n1", **HIGH),
        replica("other", **here), replica("last", "n3"),
    )  # fmt: skip
    pods = [cluster.pod_index[f"default/{name}"] for name in ("high", "last")]
    trial = Trial(cluster, default_profile(), allowances(cluster), pods)
    waves = [WavePlan((pod,)) for pod in pods]
    ended = trial.run(waves, Manner(1, terminating=True), unlimited=True, until_driven=True)
    whole = trial.run(waves, Manner(1, terminating=True), unlimited=True)
    assert names(cluster, ended.preempted) == ["low"]
    assert len(ended.landings) < len(whole.landings)
