"""kube-scheduler's own word in dumps: a notice where it contradicts planner, never for old ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.cluster import build_cluster
from planner.scheduler.profile import default_profile
from planner.scheduler.status_messages import contradictions
from planner.sources.load import load_paths
from planner_models.notice import Notice
from tests.objects import Json, cluster_of, merged, node, pod

EARLIER, NOW, LATER = (f"2026-11-16T18:36:{second}Z" for second in (44, 58, 59))
FULL = "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: ..."


def running(name: str, on: str, since: str = EARLIER, **changes: Any) -> Json:
    """A pod that takes 3 of the 4 cores of its node."""
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": since}
    containers = [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]
    made = pod(name, on, spec={"containers": containers}, status={"conditions": [scheduled]})
    return merged(made, changes)


def waiting(message: str, cpu: str = "2", **changes: Any) -> Json:
    refused = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastTransitionTime": NOW,
        "observedGeneration": 1,
    }
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    made = pod("web", spec={"containers": containers}, status={"conditions": [refused]})
    return merged(merged(made, {"metadata": {"generation": 1}}), changes)


def told(*objects: Json) -> list[Notice]:
    return list(contradictions(cluster_of(*objects), (default_profile(),)))


def test_a_message_that_planner_would_write_itself_is_not_mentioned() -> None:
    assert told(node("n1"), node("n2"), running("a", "n1"), running("b", "n2"), waiting(FULL)) == []


def test_a_node_that_planner_finds_against_the_message_is_worth_a_report() -> None:
    (notice,) = told(node("n1"), node("n2"), running("a", "n1"), waiting(FULL))
    assert notice.code == "schedulerDisagrees"
    assert notice.objects == ("default/web",)
    assert notice.text == (
        "kube-scheduler says of default/web: 0/2 nodes are available: 2 Insufficient cpu. planner "
        "finds: n2 would take it. If the input has the pods of all namespaces, and "
        "kube-scheduler's configuration if there is one, please report this with the input"
    )


def test_a_reason_that_planner_has_never_heard_of_is_reported_if_a_node_would_do() -> None:
    (notice,) = told(node("n1"), waiting("0/1 nodes are available: 1 node(s) were not lucky."))
    assert "1 node(s) were not lucky. planner finds: n1 would take it." in notice.text


def test_other_counts_of_the_same_reasons_are_reported() -> None:
    said = "0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods."
    (notice,) = told(node("n1"), node("n2"), running("a", "n1"), running("b", "n2"), waiting(said))
    assert "planner finds: 0/2 nodes are available: 2 Insufficient cpu." in notice.text


def test_nodes_that_were_cordoned_since_explain_other_counts() -> None:
    cordoned = node("n2", spec={"unschedulable": True})
    assert told(node("n1"), cordoned, running("a", "n1"), waiting(FULL)) == []


def test_reasons_in_the_words_of_other_versions_are_not_counted() -> None:
    said = "0/1 nodes are available: 1 node(s) had volume node affinity conflict."
    assert told(node("n1"), waiting(said, cpu="9")) == []


def test_the_taint_that_older_versions_name_is_a_taint() -> None:
    tainted = node("n1", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    said = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {gpu: }."
    assert told(tainted, node("n2"), running("a", "n2"), waiting(said)) == []


DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("dump", ["live-declared-features", "live-resize"])
def test_planner_agrees_with_the_real_control_plane(dump: str) -> None:
    cluster = planner.load(DATA / f"{dump}.json")
    assert cluster.simulate().notices == ()
    assert cluster.explain("pod/p").notices == ()


def test_simulate_and_explain_say_where_they_contradict_it(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "items": [node("n1"), node("n2"), waiting(FULL)]}))
    cluster = planner.load(file)
    found = (cluster.simulate(), cluster.explain("pod/web"), cluster.explain_pending())
    assert [[n.code for n in each.notices] for each in found] == [["schedulerDisagrees"]] * 3
    assert "please report this" in " ".join(found[1].to_text().split())


def test_a_filter_that_planner_would_not_know_shows_in_the_dump() -> None:
    known = default_profile()
    others = tuple(each for each in known.filters if each.name != "NodeDeclaredFeatures")
    cluster = build_cluster(load_paths([str(DATA / "live-declared-features.json")]))
    (notice,) = contradictions(cluster, (replace(known, filters=others),))
    assert "didn't match Pod's required features. planner finds: na would take it." in notice.text


def change_generation(objects: list[Json]) -> None:
    objects[-1]["metadata"]["generation"] = 2


def one_more_node(objects: list[Json]) -> None:
    objects.insert(0, node("n3"))


def pod_that_ends(objects: list[Json]) -> None:
    objects[2]["metadata"]["deletionTimestamp"] = LATER


def pod_that_came_later(objects: list[Json]) -> None:
    objects.insert(0, running("late", "n1", LATER))


def pod_of_the_same_second(objects: list[Json]) -> None:
    objects.insert(0, running("late", "n1", NOW))


def pod_that_planner_put_there(objects: list[Json]) -> None:
    del objects[2]["status"]["conditions"][0]["lastTransitionTime"]


def nominated_pod(objects: list[Json]) -> None:
    objects.insert(0, pod("vip", status={"nominatedNodeName": "n2"}))


def pod_on_a_node_that_is_missing(objects: list[Json]) -> None:
    objects.insert(0, running("lost", "n9"))


def other_scheduler(objects: list[Json]) -> None:
    objects[-1]["spec"]["schedulerName"] = "mine"


def gate(objects: list[Json]) -> None:
    objects[-1]["spec"]["schedulingGates"] = [{"name": "wait"}]


def no_time(objects: list[Json]) -> None:
    del objects[-1]["status"]["conditions"][0]["lastTransitionTime"]


@pytest.mark.parametrize(
    "change",
    [
        change_generation,
        one_more_node,
        pod_that_ends,
        pod_that_came_later,
        pod_of_the_same_second,
        pod_that_planner_put_there,
        nominated_pod,
        pod_on_a_node_that_is_missing,
        other_scheduler,
        gate,
        no_time,
    ],
)
def test_a_message_that_may_be_old_is_not_held_against_planner(
    change: Callable[[list[Json]], None],
) -> None:
    objects = [node("n1"), node("n2"), running("a", "n1"), waiting(FULL)]
    change(objects)
    assert told(*objects) == []
