"""How many more pods fit: kube-scheduler's own count, what stops it, moves and failures."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from planner.capacity import CapacityOptions, Demand, Found, capacity, ready
from planner.capacity.demand import demand_of, with_more
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, template, workload

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
    asked = {"moves": False, "survive": None, **options}
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
    found = counted(cluster_of(node("n1"), node("n2"), web(1)), moves=True)
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
    (line,) = planner.load(str(nodes)).capacity(pods=files, survive="none", moves=False).lines
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
    found = capacity(cluster, [demand], PROFILE, CapacityOptions(moves=False, survive=None))
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
