from __future__ import annotations

from typing import Any

from planner.cluster import PENDING, Cluster
from planner.evictions.stage import Stage
from planner.scheduler.profile import default_profile
from tests.objects import ZONE, cluster_of, node, owned, pod


def web(name: str, node_name: str = "", policy: str = "Ignore", **spec: Any) -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": policy,
    }
    labels = {"labels": {"app": "web"}, **owned("ReplicaSet", "web")}
    spec = {"topologySpreadConstraints": [constraint], **spec}
    return pod(name, node_name, spec=spec, metadata=labels)


def best(stage: Stage, cluster: Cluster, name: str) -> list[str]:
    chosen = stage.best(cluster.pod_index[f"default/{name}"]).tolist()
    return [cluster.nodes[i].name for i in chosen]


def test_a_cordoned_node_is_chosen_only_for_pods_that_tolerate_it() -> None:
    anyway = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    cluster = cluster_of(
        node("a"), node("b"), pod("plain"), pod("daemon", spec={"tolerations": [anyway]})
    )
    stage = Stage(cluster, default_profile())
    stage.cordon([0])
    assert best(stage, cluster, "plain") == ["b"]
    assert best(stage, cluster, "daemon") == ["a", "b"]
    stage.cordon(())
    assert best(stage, cluster, "plain") == ["a", "b"]


def test_a_cordoned_zone_counts_unless_taints_are_honoured() -> None:
    for policy, nodes in (("Ignore", []), ("Honor", ["a"])):
        zones = (node("a", "x"), node("b", "y"))
        cluster = cluster_of(*zones, web("w0", "a", policy), web("w1", "", policy))
        stage = Stage(cluster, default_profile())
        stage.cordon([1])
        assert best(stage, cluster, "w1") == nodes


def test_everything_goes_back_to_the_start() -> None:
    for policy in ("Ignore", "Honor"):
        cluster = cluster_of(node("a", "x"), node("b", "y"), web("w0", "a", policy), pod("p"))
        stage = Stage(cluster, default_profile())
        stage.cordon([0])
        stage.evict(0, None)
        stage.place(1, 1)
        assert stage.node_of.tolist() == [PENDING, 1]
        stage.restore()
        assert stage.node_of.tolist() == [0, PENDING]
        assert not stage.cordoned
        assert best(stage, cluster, "p") == ["b"]
