"""Changes that people make: scale, apply, add nodes, cordon, evict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.cluster.owners import WorkloadRef
from planner.errors import UsageError
from planner.examples import example_path
from planner.scenario import (
    AddNodes,
    Apply,
    Cordon,
    Evict,
    LoseNodes,
    RemovePods,
    Scale,
    apply_changes,
    settle,
)
from planner.scheduler.profile import default_profile
from planner.sources.inventory import Inventory
from planner.sources.load import load_documents
from planner_models.node import ZONE
from tests.objects import cluster_of, document, node, owned, pod, workload
from tests.scenario.examples import (
    after,
    deployment,
    example,
    named,
    nodes_of,
    running,
    waiting,
)

SCALED = "zone-outage-scaled"


def applied(example_name: str, *manifests: dict[str, Any]) -> Inventory:
    objects = json.loads(example_path(example_name).read_text())
    return load_documents([document(objects), document(*manifests)])


def deployments(example_name: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Manifests of these Deployments, as they could be applied again."""
    items = json.loads(example_path(example_name).read_text())["items"]
    found = [i for i in items if i["kind"] == "Deployment" and i["metadata"]["name"] in names]
    for each in found:
        each["metadata"] = {"name": each["metadata"]["name"], "namespace": "default"}
        del each["status"]
    return found


def honouring(*keys: str) -> list[dict[str, Any]]:
    found = deployments(SCALED, ("api", "auth", "cart", "search", "web"))
    for each in found:
        for constraint in each["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            if constraint["topologyKey"] in keys:
                constraint["nodeTaintsPolicy"] = "Honor"
    return found


def test_scaling_up_beyond_the_room_leaves_the_rest_waiting() -> None:
    found = after(example(), Scale(deployment("api"), 70))
    assert running(found)["api"] == (21, 20, 21)
    assert waiting(found) == {"api": 8}
    api = next(each for each in found.workloads if each.workload.name == "api")
    assert api.message == "0/12 nodes are available: 12 Insufficient cpu."
    assert round(100 * found.cpu[1].share) == 92


def test_a_workload_without_replicas_or_of_another_cluster_can_not_be_scaled() -> None:
    daemon = workload("DaemonSet", "log")
    cluster = cluster_of(node("n0"), daemon)
    with pytest.raises(UsageError, match="ds/log has no number of replicas"):
        apply_changes(cluster, [Scale(WorkloadRef("default", "DaemonSet", "log"), 3)])
    with pytest.raises(UsageError, match="deploy/web is not in the input"):
        apply_changes(cluster, [Scale(deployment("web"), 3)])


def test_a_changed_rule_is_judged_with_the_pods_where_they_are() -> None:
    cluster = example(SCALED)
    lose = LoseNodes(nodes_of(cluster, "eu-1a"), "unreachable")
    plain = after(cluster, lose)
    assert (plain.lost, plain.waiting) == (26, 14)
    honor = Apply(applied(SCALED, *honouring(ZONE)))
    found = after(cluster, lose, honor)
    assert (found.lost, waiting(found)) == (26, {"api": 2})
    both = Apply(applied(SCALED, *honouring(ZONE, "kubernetes.io/hostname")))
    assert after(cluster, lose, both).waiting == 0


def test_applying_what_is_there_already_changes_nothing() -> None:
    cluster = example(SCALED)
    same = Apply(applied(SCALED, *deployments(SCALED, ("api", "web"))))
    changed = apply_changes(cluster, [same])
    assert changed.facts[0].objects == ()
    assert (changed.cluster.node_of == cluster.node_of).all()
    assert len(changed.cluster.groups) == len(cluster.groups)


def test_an_applied_workload_and_one_with_more_replicas_get_pods_that_wait() -> None:
    (api,) = deployments("zone-outage-before", ("api",))
    api["spec"]["replicas"] = 15
    shop = workload("Deployment", "shop", {"replicas": 2})
    changed = apply_changes(example(), [Apply(applied("zone-outage-before", api, shop))])
    assert changed.facts[0].objects == ("deploy/api", "deploy/shop")
    names = [changed.cluster.pods[each].labels.get("app") for each in changed.made]
    assert sorted(names, key=str) == ["api", "api", "api", "web", "web"]
    assert not len(settle(changed, default_profile()).cluster.pending)


def test_new_nodes_take_waiting_pods_and_get_their_daemons() -> None:
    full = {"allocatable": {"cpu": "500m", "memory": "1Gi", "pods": "10"}}
    spec = {"selector": {"matchLabels": {"app": "log"}}, "template": _tiny("log")}
    cluster = cluster_of(
        node("n0", status=full),
        pod("web-0", "n0"),
        pod("web-1", metadata=owned("ReplicaSet", "web")),
        workload("DaemonSet", "log", spec),
    )
    changed = apply_changes(cluster, [AddNodes(cluster.nodes[0], 2)])
    assert [each.name for each in changed.cluster.nodes] == ["n0", "n0-1", "n0-2"]
    settled = settle(changed, default_profile()).cluster
    where = {settled.pods[i].key: int(at) for i, at in enumerate(settled.node_of)}
    assert where["default/web-1"] in (1, 2)
    log = [at for key, at in where.items() if key.startswith("default/log")]
    assert sorted(log) == [0, 1, 2]


def _tiny(app: str) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c"}]}}


def test_nodes_and_pods_keep_their_meaning_when_nodes_come_between_them() -> None:
    cluster = cluster_of(node("a"), node("c"), pod("web", "c", metadata=owned("ReplicaSet", "w")))
    between = cluster_of(node("b")).nodes[0]
    lose = LoseNodes(named(cluster, "c"), "removed")
    changed = apply_changes(cluster, [lose, AddNodes(between)])
    assert [changed.cluster.nodes[each].name for each in changed.down] == ["c"]
    assert [fact.text for fact in changed.facts] == ["added b", "c removed"]


def test_a_cordoned_node_takes_no_pod_and_stays_a_domain() -> None:
    cluster = example()
    changed = apply_changes(
        cluster, [Cordon(named(cluster, "a1")), Evict(tuple(cluster.pods_on(0).tolist()))]
    )
    assert changed.cluster.topology(ZONE).domains == ("eu-1a", "eu-1b", "eu-1c")
    settled = settle(changed, default_profile()).cluster
    assert not len(settled.pods_on(0))
    assert not len(settled.pending)


def test_removed_pods_are_not_made_anew() -> None:
    cluster = example()
    changed = apply_changes(cluster, [RemovePods((0, 1))])
    assert not changed.lost
    assert len(changed.cluster.running) == len(cluster.running) - 2
    assert not len(changed.cluster.pending)
