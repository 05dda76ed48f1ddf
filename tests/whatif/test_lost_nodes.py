"""Nodes fail: what `planner whatif --lose` says of the packaged example and of small clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import planner
from tests.objects import node, owned, pod, template, workload
from tests.whatif.asking import BEFORE, asked, deployed, run, spread, waiting, zones

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


def lost(*words: str, **options: object) -> planner.WhatIf:
    return planner.load(example=BEFORE).whatif(lose=words, **options)  # type: ignore[arg-type]


def test_a_zone_that_is_silent_and_one_that_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "--example", BEFORE, "--lose", "zone/eu-1c", code=3)
    assert told == (SNAPSHOTS / "whatif-zone-outage-before.txt").read_text()


def test_the_document_has_every_number_of_the_text() -> None:
    found = json.loads(lost("zone/eu-1c").to_json())
    silent, removed = found["manners"]
    assert (found["answer"], found["pods"], silent["lost"]) == ("worse", 51, 17)
    assert (silent["waiting"], removed["waiting"]) == (12, 0)
    assert [each["seconds"] for each in silent["timeline"]] == [50, 50, 80, 350, 380]
    assert found["loss"] == {
        "name": "eu-1c",
        "kind": "zone",
        "nodes": ["c1", "c2", "c3", "c4"],
        "domains": ["eu-1c"],
    }
    assert [(h["when"], h["kind"], h["waitingAfter"]) for h in found["helps"]] == [
        ("before", "nodeTaintsPolicy", 0),
        ("before", "scheduleAnyway", 0),
        ("during", "deleteNode", 0),
    ]
    assert found["comesBack"] == {"excess": 27, "workloads": 5, "moves": 12, "excessThen": 0}


def test_one_manner_alone() -> None:
    assert waiting(lost("zone/eu-1a", manner="removed")) == {"removed": 0}
    assert waiting(lost("zone/eu-1a", manner="unreachable")) == {"unreachable": 12}


def test_nodes_that_fail_together() -> None:
    found = lost("a1", "b1")
    assert found.loss is not None
    assert (found.loss.name, found.loss.nodes) == ("a1 and b1", ("a1", "b1"))


@pytest.mark.parametrize(
    ("words", "message", "help_text"),
    [
        (
            ["--lose", "zone/eu-1d"],
            "there is no zone eu-1d to lose",
            "topology.kubernetes.io/zone has eu-1a, eu-1b and eu-1c",
        ),
        (["--lose", "a1x"], "there is no node a1x", "did you mean a1?"),
        (["--lose", "pool=spot"], "there is no pool spot to lose", "no node has the label pool"),
        (["--cordon", "zone/x"], "there is no zone x to cordon", "eu-1a"),
        (["--scale", "deploy/apy=3"], "there is no Deployment apy", "did you mean deploy/api?"),
        (["--scale", "deploy/api"], "can't scale 'deploy/api'", "KIND/NAME=N"),
        ([], "what if nothing happens?", "--lose zone/eu-1a"),
    ],
)
def test_what_can_not_be_meant(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str, help_text: str
) -> None:
    told = run(capsys, "--example", BEFORE, *words)
    assert message in told
    assert help_text in told
    assert "Traceback" not in told


def test_nothing_gets_worse_where_there_is_room_and_no_rule() -> None:
    found = asked(*zones(a=2, b=2), *deployed("web", ["a1", "b1"]), lose=["zone/b"])
    assert (found.answer, waiting(found)) == ("same", {"unreachable": 0, "removed": 0})
    assert found.to_text().startswith("b fails: 1 of 2 pods goes down. It runs elsewhere.")


def test_too_little_room_is_worse_in_both_manners() -> None:
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    found = asked(*zones(a=1, b=1), *deployed("web", ["a1", "b1"], spec=big), lose=["b1"])
    assert (found.answer, waiting(found)) == ("worse", {"unreachable": 1, "removed": 1})
    assert "It can't come back, whether it is removed or not" in found.to_text().replace("\n", " ")


def test_pods_of_stateful_sets_come_back_only_when_the_node_is_deleted() -> None:
    made = template({"app": "db"})
    stateful = workload(
        "StatefulSet",
        "db",
        {"replicas": 1, "selector": {"matchLabels": {"app": "db"}}, "template": made},
    )
    one = pod("db-0", "a1", metadata={"labels": {"app": "db"}, **owned("StatefulSet", "db")})
    found = asked(*zones(a=2, b=1), stateful, one, lose=["a1"])
    assert waiting(found) == {"unreachable": 1, "removed": 0}
    silent = found.manners[0]
    assert [(each.fate, each.pods) for each in silent.left] == [("held", ("default/db-0",))]
    assert [(h.when, h.waiting_after) for h in found.helps] == [("during", 0)]
    assert "out-of-service" in found.to_text()


def test_a_pod_that_tolerates_silent_nodes_for_ever_is_down_and_kept() -> None:
    for_ever = {"tolerations": [{"operator": "Exists"}]}
    found = asked(*zones(a=2, b=1), *deployed("web", ["a1"], spec=for_ever), lose=["a1"])
    assert [each.fate for each in found.manners[0].left] == ["stays"]
    assert waiting(found) == {"unreachable": 1, "removed": 0}


def test_waiting_pods_get_a_node_before_anything_fails() -> None:
    found = asked(*zones(a=1, b=1), *deployed("web", [], replicas=2), lose=["b1"])
    assert found.manners[0].lost == 1


def test_issue_123019_a_silent_zone_still_counts_for_hard_spread() -> None:
    """kubernetes#123019: replacements wait though two zones have room."""
    pods = deployed("web", ["a1", "b1", "c1"], spec=spread("web"))
    found = asked(*zones(a=2, b=2, c=2), *pods, lose=["zone/c"])
    assert waiting(found) == {"unreachable": 1, "removed": 0}
    (held,) = found.manners[0].held
    assert (held.topology_key, held.domains) == ("topology.kubernetes.io/zone", ("c",))
    assert found.helps[0].kind == "nodeTaintsPolicy"


