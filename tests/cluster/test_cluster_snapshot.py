"""The snapshot: who runs where, what is used, and what changing it leaves alone."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster import ELSEWHERE, GONE, PENDING, Cluster
from planner.cluster.resources import LIMIT, sum_by
from tests.objects import ZONE, cluster_of, node, owned, pod


def containers(cpu: str, **others: str) -> dict[str, object]:
    return {"containers": [{"resources": {"requests": {"cpu": cpu, **others}}}]}


def example() -> Cluster:
    return cluster_of(
        node("n2", zone="b"),
        node("n1", zone="a"),
        pod("a", "n1", spec=containers("1")),
        pod("b", "n2", spec=containers("500m", **{"example.com/gpu": "1"})),
        pod("c", spec=containers("2")),
        pod("d", "unknown", spec=containers("2")),
        pod("e", "n1", status={"phase": "Succeeded"}),
        pod(
            "f", "n2", spec=containers("1"), metadata={"deletionTimestamp": "2026-05-01T12:00:00Z"}
        ),
    )


def test_nodes_are_sorted_pods_keep_their_order_and_finished_ones_are_left_out() -> None:
    cluster = example()
    assert [n.name for n in cluster.nodes] == ["n1", "n2"]
    assert [p.name for p in cluster.pods] == ["a", "b", "c", "d", "f"]
    assert cluster.node_of.tolist() == [0, 1, PENDING, ELSEWHERE, 1]
    assert cluster.finished == 1
    assert (cluster.pending.tolist(), cluster.running.tolist()) == ([2], [0, 1, 4])
    assert (cluster.node_index["n2"], cluster.pod_index["default/c"]) == (1, 2)


def test_a_terminating_pod_still_uses_its_room_and_one_elsewhere_uses_none() -> None:
    cluster = example()
    assert cluster.resources.names[:4] == ("cpu", "memory", "ephemeral-storage", "pods")
    cpu, gpu = cluster.resources.column("cpu"), cluster.resources.column("example.com/gpu")
    assert cluster.used[:, cpu].tolist() == [1000, 1500]
    assert cluster.used[:, gpu].tolist() == [0, 1]
    assert cluster.used[:, cluster.resources.column("pods")].tolist() == [1, 2]
    assert cluster.resources.allocatable[:, cpu].tolist() == [4000, 4000]


def test_domains_are_the_values_of_a_label_and_nodes_may_lack_it() -> None:
    bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}}
    topology = cluster_of(node("n1", "b"), node("n2", "a"), bare).topology(ZONE)
    assert topology.domains == ("a", "b")
    assert topology.domain_of.tolist() == [1, 0, -1]
    assert topology.nodes_of(1).tolist() == [0]


def test_a_placement_gives_a_new_snapshot_that_shares_everything_else() -> None:
    cluster = example()
    used, topology = cluster.used.tolist(), cluster.topology(ZONE)
    moved = cluster.with_placement({2: 0, 0: PENDING})
    assert moved.node_of.tolist() == [PENDING, 1, 0, ELSEWHERE, 1]
    assert moved.used[0, 0] == 2000
    assert cluster.node_of.tolist() == [0, 1, PENDING, ELSEWHERE, 1]
    assert cluster.used.tolist() == used
    assert moved.groups is cluster.groups
    assert moved.pods is cluster.pods
    assert moved.topology(ZONE) is topology


def test_pods_that_are_taken_out_keep_their_index() -> None:
    cluster = example()
    less = cluster.without([0, 4])
    assert less.node_of.tolist() == [GONE, 1, PENDING, ELSEWHERE, GONE]
    assert less.pods_on(1).tolist() == [1]
    assert cluster.with_placement({}).node_of.tolist() == cluster.node_of.tolist()


def test_more_pods_stand_behind_all_others_and_run_nowhere_yet() -> None:
    cluster = example()
    assert cluster.pod_index[cluster.pods[1].key] == 1
    twin = msgspec.structs.replace(cluster.pods[1], name="twin")
    more = cluster.with_more([twin], cluster.group_of[[1]])
    assert more.node_of.tolist() == [*cluster.node_of.tolist(), GONE]
    assert more.pods_of(cluster.group_of[[1]]).tolist()[-1] == len(cluster.pods)
    assert more.pod_index[twin.key] == len(cluster.pods)
    assert more.topology(ZONE) is cluster.topology(ZONE)


def test_the_arrays_of_a_snapshot_cannot_be_written_to() -> None:
    cluster = example()
    for array in (cluster.node_of, cluster.group_of, cluster.with_placement({0: 1}).node_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@given(
    st.lists(st.sampled_from(["100m", "1", "3"]), min_size=1, max_size=8),
    st.lists(st.dictionaries(st.integers(0, 7), st.integers(GONE, 2)), max_size=4),
)
def test_used_is_the_sum_over_the_pods_of_each_node_after_any_placements(
    sizes: list[str], changes: list[dict[int, int]]
) -> None:
    replicas = [
        pod(f"p{i}", f"n{i % 3}", spec=containers(size), metadata=owned("ReplicaSet", "web"))
        for i, size in enumerate(sizes)
    ]
    cluster = cluster_of(*(node(f"n{i}") for i in range(3)), *replicas)
    for change in changes:
        cluster = cluster.with_placement({p: n for p, n in change.items() if p < len(sizes)})
    naive = [[0, 0] for _ in range(3)]
    for index, where in enumerate(cluster.node_of.tolist()):
        if where >= 0:
            naive[where][0] += cluster.pods[index].spec.requests["cpu"]
            naive[where][1] += 1
    columns = [cluster.resources.column(name) for name in ("cpu", "pods")]
    assert cluster.used[:, columns].tolist() == naive


def test_sums_of_absurd_amounts_stop_at_the_limit() -> None:
    amounts = np.array([[LIMIT], [LIMIT], [1]])
    assert sum_by(np.array([0, 0, 1]), amounts, 2).tolist() == [[LIMIT], [1]]
    cluster = cluster_of(node("n1"), *(pod(f"p{i}", "n1", spec=containers("9E")) for i in range(3)))
    assert cluster.used[0, 0] == LIMIT
