"""Sentences agree with their numbers: one zone, one pod, several resources."""

from __future__ import annotations

from typing import Any

from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import REQUIRED, nodes, requests, spread, workload
from tests.objects import ZONE, cluster_of, pod

Json = dict[str, Any]
ONE_ZONE = {"eu-1a": ["a1"]}


def explained(*objects: Json) -> Diagnosis:
    cluster = cluster_of(*objects)
    return explain_pods(cluster, cluster.pending.tolist(), default_profile(), ExplainOptions())


def text_of(found: Diagnosis) -> str:
    return " ".join((*found.narrative, found.counting.text if found.counting is not None else ""))


def test_one_zone_is_no_plural() -> None:
    body = {"topologySpreadConstraints": [spread("web", minDomains=2)]}
    found = explained(*nodes(ONE_ZONE), *workload("web", ["a1"], 1, spec=body))
    assert "1 zone x maxSkew 1 = 1 web pod at most, 2 wanted." in text_of(found)


def test_at_most_one_per_zone_where_there_is_one_zone() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    body = {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
    found = explained(*nodes(ONE_ZONE), *workload("web", ["a1"], 1, spec=body))
    assert found.short == "at most 1 per zone, 1 zone"


def test_one_cpu_is_free() -> None:
    batch = workload("batch", ["a1"], spec=requests("3"))
    found = explained(*nodes(ONE_ZONE), *batch, *workload("web", pending=1, spec=requests("2")))
    assert "1 CPU is free in the whole cluster." in text_of(found)


def test_several_resources_are_short() -> None:
    small = {"status": {"allocatable": {"memory": "1Gi", "pods": "1"}}}
    web = workload("web", pending=1, spec={**requests("2", "2Gi"), "nodeSelector": {"x": "y"}})
    batch = workload("batch", ["a1"], spec=requests("1", "512Mi"))
    found = explained(*nodes(ONE_ZONE, cpu="2", **small), *batch, *web)
    texts = [hint.text for hint in found.hints if hint.code == "moreRoomWouldNotHelp"]
    assert texts == [
        "CPU, memory and pod slots are short on a1, but more of them would not help: nodeSelector "
        "excludes every node"
    ]


def test_a_domain_that_takes_part_and_is_full_is_named_where_no_other_does() -> None:
    """b1 is no domain of the constraint, for nodeSelector excludes it."""
    body = {
        "topologySpreadConstraints": [spread("web", minDomains=2)],
        "nodeSelector": {ZONE: "eu-1a"},
    }
    both = nodes({"eu-1a": ["a1"], "eu-1b": ["b1"]})
    found = text_of(explained(*both, *workload("web", ["a1"], 1, spec=body)))
    assert "go to  only" not in found
    assert "zone has 1 domain (eu-1a), fewer than minDomains 2." in found


def test_pod_affinity_by_a_label_that_no_node_has_says_so() -> None:
    term = {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "web"}}}
    body = {"affinity": {"podAffinity": {REQUIRED: [term]}}}
    found = explained(*nodes(ONE_ZONE), *workload("web", ["a1"], 1, spec=body))
    assert "no node has the label rack." in text_of(found)


def test_one_running_pod_carries_the_rule() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    body = {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
    found = explained(*nodes(ONE_ZONE), *workload("web", ["a1"], 1, spec=body))
    assert any("the 1 running pod carries the same rule" in text for text in found.not_listed)


def test_one_pod_finds_a_node_and_one_place_is_there() -> None:
    one = nodes(ONE_ZONE)
    assert explained(*one, *workload("web", pending=2, spec=requests("3"))).headline.startswith(
        "1 of 2 web pods can't run"
    )
    a, b = (workload(name, pending=1, spec=requests("3")) for name in ("a", "b"))
    assert explained(*one, *a, *b).headline == "a and b need 2 places, and there is 1"


def test_one_pod_that_stays_is_no_plural() -> None:
    """A pod that keeps away from a static one, and may not go elsewhere."""
    both = nodes({"eu-1a": ["a1"], "eu-1b": ["b1"]})
    rule = spread("log", nodeAffinityPolicy="Ignore")
    body = {"topologySpreadConstraints": [rule], "nodeSelector": {ZONE: "eu-1a"}}
    log = {"labels": {"app": "log"}}
    static = {**log, "annotations": {"kubernetes.io/config.mirror": "x"}}
    found = explained(*both, pod("s", "a1", metadata=static), pod("w", metadata=log, spec=body))
    assert "the 1 matching pod is static on the node" in " ".join(found.rearranging)
