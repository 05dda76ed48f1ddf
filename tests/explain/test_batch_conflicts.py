"""Conflicts of several pods: found by assumptions, judged here by trying every placement."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings

from planner.cluster import Cluster
from planner.explain.conflicts.batches import Found, conflicts_of, most_of
from planner.explain.conflicts.facts import Demands, Fact
from planner.explain.conflicts.reduced import reduced
from planner.explain.conflicts.relaxed import relaxed
from planner.explain.situation.subject import subject_of
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.agreement.clusters import clusters
from tests.explain import situations
from tests.explain.situations import REQUIRED, THREE_ZONES, nodes, requests, spread, workload
from tests.objects import ZONE, cluster_of

PROFILE = default_profile()


def demands_of(cluster: Cluster, most: int = 5) -> Demands:
    found: dict[object, list[int]] = {}
    for pod in cluster.pending.tolist()[:most]:
        if not cluster.pods[pod].spec.scheduling_gates:
            found.setdefault(cluster.workloads[int(cluster.group_of[pod])], []).append(pod)
    return found  # type: ignore[return-value] # keys are workloads


def found_in(cluster: Cluster, demands: Demands) -> Found | None:
    first = next(iter(demands.values()))[0]
    return conflicts_of(subject_of(cluster, PROFILE, first), demands)


def names(found: Found | None) -> list[list[str]]:
    return [[fact.name for fact in facts] for facts, _ in found.sets] if found else []


class Placements:
    """Every order and every node that passes the filters, one pod after the other."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._state = SchedulingState(cluster)
        self._scheduler = Scheduler(self._state, PROFILE)
        self._seen: set[tuple[int, ...]] = set()

    def exist(self, pods: Sequence[int]) -> bool:
        if not pods:
            return True
        key = tuple(self._state.node_of.tolist())
        if key in self._seen:
            return False
        self._seen.add(key)
        return any(self._with(pod, pods) for pod in pods)

    def _with(self, pod: int, pods: Sequence[int]) -> bool:
        rest = [other for other in pods if other != pod]
        for node in self._scheduler.evaluate(pod).feasible.tolist():
            self._state.place(pod, node)
            found = self.exist(rest)
            self._state.remove(pod)
            if found:
                return True
        return False


def fit(cluster: Cluster, demands: Demands, found: Found, kept: Sequence[Fact]) -> bool:
    pods = [pod for fact in kept if fact.workload for pod in demands[fact.workload]]
    return Placements(relaxed(cluster, demands, found.all_facts, kept)).exist(pods)


@settings(max_examples=15)
@given(clusters(nodes=3, pods=6))
def test_conflicts_are_conflicts_and_can_spare_no_fact(cluster: Cluster) -> None:
    demands = demands_of(cluster, 3)
    pods = [pod for each in demands.values() for pod in each]
    if len(pods) < 2:
        return
    alone = cluster.without(pod for pod in cluster.pending.tolist() if pod not in pods)
    found = found_in(alone, demands)
    assert (found is None) == Placements(alone).exist(pods)
    for facts, minimal in found.sets if found else ():
        assert found is not None
        assert not fit(alone, demands, found, facts)
        if minimal:
            for spared in facts:
                others = [fact for fact in facts if fact is not spared]
                assert fit(alone, demands, found, others)


def test_two_workloads_that_compete() -> None:
    cluster = situations.competing()
    found = found_in(cluster, demands_of(cluster))
    assert names(found) == [["train", "render", "CPU"]]
    assert found is not None
    assert found.complete
    assert found.sets[0][1]


def test_unrelated_conflicts_are_all_listed_the_shortest_first() -> None:
    cluster = situations.all_pending()
    demands = {
        ref: pods for ref, pods in demands_of(cluster, 9).items() if ref.name in ("web", "etcd")
    }
    found = found_in(cluster, demands)
    assert names(found) == [
        ["etcd", "zone anti-affinity of etcd"],
        ["web", "zone spread of web", "CPU"],
    ]


def test_one_replica_more_than_there_are_domains() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "etcd"}}}
    body = {
        **requests("1"),
        "affinity": {"podAntiAffinity": {REQUIRED: [term]}},
        "topologySpreadConstraints": [spread("etcd")],
    }
    cluster = cluster_of(*nodes(THREE_ZONES), *workload("etcd", pending=4, spec=body))
    demands = demands_of(cluster)
    assert most_of(subject_of(cluster, PROFILE, 0), demands) == (3, 3)
    assert names(found_in(cluster, demands)) == [["4 etcd pods", "zone anti-affinity"]]


def test_a_large_cluster_is_judged_by_a_few_nodes_of_each_kind() -> None:
    zones = {zone: [f"{zone}-{i:03}" for i in range(60)] for zone in ("a", "b", "c")}
    body = {**requests("3"), "topologySpreadConstraints": [spread("web")]}
    cluster = cluster_of(
        *nodes(zones),
        *workload("batch", [name for name in zones["c"][1:] for _ in range(2)], spec=requests("1")),
        *workload("web", pending=6, spec=body),
    )
    demands = demands_of(cluster, 6)
    subject = subject_of(cluster, PROFILE, next(iter(demands.values()))[0])
    assert len(reduced(subject, demands).nodes) < 40
    assert most_of(subject, demands) == (5, 5)
    found = found_in(cluster, demands)
    assert names(found) == [["6 web pods", "zone spread", "CPU"]]
    assert found is not None
    assert found.sets[0][1]