def test_issue_106127_honoured_taints_leave_the_silent_zone_out() -> None:
    """kubernetes#106127, answered by nodeTaintsPolicy (KEP-3094)."""
    honour = spread("web", nodeTaintsPolicy="Honor")
    pods = deployed("web", ["a1", "b1", "c1"], spec=honour)
    found = asked(*zones(a=2, b=2, c=2), *pods, lose=["zone/c"])
    assert waiting(found) == {"unreachable": 0, "removed": 0}


def test_min_domains_takes_back_what_honoured_taints_give() -> None:
    pods = deployed("web", ["a1", "b1", "c1"], spec=spread("web", minDomains=3))
    found = asked(*zones(a=2, b=2, c=2), *pods, lose=["zone/c"])
    assert found.manners[0].held[0].min_domains
    assert not any(help_.kind == "nodeTaintsPolicy" for help_ in found.helps)
    assert "minDomains would make the minimum 0" in found.to_text().replace("\n", " ")


def test_most_of_a_small_zone_keeps_its_pods_for_ever() -> None:
    nodes = zones(a=4, b=1)
    found = asked(*nodes, *deployed("web", ["a1", "a2"]), lose=["a1", "a2", "a3"])
    assert waiting(found) == {"unreachable": 2, "removed": 0}
    assert "nobody evicts its pods" in found.to_text().replace("\n", " ")


def test_a_job_that_fails_with_its_pod_is_told_once_and_not_helped() -> None:
    job = workload("Job", "j", {"parallelism": 1, "backoffLimit": 0})
    one = pod("j-0", "a1", metadata={"labels": {"job-name": "j"}, **owned("Job", "j")})
    found = asked(*zones(a=2, b=1), job, one, lose=["a1"])
    assert waiting(found) == {"unreachable": 1, "removed": 1}
    assert found.to_text().count("nothing comes after") == 1
    assert not found.helps


def test_daemons_are_no_loss() -> None:
    daemon = workload("DaemonSet", "agent")
    one = pod("agent-x", "a1", metadata={"labels": {"app": "web"}, **owned("DaemonSet", "agent")})
    found = asked(node("a1"), node("a2"), daemon, one, lose=["a1"])
    assert (found.answer, found.manners[0].lost, found.manners[0].daemons) == ("same", 0, 1)
