"""How many more pods fit: kube-scheduler's own count, what stops it, moves and failures."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from planner.capacity import CapacityOptions, Demand, Found, capacity, few_evictions, ready
from planner.capacity.demand import demand_of, with_more
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.errors import PlannerError
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, owned, pod, template, workload

PROFILE = default_profile()
WEB = WorkloadRef("default", "Deployment", "web")
TRAIN = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 1
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec: {containers: [{name: main, resources: {requests: {cpu: "3", memory: 8Gi}}}]}
"""


def web(replicas: int = 1, spec: Json | None = None) -> Json:
    return workload("Deployment", "web", {"replicas": replicas, "template": template(spec=spec)})


def counted(cluster: Cluster, **options: object) -> Found:
    """Room for more web pods, each 500m on nodes of 4 CPU."""
    now, _ = ready(cluster, PROFILE)
    asked = {"moves": 0, "survive": None, **options}
    return capacity(now, [demand_of(now, WEB)], PROFILE, CapacityOptions(**asked))  # type: ignore[arg-type]


def test_a_workload_grows_until_cpu_stops_it_on_every_node() -> None:
    found = counted(cluster_of(node("n1"), node("n2"), web(1)))
    assert found.now.sets == 15
    assert [(stop.rule, stop.nodes) for stop in found.stops] == [("CPU", 2)]


def test_a_spread_constraint_stops_it_before_the_room_ends() -> None:
    small = node("n2", "b", status={"allocatable": {"cpu": "1"}})
    found = counted(cluster_of(node("n1", "a"), small, web(1, spread(ZONE))))
    assert found.now.sets == 4
    assert {stop.rule for stop in found.stops} == {"CPU", "zone spread"}


def test_the_best_choice_of_nodes_is_proven() -> None:
    found = counted(cluster_of(node("n1"), node("n2"), web(1)), moves=None)
    assert found.best is None or found.best.count == found.best.bound == 15


def test_a_quota_ends_the_count() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"pods": "4"}},
    }
    found = counted(cluster_of(node("n1"), web(1), quota))
    assert (found.now.sets, found.now.stopped) == (3, False)


def test_what_survives_the_loss_of_a_zone_fits_into_the_other() -> None:
    found = counted(cluster_of(node("n1", "a"), node("n2", "b"), web(1)), survive="zone")
    assert found.survive is not None
    assert found.survive.sets == 7
    assert found.survive.fails_at is not None
    assert found.survive.fails_at.sets == 8


def test_every_workload_of_the_example_has_the_room_that_was_counted_by_hand() -> None:
    cluster = planner.load(example="zone-outage-before")
    found = cluster.capacity(survive="none")
    assert {line.subject[0].workload: line.now.count for line in found.lines} == {
        "deploy/api": 50,
        "deploy/auth": 140,
        "deploy/batch": 50,
        "deploy/cart": 92,
        "deploy/feed": 109,
        "deploy/search": 67,
        "deploy/web": 109,
    }


def test_a_pod_that_fits_nowhere_fits_after_moves(tmp_path: Path) -> None:
    train = tmp_path / "train.yaml"
    train.write_text(TRAIN)
    cluster = planner.load(example="zone-outage-before")
    found = cluster.capacity(pods=[str(train)], survive="none", up_to=3)
    (line,) = found.lines
    assert line.now.count == 0
    assert line.bound is not None
    assert line.bound.count == 9
    assert [(point.count, point.moves) for point in line.curve[:3]] == [(1, 1), (2, 2), (3, 4)]


def test_a_mix_counts_whole_sets_and_names_the_member_that_stops_it(tmp_path: Path) -> None:
    files = []
    for name, cpu, replicas in (("large", "3", 1), ("small", "500m", 2)):
        text = TRAIN.replace("train", name).replace('"3"', cpu).replace("8Gi", "1Gi")
        file = tmp_path / f"{name}.yaml"
        file.write_text(text.replace("replicas: 1", f"replicas: {replicas}"))
        files.append(str(file))
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(
        "---\n".join(
            f"{{apiVersion: v1, kind: Node, metadata: {{name: n{i}}}, "
            "status: {allocatable: {cpu: 4, memory: 64Gi, pods: 110}}}\n"
            for i in range(3)
        )
    )
    (line,) = planner.load(str(nodes)).capacity(pods=files, survive="none", moves=0).lines
    assert line.now.count == 2
    assert line.now.stopped_by == "deploy/large"


CPUS = st.integers(min_value=1, max_value=9)


@settings(max_examples=25)
@given(
    st.lists(CPUS, min_size=1, max_size=4),
    st.sampled_from([None, ZONE, HOSTNAME]),
    st.integers(min_value=0, max_value=3),
)
def test_the_count_is_what_adding_one_pod_at_a_time_reaches(
    cpus: list[int], key: str | None, running: int
) -> None:
    nodes = [
        node(f"n{i}", "ab"[i % 2], status={"allocatable": {"cpu": f"{cpu * 250}m"}})
        for i, cpu in enumerate(cpus)
    ]
    cluster, _ = ready(
        cluster_of(*nodes, web(max(1, running), None if key is None else spread(key))), PROFILE
    )
    demand = demand_of(cluster, WEB)
    found = capacity(cluster, [demand], PROFILE, CapacityOptions(moves=0, survive=None))
    assert found.now.sets == _one_at_a_time(cluster, demand)


