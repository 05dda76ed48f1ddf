"""Changes alone, and changes before a failure: scale, apply, add nodes, cordon."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.examples import example_path
from tests.objects import node, owned, pod, template, workload
from tests.whatif.asking import BEFORE, asked, deployed, run, spread, waiting, written, zones

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
SCALED = "zone-outage-scaled"


def honouring(*keys: str) -> list[dict[str, Any]]:
    """Manifests of the workloads of the example, which honour taints for these keys."""
    items = json.loads(example_path(SCALED).read_text())["items"]
    wanted = ("api", "auth", "cart", "search", "web")
    found = [i for i in items if i["kind"] == "Deployment" and i["metadata"]["name"] in wanted]
    for each in found:
        each["metadata"] = {"name": each["metadata"]["name"], "namespace": "default"}
        del each["status"]
        for constraint in each["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            if constraint["topologyKey"] in keys:
                constraint["nodeTaintsPolicy"] = "Honor"
    return found


def test_a_change_and_a_failure_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "honor.yaml", *honouring("topology.kubernetes.io/zone"))
    words = ("--example", SCALED, "--apply", file, "--lose", "zone/eu-1a")
    told = " ".join(run(capsys, *words, code=3).split())
    assert told.startswith(
        "eu-1a fails: 26 of 62 pods go down. 2 of them can't come back until its nodes are removed;"
        " then all do (without honor.yaml: 14)."
    )
    assert (
        "hostname (constraint [1]) does not honour taints: 4 silent nodes count with 0 pods, so "
        "api may have at most 2 pods on any other node (maxSkew 2)" in told
    )
    assert "hostname: nodeTaintsPolicy Ignore -> Honor 2 -> 0 waiting" in told


def test_workloads_that_need_the_same_change_in_different_places_get_their_own() -> None:
    found = planner.load(example=SCALED).whatif(lose=["zone/eu-1a"], seeds=1)
    first = found.helps[0]
    assert (first.kind, first.waiting_before, first.waiting_after) == ("nodeTaintsPolicy", 14, 0)
    assert first.text == (
        "zone and hostname: nodeTaintsPolicy Ignore -> Honor; "
        "auth: zone: nodeTaintsPolicy Ignore -> Honor"
    )


def test_scaling_up_beyond_the_room(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "--example", BEFORE, "--scale", "deploy/api=70", code=3)
    assert told == (SNAPSHOTS / "whatif-scale-up.txt").read_text()


def test_scaling_down_does_not_look_at_spread(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "--example", BEFORE, "--scale", "deploy/api=6", code=3)
    assert told == (SNAPSHOTS / "whatif-scale-down.txt").read_text()


def test_every_choice_of_a_scale_down_is_counted() -> None:
    """As trying all of them would find."""
    nodes = ["a1", "a2", "b1", "b2", "b2", "c1"]
    objects = [*zones(a=2, b=2, c=1), *deployed("web", nodes, spec=spread("web"))]
    (found,) = asked(*objects, scale=["deploy/web=3"]).deletions
    kept = [[place[0] for place in left] for left in _remaining(nodes, 3)]
    steady = [each for each in kept if _skew(each) <= 1]
    assert (found.choices, found.steady, found.exact) == (len(kept), len(steady), True)


def _remaining(nodes: list[str], left: int) -> list[tuple[str, ...]]:
    """What may stay: pods that share their node with another of the workload go first."""
    shared = [place for place in nodes if nodes.count(place) > 1]
    alone = [place for place in nodes if nodes.count(place) == 1]
    return list(combinations(alone, left)) if len(shared) <= len(nodes) - left else []


def _skew(zones_left: list[str]) -> int:
    counts = [zones_left.count(zone) for zone in "abc"]
    return max(counts) - min(counts)


def test_a_domain_without_pods_counts_when_others_go() -> None:
    objects = [
        *zones(a=2, b=2, c=1),
        *deployed("web", ["a1", "a2", "b1", "b2"], spec=spread("web")),
    ]
    (found,) = asked(*objects, scale=["deploy/web=2"]).deletions
    assert (found.choices, found.steady, found.emptied) == (6, 4, 2)


def test_pods_with_the_annotation_are_the_ones_that_go() -> None:
    """What is proposed is carried out: the dump with the annotations leaves no choice."""
    objects = json.loads(example_path(BEFORE).read_text())["items"]
    (first,) = asked(*objects, scale=["deploy/api=6"]).deletions
    for each in objects:
        meta = each["metadata"]
        if each["kind"] == "Pod" and f"{meta['namespace']}/{meta['name']}" in first.annotate:
            costs = {"controller.kubernetes.io/pod-deletion-cost": str(first.cost)}
            meta["annotations"] = {**meta.get("annotations", {}), **costs}
    found = asked(*objects, scale=["deploy/api=6"])
    assert found.answer == "same"
    (then,) = found.deletions
    assert (then.choices, then.steady) == (1, 1)
    api = next(each for each in found.manners[0].workloads if each.workload.endswith("/api"))
    assert api.after[:3] == (2, 2, 2)


def test_the_script_annotates_and_then_scales(tmp_path: Path) -> None:
    script = planner.load(example=BEFORE).whatif(scale=["deploy/api=6"]).to_script()
    kubectl = tmp_path / "kubectl"
    kubectl.write_text('#!/bin/sh\nprintf "%s\\n" "$*" >> "$LOG"\n')
    kubectl.chmod(0o755)
    log = tmp_path / "log"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["sh", "-c", script], check=True, env={"PATH": path, "LOG": str(log)}, timeout=30
    )
    *annotated, scaled = log.read_text().splitlines()
    assert len(annotated) == 6
    assert scaled == "-n default scale deploy/api --replicas=6"


def test_a_script_for_nothing_refuses() -> None:
    script = planner.load(example=BEFORE).whatif(lose=["a1"], seeds=1).to_script()
    assert "exit 3" in script


def test_a_stateful_set_loses_its_highest_ordinals() -> None:
    made = template({"app": "db"})
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "template": made}
    pods = [
        pod(f"db-{i}", f"{zone}1", metadata={"labels": {"app": "db"}, **owned("StatefulSet", "db")})
        for i, zone in enumerate("abc")
    ]
    nodes = zones(a=1, b=1, c=1)
    found = asked(*nodes, workload("StatefulSet", "db", spec), *pods, scale=["sts/db=1"])
    assert found.manners[0].workloads[0].after[:3] == (1, 0, 0)
    assert not found.deletions


def test_manifests_with_fewer_replicas_scale_down_as_well(tmp_path: Path) -> None:
    nodes, web = zones(a=2, b=2), deployed("web", ["a1", "a2", "b1", "b2"], spec=spread("web"))
    cluster = planner.load(written(tmp_path, "cluster.json", *nodes, *web))
    lower = {**web[0], "spec": {**web[0]["spec"], "replicas": 2}}
    found = cluster.whatif(apply=written(tmp_path, "lower.json", lower))
    (deletion,) = found.deletions
    assert (deletion.after, deletion.choices, deletion.steady) == (2, 6, 4)
    assert sum(found.manners[0].workloads[0].after) == 2


def test_new_nodes_take_what_waits(tmp_path: Path) -> None:
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    file = written(tmp_path, "new.json", node("new", "b"))
    objects = [*zones(a=1), *deployed("web", ["a1"], spec=big, replicas=3)]
    found = asked(*objects, add_nodes=[f"{file}=2"])
    assert found.answer == "same"
    assert sum(found.manners[0].workloads[0].after) == 3


def test_nodes_that_were_added_may_fail_as_well(tmp_path: Path) -> None:
    file = written(tmp_path, "new.json", node("new", "b"))
    found = asked(*zones(a=1), *deployed("web", ["a1"]), add_nodes=[file], lose=["zone/b"])
    assert found.loss is not None
    assert found.loss.nodes == ("new",)


def test_a_cordoned_zone_takes_nothing_over() -> None:
    nodes, web = zones(a=1, b=1, c=1), deployed("web", ["a1"])
    found = asked(*nodes, *web, cordon=["zone/b", "c1"], lose=["a1"])
    assert waiting(found)["removed"] == 1


def test_scaling_happens_before_the_failure() -> None:
    found = asked(*zones(a=1, b=1), *deployed("web", ["a1"]), scale=["deploy/web=2"], lose=["b1"])
    assert found.manners[-1].lost == 1


def test_preempted_pods_are_named() -> None:
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    high = {**big, "priorityClassName": "high"}
    classes = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    nodes = zones(a=1, b=1)
    low, top = deployed("low", ["a1"], spec=big), deployed("top", ["b1"], spec=high)
    for each in top:
        if each["kind"] == "Pod":
            each["spec"]["priority"] = 1000
    found = asked(*nodes, classes, *low, *top, lose=["b1"], preempt=True, manner="removed")
    (removed,) = found.manners
    assert removed.preempted == ("default/low-1-0",)
    assert waiting(found) == {"removed": 1}


def test_the_cluster_in_the_end_can_be_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "then.json")
    run(capsys, "--example", BEFORE, "--lose", "zone/eu-1c", "--as", "removed", "--out", out)
    again = planner.load(out)
    assert (len(again.nodes), len(again.pods), len(again.pending)) == (8, 51, 0)


def test_silent_nodes_are_written_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "then.json")
    words = ("--as", "unreachable", "--scale", "deploy/feed=9", "--out", out)
    run(capsys, "--example", BEFORE, "--lose", "zone/eu-1c", *words)
    again = planner.load(out)
    silent = [each.name for each in again.nodes if not each.ready]
    assert (silent, len(again.pods), len(again.pending)) == (["c1", "c2", "c3", "c4"], 54, 12)
    assert again.simulate().summary.unschedulable == 12
