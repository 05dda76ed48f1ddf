"""Pods that wait beside other pending pods, in the order of kube-scheduler's queue."""

from __future__ import annotations

from planner.cluster import Cluster
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods, explain_workloads
from planner.report.tables.explain_table import blocks
from planner.report.text.blocks import Paragraph
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import requests, workload
from tests.objects import HOSTNAME, Json, cluster_of, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def beside(app: str, cpu: str = "500m") -> Json:
    """A pod that wants to be where pods of this app are."""
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    return {**requests(cpu), "affinity": {"podAffinity": {REQUIRED: [term]}}}


def all_pending(cluster: Cluster) -> Diagnosis:
    pods = cluster.pending.tolist()
    return explain_workloads(cluster, pods, default_profile(), ExplainOptions())


def part(found: Diagnosis, workload: str) -> Diagnosis:
    return next(each for each in found.parts if workload in each.workloads)


def one(cluster: Cluster, app: str) -> Diagnosis:
    pods = [p for p in cluster.pending.tolist() if cluster.pods[p].labels.get("app") == app]
    return explain_pods(cluster, pods, default_profile(), ExplainOptions())


def first_line(found: Diagnosis) -> str:
    block = blocks(found, wide=False)[0]
    assert isinstance(block, Paragraph)
    return block.text


def test_a_pod_runs_after_the_pending_workload_that_it_wants_to_be_near() -> None:
    cluster = cluster_of(
        node("n1"),
        node("n2"),
        *workload("client", pending=1, spec=beside("server")),
        *workload("server", pending=1),
        *workload("unrelated", pending=1),
    )
    found = one(cluster, "client")
    assert found.verdict == "schedulable"
    assert found.headline.endswith("after deploy/server")
    assert found.short == "after deploy/server"
    assert not found.proof


def test_who_comes_after_another_counts_as_schedulable_among_all_pending() -> None:
    cluster = cluster_of(
        node("n1"),
        *workload("client", pending=2, spec=beside("server")),
        *workload("server", pending=1),
    )
    found = all_pending(cluster)
    assert found.verdict == "schedulable"
    assert part(found, "deploy/client").short == "after deploy/server"
    assert first_line(found) == "3 pending pods of 2 workloads: 3 schedulable"


def test_affinity_to_a_pending_workload_that_finds_no_node_stays_impossible() -> None:
    cluster = cluster_of(
        node("n1"),
        *workload("client", pending=1, spec=beside("server")),
        *workload("server", pending=1, spec=requests("40")),
    )
    assert one(cluster, "client").verdict == "impossible"
    assert all_pending(cluster).verdict == "impossible"


def test_of_two_pods_that_compete_for_a_node_one_is_counted_as_impossible() -> None:
    cpu = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]}
    found = all_pending(cluster_of(node("n1"), pod("a", spec=cpu), pod("b", spec=cpu)))
    assert first_line(found) == "2 pending pods of 2 workloads: 1 schedulable, 1 impossible"
    assert part(found, "pod/b").headline.startswith(
        "pod/b has no node beside the other pending pods"
    )


def test_nothing_is_proven_where_other_places_of_the_first_pods_leave_room() -> None:
    """`small` goes to n1 by name, as both nodes score alike, and is in the way of `pinned`."""
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]}
    small = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    pinned = {**big, "nodeSelector": {HOSTNAME: "n1"}}
    found = all_pending(
        cluster_of(node("n1"), node("n2"), pod("a-small", spec=small), pod("pinned", spec=pinned))
    )
    judged = part(found, "pod/pinned")
    assert judged.verdict == "undecided"
    assert judged.rearranging[0].startswith("All of them fit")
    assert "no sequence of evictions helps" not in judged.proof


def test_replicas_that_find_a_node_are_not_counted_as_impossible() -> None:
    cluster = cluster_of(node("n1"), *workload("web", pending=3, spec=requests("1500m")))
    found = all_pending(cluster)
    assert first_line(found) == "3 pending pods of 1 workload: 2 schedulable, 1 impossible"
    assert part(found, "deploy/web").without_node == 1
    assert part(found, "deploy/web").headline.startswith("1 of 3 web pods can't run: ")


def test_replicas_that_lose_their_places_to_a_higher_priority_are_counted() -> None:
    first = {**requests("2"), "priority": 100}
    cluster = cluster_of(
        node("n1"),
        *workload("web", pending=2, spec=requests("2")),
        *workload("first", pending=1, spec=first),
    )
    found = all_pending(cluster)
    assert first_line(found) == "3 pending pods of 2 workloads: 2 schedulable, 1 impossible"
    assert "1 of 2 pods of deploy/web" in part(found, "deploy/web").headline


def test_a_pod_that_a_node_takes_now_is_told_that_others_come_first() -> None:
    first = {**requests("3"), "priority": 100}
    cluster = cluster_of(
        node("n1"),
        *workload("web", pending=1, spec=requests("2")),
        *workload("first", pending=1, spec=first),
    )
    found = one(cluster, "web")
    assert found.verdict == "schedulable"
    assert "it has no node: planner explain --all-pending" in found.narrative[-1]
    assert "--all-pending" not in " ".join(one(cluster, "first").narrative)


def test_several_targets_are_judged_in_the_order_of_the_queue() -> None:
    cluster = cluster_of(
        node("n1"),
        *workload("first", pending=1, spec=requests("3")),
        *workload("second", pending=1, spec=requests("3")),
        *workload("huge", pending=1, spec=requests("9")),
    )
    found = explain_pods(cluster, cluster.pending.tolist(), default_profile(), ExplainOptions())
    verdicts = {each.workloads[0]: each.verdict for each in found.parts}
    assert verdicts["deploy/first"] == "schedulable"
    assert verdicts["deploy/second"] == verdicts["deploy/huge"] == "impossible"


def test_targets_that_fit_together_may_still_come_after_others() -> None:
    cluster = cluster_of(
        node("n1"),
        *workload("vip", pending=1, spec={**requests("2"), "priority": 9}),
        *workload("a", pending=1, spec=requests("1500m")),
        *workload("b", pending=1, spec=requests("1500m")),
    )
    pods = [p for p in cluster.pending.tolist() if cluster.pods[p].labels["app"] != "vip"]
    found = explain_pods(cluster, pods, default_profile(), ExplainOptions())
    assert found.verdict == "schedulable"
    assert "1 of these 2 pods has no node" in found.narrative[-1]