def _one_at_a_time(cluster: Cluster, demand: Demand) -> int:
    count = 0
    while True:
        more = with_more(cluster, [demand], count + 1)
        ended = simulate(more.cluster, [PROFILE])
        if ended.unschedulable:
            return count
        count += 1


@pytest.mark.parametrize("survive", ["zone", "node"])
def test_with_fewer_than_two_domains_nothing_is_said_about_failures(survive: str) -> None:
    assert counted(cluster_of(node("n1"), web(1)), survive=survive).survive is None


NODES = st.lists(st.integers(4, 9), min_size=2, max_size=3)
PODS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2)), min_size=2, max_size=6)


@settings(max_examples=8)
@given(NODES, PODS, st.integers(2, 5))
def test_no_arrangement_has_room_for_as_many_with_fewer_moves(
    cpus: list[int], pods: list[tuple[int, int]], size: int
) -> None:
    _hold_to_all_arrangements(cpus, pods, size)


@settings(max_examples=50)
@given(NODES, PODS, st.integers(1, 5))
def test_nor_where_new_pods_stay_where_kube_scheduler_puts_them(
    cpus: list[int], pods: list[tuple[int, int]], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_evictions, "CHOSEN_FREELY", -1)
        _hold_to_all_arrangements(cpus, pods, size)


def _hold_to_all_arrangements(cpus: list[int], pods: list[tuple[int, int]], size: int) -> None:
    """All arrangements of up to 6 pods on up to 3 nodes, in units of 500m."""
    left, homes, sizes = list(cpus), [], []
    for cpu, at in pods:
        if left[at % len(cpus)] >= cpu:
            left[at % len(cpus)] -= cpu
            homes.append(at % len(cpus))
            sizes.append(cpu)
    objects = [
        *(
            node(f"n{i}", status={"allocatable": {"cpu": f"{cpu * 500}m"}})
            for i, cpu in enumerate(cpus)
        ),
        *(_lone(f"old{i}", sizes[i], home) for i, home in enumerate(homes)),
    ]
    cluster, _ = ready(cluster_of(*objects), PROFILE)
    sample = cluster_of(_lone("new", size, None)).pods[0]
    demand = Demand(WorkloadRef("default", "Pod", "new"), sample)
    found = capacity(cluster, [demand], PROFILE, CapacityOptions(survive=None, time_limit=6))
    fewest = _fewest_moves(cpus, sizes, homes, size)
    assert found.now.sets == max(count for count, moves in fewest.items() if not moves)
    for point in found.curve:
        assert point.at_least <= fewest[point.count] <= point.moves
        assert not point.proven or point.moves == fewest[point.count]
    reached = max((point.count for point in found.curve), default=found.now.sets)
    assert found.bound is not None
    assert reached <= max(fewest) <= found.bound.count
    if found.within is not None:
        able = max(count for count, moves in fewest.items() if moves <= found.within.moves)
        assert found.within.count <= able <= found.within.bound


def _lone(name: str, size: int, home: int | None) -> Json:
    """A pod of a ReplicaSet that the input lacks, so that it may move."""
    cpu = {"resources": {"requests": {"cpu": f"{size * 500}m"}}}
    return pod(
        name,
        "" if home is None else f"n{home}",
        spec={"containers": [{"name": "main", **cpu}]},
        metadata={"labels": {"app": name}, **owned("ReplicaSet", name)},
    )


def _fewest_moves(cpus: list[int], sizes: list[int], homes: list[int], size: int) -> dict[int, int]:
    """The fewest moves for every number of pods that some arrangement has room for."""
    fewest: dict[int, int] = {}
    for chosen in product(range(len(cpus)), repeat=len(homes)):
        free = list(cpus)
        for cpu, at in zip(sizes, chosen, strict=True):
            free[at] -= cpu
        if min(free) >= 0:
            moves = sum(a != b for a, b in zip(chosen, homes, strict=True))
            for count in range(sum(each // size for each in free) + 1):
                fewest[count] = min(moves, fewest.get(count, moves))
    return fewest


def test_so_many_moves_make_room_for_so_many() -> None:
    cluster = planner.load(example="zone-outage-before")
    (line,) = cluster.capacity(
        "deploy/api", moves=1, survive="none", by="node", time_limit=20
    ).lines
    assert line.within is not None
    assert (line.within.count, line.within.status) == (51, "proven")
    assert [(each.count, each.moves, each.status) for each in line.curve] == [(51, 1, "proven")]
    assert len(line.now.per_domain) == 12


def test_the_range_that_ties_decide_is_told() -> None:
    cluster = planner.load(example="zone-outage-before")
    (line,) = cluster.capacity("deploy/auth", moves=0).lines
    assert line.survive is not None
    assert line.survive.checked_seeds == 8
    assert line.survive.count < line.survive.at_best == 61
    assert line.survive.fails_at is not None
    assert line.survive.fails_at.count == line.survive.count + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moves": "some"}, "`moves` is 'some'"),
        ({"by": "pool"}, "no node has a label of its pool"),
        ({"by": "kubernetes.io/hostnam"}, "no node has the label kubernetes.io/hostnam"),
    ],
)
def test_what_can_not_be_meant_is_refused(options: dict[str, str], message: str) -> None:
    cluster = planner.load(example="zone-outage-before")
    with pytest.raises(PlannerError, match=re.escape(message)):
        cluster.capacity("deploy/api", survive="none", **options)  # type: ignore[arg-type]
