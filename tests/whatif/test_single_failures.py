"""Every single failure: `planner whatif --each`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import planner
from tests.objects import pod
from tests.whatif.asking import BEFORE, asked, deployed, run, spread, zones

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


def test_every_zone_and_every_node(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--each", "zone", "--each", "node", "--seeds", "2")
    told = run(capsys, "--example", BEFORE, *words, code=3)
    assert told == (SNAPSHOTS / "whatif-each-zone-outage-before.txt").read_text()


def test_the_document_has_a_line_for_each_failure() -> None:
    found = planner.load(example=BEFORE).whatif(each=["zone", "node"], seeds=1)
    singles = json.loads(found.to_json())["singles"]
    assert [each["domain"] for each in singles[:4]] == ["eu-1a", "eu-1b", "eu-1c", "a4"]
    assert singles[0]["waiting"] == {"unreachable": 12, "removed": 0}
    assert singles[0]["hardest"] == {"workload": "default/deploy/search", "down": 3, "of": 7}
    assert {each["certified"] for each in singles if each["kind"] == "node"} == {True}


def test_nothing_waits_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "--example", BEFORE, "--each", "node", code=0)
    assert told.startswith("12 single failures tried; none leaves a pod waiting.")


def test_two_zones_at_once() -> None:
    found = planner.load(example=BEFORE).whatif(each=["zone"], pairs=True, seeds=1)
    assert found.singles[0].domain == "eu-1a and eu-1b"
    assert found.singles[0].waiting == {"unreachable": 24, "removed": 11}


def test_pairs_beyond_the_limit_are_counted() -> None:
    nodes = zones(a=21)
    found = asked(*nodes, *deployed("web", ["a1", "a2"]), each=["node"], pairs=True, seeds=1)
    assert (len(found.singles), found.not_tried) == (200, 10)
    assert found.singles[0].domain == "a1 and a2"
    assert "10 pairs were not tried" in found.to_text()


def test_any_label_may_be_the_domain_that_fails() -> None:
    nodes = zones(a=2, b=2)
    for index, each in enumerate(nodes):
        each["metadata"]["labels"]["rack"] = f"r{index % 2}"
    found = asked(*nodes, *deployed("web", ["a1", "b1"]), each=["rack"])
    assert sorted(each.domain for each in found.singles) == ["rack=r0", "rack=r1"]


def test_what_certificates_do_not_decide_is_simulated_the_same() -> None:
    """Required affinity gets no certificate."""
    near = {
        "affinity": {
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "topology.kubernetes.io/zone",
                        "labelSelector": {"matchLabels": {"app": "web"}},
                    }
                ]
            }
        }
    }
    found = asked(*zones(a=1, b=1), *deployed("web", ["a1", "a1"], spec=near), each=["node"])
    assert {each.domain: each.certified for each in found.singles} == {"a1": False, "b1": True}


def test_a_bare_pod_is_lost_with_its_node() -> None:
    found = asked(*zones(a=2), pod("alone", "a1"), each=["node"])
    assert {each.domain: each.waiting["removed"] for each in found.singles} == {"a1": 1, "a2": 0}


def test_one_question_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "--example", BEFORE, "--each", "node", "--lose", "a1", code=2)
    assert "two questions" in told
    assert "pairs of what?" in run(capsys, "--example", BEFORE, "--pairs", code=2)


def test_an_unknown_label_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "--example", BEFORE, "--each", "rack", code=1)
    assert "no node has the label rack" in told


def test_single_failures_after_a_change() -> None:
    pods = deployed("web", ["a1", "b1"], spec=spread("web"))
    found = asked(*zones(a=1, b=1), *pods, each=["node"], scale=["deploy/web=4"])
    assert {each.pods_down for each in found.singles} == {2}
