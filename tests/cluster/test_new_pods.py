"""Pods of new templates in a snapshot, against a snapshot that is built with them."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from planner.cluster import GONE, Cluster, build_cluster
from planner.cluster.new_pods import with_new_pods
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.facts import of_each_group
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner_models.pod import Pod, PodSpec
from planner_models.workload import ReplicaSet
from tests.objects import ZONE, Json, inventory_of, node, pod

SPREAD: Json = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
PLAIN: Json = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "1"}}}]}
RULES = [
    pytest.param({}, id="no-rule"),
    pytest.param({"topologySpreadConstraints": [SPREAD]}, id="a-label-that-is-known"),
    pytest.param(
        {"topologySpreadConstraints": [{**SPREAD, "matchLabelKeys": ["track"]}]},
        id="a-label-that-nobody-looked-at",
    ),
    pytest.param(
        {"containers": [{"name": "m", "resources": {"requests": {"example.com/gpu": "1"}}}]},
        id="a-resource-that-nobody-asked-for",
    ),
]


def objects() -> list[Json]:
    def labelled(name: str, on: str, track: str) -> Json:
        metadata = {"labels": {"app": "web", "track": track}}
        return pod(name, on, spec={"topologySpreadConstraints": [SPREAD]}, metadata=metadata)

    return [
        node("a", "a"),
        node("b", "b"),
        labelled("one", "a", "x"),
        labelled("two", "b", "y"),
        labelled("three", "a", "y"),
    ]


def new_pods(rules: Json) -> list[Pod]:
    spec = PodSpec.model_validate({**PLAIN, **rules})
    labels = {"app": "web", "track": "y"}
    return [Pod(namespace="default", name=n, spec=spec, labels=labels) for n in ("p", "q")]


@pytest.mark.parametrize("rules", RULES)
def test_kube_scheduler_says_the_same_of_them_as_of_pods_that_were_read(rules: Json) -> None:
    inventory, made = inventory_of(*objects()), new_pods(rules)
    base = build_cluster(inventory)
    grown = with_new_pods(base, made, base.owners)
    assert grown.node_of[-2:].tolist() == [GONE, GONE]
    here = grown.with_placement({3: -1, 4: -1})
    built = build_cluster(replace(inventory, pods=(*inventory.pods, *made)))
    assert _words(here) == _words(built)
    assert here.used.sum() == built.used.sum()


def _words(cluster: Cluster) -> list[tuple[list[int], str]]:
    scheduler = Scheduler(SchedulingState(cluster), default_profile())
    found = (scheduler.evaluate(int(pod)) for pod in cluster.pending)
    return [(each.best.tolist(), each.message()) for each in found]


def test_pods_of_a_group_that_is_there_join_it() -> None:
    base = build_cluster(inventory_of(*objects()))
    owned = msgspec.structs.replace(base.pods[0], name="four")
    grown = with_new_pods(base, [owned], base.owners)
    assert len(grown.groups) == len(base.groups) + 1, "a pod without an owner is its own group"
    assert grown.groups[: len(base.groups)] == base.groups


def test_nodes_and_topologies_are_shared() -> None:
    base = build_cluster(inventory_of(*objects()))
    zones = base.topology(ZONE)
    assert with_new_pods(base, new_pods({}), base.owners).topology(ZONE) is zones


def test_what_is_known_of_the_old_groups_is_what_a_new_snapshot_would_find() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5", "controller": True}
    owned = pod("owned", "a", metadata={"labels": {"app": "web"}, "ownerReferences": [owner]})
    before = build_cluster(inventory_of(*objects(), owned))
    names = of_each_group(before, "names", lambda group: group.example.name)
    assert before.workloads[-1].short == "rs/web-5"

    made = ReplicaSet.model_validate(
        {
            "metadata": {
                "name": "web-5",
                "namespace": "default",
                "ownerReferences": [{**owner, "kind": "Deployment", "name": "web"}],
            },
            "spec": {"template": {"spec": PLAIN}},
        }
    )
    after = with_new_pods(before, new_pods({}), before.owners.with_controllers([made]))

    found = replace(after)  # shares nothing that was found out
    assert after.workloads == found.workloads
    assert after.workloads[len(before.groups) - 1].short == "deploy/web"
    again = of_each_group(after, "names", lambda group: group.example.name)
    assert list(again) == [*names, *(g.example.name for g in after.groups[len(names) :])]
    more = new_pods({})
    both = [with_new_pods(each, more, after.owners).group_of.tolist() for each in (after, found)]
    assert both[0] == both[1]
