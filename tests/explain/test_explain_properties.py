"""What has to hold for every explanation, on small random clusters with all rules mixed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import given, settings

from planner.cluster import GONE, Cluster
from planner.explain.diagnose import ExplainOptions, explain
from planner.explain.repairs import COSTS
from planner.explain.rules import rules_of
from planner.explain.situation.subject import Subject, subject_of
from planner.replay.steps import Step
from planner.replay.verify import check_steps
from planner.report.tables import explain_table
from planner.report.text.blocks import plain_text
from planner.scheduler.profile import default_profile
from planner.sequences.exhaustive import BestSequence, search
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner_models.diagnosis import Change, Diagnosis, Repair, RepairKind
from tests.agreement.clusters import clusters
from tests.explain.changes import applied, passes
from tests.explain.twins import satisfiable

PROFILE = default_profile()
ELSEWHERE = {"scale", "movePods", "preemptionPolicy", "recreateVolume"}
"""Repairs that the twin does not apply."""


def subjects(cluster: Cluster) -> Iterator[Subject]:
    """The waiting pods, one of each group, that kube-scheduler looks at."""
    seen: set[int] = set()
    for pod in cluster.pending.tolist():
        group = int(cluster.group_of[pod])
        if group not in seen and not cluster.pods[pod].spec.scheduling_gates:
            seen.add(group)
            yield subject_of(cluster, PROFILE, pod)


def refused(cluster: Cluster) -> Iterator[tuple[Subject, Diagnosis]]:
    for subject in subjects(cluster):
        found = explain(subject, ExplainOptions())
        if found.verdict != "schedulable":
            yield subject, found


def exhaustive(subject: Subject) -> BestSequence:
    """All sequences of evictions and placements for this pod alone."""
    others = [p for p in subject.cluster.pending.tolist() if p != subject.pod]
    alone = subject.cluster.with_placement(dict.fromkeys(others, GONE))
    options = SolveOptions(rebalance=True)
    problem = build_problem(alone, options)
    return search(replace(problem, options=replace(options, rebalance=False)), PROFILE)


@settings(max_examples=60)
@given(clusters())
def test_the_rules_together_refuse_what_the_scheduler_refuses(cluster: Cluster) -> None:
    for subject in subjects(cluster):
        left = np.ones(len(cluster.nodes), np.bool_)
        for rule in rules_of(subject):
            left &= rule.allowed
        feasible = subject.scheduler.evaluate(subject.pod).feasible
        assert np.flatnonzero(left).tolist() == feasible.tolist()


@settings(max_examples=60)
@given(clusters())
def test_a_conflict_called_minimal_can_spare_no_rule(cluster: Cluster) -> None:
    for subject, found in refused(cluster):
        assert found.conflicts
        for conflict in found.conflicts:
            facts = conflict.constraints
            if conflict.minimal:
                assert not satisfiable(cluster, subject.pod, facts)
                for spared in facts:
                    others = [fact for fact in facts if fact is not spared]
                    assert satisfiable(cluster, subject.pod, others)


@settings(max_examples=60)
@given(clusters())
def test_all_minimal_conflicts_are_found(cluster: Cluster) -> None:
    for subject, found in refused(cluster):
        rules = rules_of(subject)
        masks = {
            frozenset(i for i, rule in enumerate(rules) if rule.blocked[node])
            for node in range(len(cluster.nodes))
        }
        conflicts = [
            frozenset(chosen)
            for size in range(1, len(rules) + 1)
            for chosen in combinations(range(len(rules)), size)
            if all(mask.intersection(chosen) for mask in masks)
        ]
        minimal = [each for each in conflicts if not any(other < each for other in conflicts)]
        if not found.more_conflicts:
            assert len(minimal) <= len(found.conflicts) <= len(minimal) + 1
        confirmed = [each for each in found.conflicts[: len(minimal)] if each.minimal]
        sizes = [len(conflict.constraints) for conflict in confirmed]
        assert sizes == sorted(sizes)


@settings(max_examples=60)
@given(clusters(nodes=4, pods=7))
def test_the_verdict_is_that_of_all_sequences(cluster: Cluster) -> None:
    for subject, found in refused(cluster):
        best = exhaustive(subject)
        if not best.complete:
            continue
        if not sum(best.value.placed):
            assert found.verdict == "impossible"
            assert found.counting is not None
            continue
        assert found.verdict == "stuck"
        assert found.rearrangement is not None
        assert found.rearrangement.evictions == best.value.cost
        assert found.rearrangement.fewest
        steps = [
            Step(step.action, cluster.pod_index[step.pod], cluster.node_index[step.node])
            for step in found.rearrangement.steps
            if step.pod is not None
        ]
        checked = check_steps(cluster, steps, PROFILE)
        assert checked.good
        assert checked.after.node_of[subject.pod] >= 0


@settings(max_examples=60)
@given(clusters(nodes=4, pods=6))
def test_every_repair_lets_the_pod_run(cluster: Cluster) -> None:
    for subject, found in refused(cluster):
        for repair in found.repairs:
            if repair.kind not in ELSEWHERE:
                after = applied(cluster, subject.pod, repair)
                assert passes(after, after.pod_index[subject.key]), repair


@settings(max_examples=60)
@given(clusters(nodes=4, pods=6))
def test_the_cheapest_change_of_a_single_field_is_never_missed(cluster: Cluster) -> None:
    for subject, found in refused(cluster):
        cheapest = min((repair.cost for repair in found.repairs), default=10**6)
        for change in single_changes(subject):
            if change.cost < cheapest:
                after = applied(cluster, subject.pod, change)
                assert not passes(after, after.pod_index[subject.key]), change


def single_changes(subject: Subject) -> Iterator[Repair]:
    """Every value that one field of the pod could have instead."""

    def change(kind: RepairKind, field: str, to: object, more: int = 0) -> Repair:
        cost = COSTS[kind] + more
        value = Change(to=to)  # type: ignore[arg-type] # a JSON value by construction
        return Repair(kind=kind, object="", field=field, change=value, cost=cost, text="")

    spec = subject.group.spec
    for i, constraint in enumerate(spec.topology_spread_constraints):
        field = f"spec.topologySpreadConstraints[{i}]"
        if not constraint.hard:
            continue
        for step in range(1, 9):
            yield change("raiseMaxSkew", field, constraint.max_skew + step, 2 * (step - 1))
        yield change("scheduleAnyway", field, "ScheduleAnyway", 10 * bool(constraint.min_domains))
        for domains in range(1, constraint.min_domains or 1):
            yield change("lowerMinDomains", field, domains)
        other = {"Honor": "Ignore", "Ignore": "Honor"}
        yield change("nodeTaintsPolicy", field, other[constraint.node_taints_policy])
        yield change("nodeAffinityPolicy", field, other[constraint.node_affinity_policy])
    for effect in ("NoSchedule", "NoExecute"):
        yield change("addToleration", "spec.tolerations", [{"key": "special", "effect": effect}])
    for key in spec.node_selector:
        yield change("relaxAffinity", f"spec.nodeSelector[{key}]", None)
    if spec.affinity.node_affinity.required is not None:
        yield change("relaxAffinity", "spec.affinity.nodeAffinity", None)
    if spec.affinity.pod_affinity.required:
        yield change("relaxAffinity", "spec.affinity.podAffinity", None)


@settings(max_examples=60)
@given(clusters())
def test_every_explanation_fits_80_columns(cluster: Cluster) -> None:
    for _, found in refused(cluster):
        text = plain_text(explain_table.blocks(found, wide=False))
        assert all(len(line) <= 80 for line in text.splitlines())
        assert all(line == line.rstrip() for line in text.splitlines())
