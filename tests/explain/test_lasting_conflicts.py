"""'No eviction helps' follows from the rules that the text names."""

from __future__ import annotations

from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import requests, workload
from tests.objects import HOSTNAME, Json, cluster_of, node, pod


def explained(selector: Json) -> Diagnosis:
    """A pod of 5 CPU; n1 has 4, and of n2's 8 an eviction would free enough."""
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "5"}}}]}
    cluster = cluster_of(
        node("n1"),
        node("n2", status={"allocatable": {"cpu": "8"}}),
        *workload("busy", ["n2"], spec=requests("4")),
        pod("big", spec={**big, "nodeSelector": selector}),
    )
    return explain_pods(cluster, cluster.pending.tolist(), default_profile(), ExplainOptions())


def test_a_selector_that_keeps_the_pod_from_a_node_that_an_eviction_frees_is_named() -> None:
    found = explained({HOSTNAME: "n1"})
    assert found.verdict == "impossible"
    assert "nodeSelector" in found.headline
    assert found.narrative[0].startswith("n2 lacks")
    assert "n1 never has more than 4" in found.narrative[0]
    assert found.proof == ("these rules refuse every node whatever is evicted",)


def test_without_the_selector_the_eviction_makes_room() -> None:
    assert explained({}).verdict == "stuck"
