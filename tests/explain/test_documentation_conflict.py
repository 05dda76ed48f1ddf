"""The documentation's conflicting example, fact by fact."""

from __future__ import annotations

import pytest

import planner
from planner.examples import example_path
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis, Repair
from tests.explain.changes import applied, passes

PATH = str(example_path("docs-conflicting-constraints"))


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    cluster = planner.load(PATH).snapshot
    return explain_pods(
        cluster, [cluster.pod_index["default/mypod"]], default_profile(), ExplainOptions()
    )


def repairs(diagnosis: Diagnosis, kind: str) -> dict[str, Repair]:
    return {repair.field: repair for repair in diagnosis.repairs if repair.kind == kind}


def test_the_verdict_is_impossible(diagnosis: Diagnosis) -> None:
    assert diagnosis.verdict == "impossible"
    assert not diagnosis.on_paper_only
    assert diagnosis.counting is not None
    assert diagnosis.counting.checked


def test_there_is_one_minimal_conflict_with_its_counts(diagnosis: Diagnosis) -> None:
    assert len(diagnosis.conflicts) == 1
    assert diagnosis.conflicts[0].minimal
    zone, node = diagnosis.conflicts[0].constraints
    assert zone.kind == node.kind == "topologySpread"
    assert zone.field == "spec.topologySpreadConstraints[0]"
    assert node.field == "spec.topologySpreadConstraints[1]"
    assert zone.facts["counts"] == {"zoneA": 3, "zoneB": 2}
    assert node.facts["counts"] == {"node1": 2, "node2": 1, "node3": 2}


def test_one_step_of_either_max_skew_helps(diagnosis: Diagnosis) -> None:
    found = repairs(diagnosis, "raiseMaxSkew")
    zone = found["spec.topologySpreadConstraints[0].maxSkew"]
    node = found["spec.topologySpreadConstraints[1].maxSkew"]
    for repair in (zone, node):
        assert repair.change is not None
        assert (repair.change.from_, repair.change.to) == (1, 2)
    assert zone.then_nodes == ("node2",)
    assert node.then_nodes == ("node3",)


def test_schedule_anyway_helps_on_either(diagnosis: Diagnosis) -> None:
    assert len(repairs(diagnosis, "scheduleAnyway")) == 2


def test_a_new_node_helps_in_zone_b_only(diagnosis: Diagnosis) -> None:
    (repair,) = repairs(diagnosis, "addNode").values()
    assert repair.text == "add a node in zoneB"
    assert repair.notes == ("in zoneA: no help",)


def test_every_repair_works_on_a_cluster_that_is_built_anew(diagnosis: Diagnosis) -> None:
    cluster = planner.load(PATH).snapshot
    pod = cluster.pod_index["default/mypod"]
    for repair in diagnosis.repairs:
        after = applied(cluster, pod, repair)
        assert passes(after, after.pod_index["default/mypod"]), repair.text


def test_cheaper_repairs_come_first(diagnosis: Diagnosis) -> None:
    costs = [repair.cost for repair in diagnosis.repairs]
    assert costs == sorted(costs)
    assert all(repair.verified for repair in diagnosis.repairs)


def test_bare_pods_move_if_the_user_allows_it() -> None:
    from planner.disruption.movability import MovePolicy
    from planner.explain.room.rearrange import Limits

    cluster = planner.load(PATH).snapshot
    options = ExplainOptions(Limits(policy=MovePolicy(bare_pods=True)))
    pod = cluster.pod_index["default/mypod"]
    found = explain_pods(cluster, [pod], default_profile(), options)
    assert found.verdict == "stuck"
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == 1
