"""A repair of a template is a rollout, and that may stop half way."""

from __future__ import annotations

from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Repair
from tests.explain.situations import nodes, requests, spread, workload
from tests.objects import Json, cluster_of


def repairs(*objects: Json) -> dict[str, Repair]:
    cluster = cluster_of(*objects)
    found = explain_pods(cluster, cluster.pending.tolist(), default_profile(), ExplainOptions())
    return {repair.kind: repair for repair in found.repairs}


def full_zone() -> list[Json]:
    """Two pods in one zone, the other zone full, and one that waits."""
    body = {**requests("500m"), "topologySpreadConstraints": [spread("web")]}
    return [
        *nodes({"eu-1a": ["a1"], "eu-1b": ["b1"]}),
        *workload("big", ["b1"], spec=requests("4")),
        *workload("web", ["a1", "a1"], 1, spec=body),
    ]


def test_old_pods_that_count_for_the_new_ones_stop_a_rollout() -> None:
    """maxSkew 3 lets the third pod in, but a fourth beside three is one too many."""
    found = repairs(*full_zone())
    assert found["raiseMaxSkew"].notes[-2:] == (
        "stops at 1 of 3: old pods in the way",
        "strategy Recreate ends it",
    )


def test_a_rollout_that_ends_is_not_mentioned() -> None:
    found = repairs(*full_zone())
    assert found["scheduleAnyway"].notes == ("rolls out 3 pods",)


def test_other_workloads_have_no_rollout_to_try() -> None:
    body = {**requests("500m"), "topologySpreadConstraints": [spread("web")]}
    found = repairs(
        *nodes({"eu-1a": ["a1"], "eu-1b": ["b1"]}),
        *workload("big", ["b1"], spec=requests("4")),
        *workload("web", ["a1", "a1"], 1, spec=body, kind="ReplicaSet"),
    )
    assert not any("stops" in note for note in found["raiseMaxSkew"].notes)
