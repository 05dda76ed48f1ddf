"""A removed node stays as a ghost; for kube-scheduler it is as if it had never been there."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster import GONE, Cluster, build_cluster
from planner.scenario import Changed, LoseNodes, apply_changes
from planner.scheduler.simulate import SimulationRun, simulate
from planner.sources.inventory import Inventory
from tests.agreement.clusters import clusters
from tests.objects import cluster_of, node, owned, pod
from tests.scenario.examples import example, nodes_of


def rebuilt_without_ghosts(changed: Changed) -> Cluster:
    """The naive way: a cluster that was never told of the removed nodes and of lost pods."""
    cluster = changed.cluster
    names = {i: each.name for i, each in enumerate(cluster.nodes) if i not in cluster.ghosts}
    pods = [
        msgspec.structs.replace(each, node_name=names.get(int(at), ""))
        for each, at in zip(cluster.pods, cluster.node_of, strict=True)
        if at != GONE
    ]
    nodes = tuple(each for each in changed.before.nodes if each.name in names.values())
    return build_cluster(Inventory(nodes=nodes, pods=tuple(pods), budgets=cluster.budgets))


def told(cluster: Cluster, run: SimulationRun) -> dict[str, tuple[str | None, int, int, str]]:
    """Of every pod that was tried: its node, how many passed and tied, and the event's text."""
    return {
        cluster.pods[each.pod].key: (
            None if each.node is None else cluster.nodes[each.node].name,
            each.feasible,
            each.tied,
            each.event_message,
        )
        for each in run.results
    }


def in_order(cluster: Cluster, keys: Sequence[str], seed: int, *, preempt: bool) -> object:
    pods = [cluster.pod_index[key] for key in keys]
    run = simulate(cluster, pods=pods, seed=seed, preempt=preempt)
    return told(cluster, run), [cluster.pods[pod].key for pod in run.victims]


@given(clusters(), st.data(), st.integers(0, 3), st.booleans())
def test_ghosts_are_like_nodes_that_never_were(
    cluster: Cluster, data: st.DataObject, seed: int, preempt: bool
) -> None:
    every = range(len(cluster.nodes))
    nodes = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    changed = apply_changes(cluster, [LoseNodes(tuple(nodes), "removed")])
    keys = [cluster.pods[each].key for each in changed.cluster.pending.tolist()]
    naive = rebuilt_without_ghosts(changed)
    assert in_order(changed.cluster, keys, seed, preempt=preempt) == in_order(
        naive, keys, seed, preempt=preempt
    )


def test_messages_count_only_nodes_that_are_there() -> None:
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    cluster = cluster_of(
        node("a"),
        node("b"),
        node("c"),
        *(
            pod(f"web-{name}", name, spec=spec, metadata=owned("ReplicaSet", "web"))
            for name in "abc"
        ),
    )
    changed = apply_changes(cluster, [LoseNodes((0,), "removed")])
    (failed,) = simulate(changed.cluster).unschedulable
    assert failed.message == "0/2 nodes are available: 2 Insufficient cpu."


def test_a_removed_node_is_no_domain_and_has_no_room() -> None:
    cluster = example()
    after = cluster.without_nodes(nodes_of(cluster, "eu-1c"))
    assert after.topology("topology.kubernetes.io/zone").domains == ("eu-1a", "eu-1b")
    assert "c1" not in after.node_index
    assert not after.resources.allocatable[list(after.ghosts)].any()
    assert not after.used[list(after.ghosts)].any()
