"""`The fewest evictions` is said only where it is proven, by whatever way it was found."""

from __future__ import annotations

from hypothesis import given, settings

from planner.cluster import Cluster
from planner.disruption.movability import DEFAULT_POLICY
from planner.explain.diagnose import ExplainOptions, explain
from planner.explain.room.by_solver import placed
from planner.explain.room.certificates import counts_and_most
from planner.explain.room.rearrange import Limits
from planner.explain.room.setting import Setting
from planner.explain.rules import rules_of
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import of_type
from planner.explain.several_pods import explain_pods
from planner.explain.situation.subject import Subject
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.problem.solution import Level
from tests.agreement.clusters import clusters
from tests.explain.situations import nodes, requests, spread, workload
from tests.explain.test_explain_properties import exhaustive, subjects
from tests.objects import cluster_of, pod

ONLY_THE_SOLVER = ExplainOptions(Limits(searched_cells=0))


@settings(max_examples=60)
@given(clusters(nodes=4, pods=7))
def test_the_solver_s_fewest_evictions_are_those_of_all_sequences(cluster: Cluster) -> None:
    for subject in subjects(cluster):
        found = explain(subject, ONLY_THE_SOLVER)
        best = exhaustive(subject)
        if found.rearrangement is None or not best.complete:
            continue
        assert found.rearrangement.at_least <= best.value.cost <= found.rearrangement.evictions
        if found.rearrangement.fewest:
            assert found.rearrangement.evictions == best.value.cost


@settings(max_examples=60)
@given(clusters(nodes=4, pods=7))
def test_what_the_solver_calls_impossible_no_sequence_reaches(cluster: Cluster) -> None:
    for subject in subjects(cluster):
        if explain(subject, ONLY_THE_SOLVER).verdict == "impossible":
            assert not sum(exhaustive(subject).value.placed)


def setting_of(subject: Subject) -> Setting:
    return Setting(subject, rules_of(subject), DEFAULT_POLICY)


@settings(max_examples=60)
@given(clusters())
def test_no_domain_can_hold_more_than_counting_says(cluster: Cluster) -> None:
    for subject in subjects(cluster):
        setting = setting_of(subject)
        for rule in of_type(setting.rules, SpreadRule):
            bound = dict(zip(rule.topology.domains, setting.most(rule, with_pod=True), strict=True))
            most = counts_and_most(subject, setting.movable, rule.constraint)[1]
            assert all(bound[domain] >= number for domain, number in most.items())


def test_pods_that_stay_count_where_they_close_no_node_by_themselves() -> None:
    """The bare pod on b1 alone would allow any zone; it is there all the same."""
    body = {**requests("1"), "topologySpreadConstraints": [spread("web", skew=2)]}
    bare = pod("alone", "b1", metadata={"labels": {"app": "web"}})
    cluster = cluster_of(
        *nodes({"a": ["a1"], "b": ["b1"]}), *workload("web", ["a1"] * 3, 1, spec=body), bare
    )
    setting = setting_of(next(subjects(cluster)))
    rule = of_type(setting.rules, SpreadRule)[0]
    assert setting.most(rule, with_pod=True).tolist() == [4, 3 + 1]


def test_no_pod_moves_that_need_not_where_the_solver_makes_room() -> None:
    """A large pod of a1 has to go to b1, and for it a small one from b1 to c1: two evictions."""
    pinned = {**requests("4"), "nodeSelector": {"kubernetes.io/hostname": "a1"}}
    cluster = cluster_of(
        *nodes({"a": ["a1"]}, cpu="8"),
        *nodes({"b": ["b1"]}, cpu="10"),
        *nodes({"c": ["c1"]}, cpu="16"),
        *workload("large", ["a1", "a1"], spec=requests("4")),
        *workload("small", ["b1"] * 7, spec=requests("1")),
        *workload("tiny", ["c1"] * 50, spec=requests("300m")),
        *workload("web", pending=1, spec=pinned),
    )
    found = explain_pods(cluster, cluster.pending.tolist(), default_profile(), ExplainOptions())
    assert found.verdict == "stuck"
    assert found.rearrangement is not None
    assert found.rearrangement.evictions == 2
    assert found.rearrangement.fewest
    assert found.rearrangement.at_least == 2


def test_a_number_that_the_solver_did_not_find_proves_nothing() -> None:
    pods = [workload(f"w{i}", pending=1, spec={**requests("1"), "priority": i}) for i in (0, 5)]
    cluster = cluster_of(*nodes({"a": ["a1"]}), *pods[0], *pods[1])
    problem = build_problem(cluster, SolveOptions())
    first, second = Level("placed 5", "placed", 0, 0), Level("placed 0", "placed", 0, 1)
    assert placed(problem, ()) == (0, None)
    assert placed(problem, (first,)) == (0, None)
    assert placed(problem, (first, second)) == (0, 1)
