"""The `Plan` document out of what was decided and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.notice import Notice
from models.plan import (
    Alternative,
    Placement,
    Plan,
    PlanOptions,
    PlanStatistics,
    PlanVerification,
    Unplaced,
)
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.explain.short import ShortExplainer
from planner.planning.broken_rules import Broken, broken_by, describe, reasons
from planner.planning.budgets import Allowances
from planner.planning.decision import Decision
from planner.planning.greedy import compare
from planner.planning.wave_document import wave_documents
from planner.planning.waves import Waves
from planner.planning.workload_changes import Changed, workload_changes
from planner.scheduler.profile import Profile
from planner.solver.options import SolveOptions
from planner.solver.problem import Problem
from planner.verify import FinalCheck, Verification, Violation, total, violations
from planner.verify.landings import broken_landings

PENDING_REASON = "it was pending"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that is known of a plan; `judged` is the profile that its steps have to pass."""

    problem: Problem
    profile: Profile
    judged: Profile
    decision: Decision
    waves: Waves
    allowances: Allowances
    steps: Verification
    final: FinalCheck
    while_terminating: bool | None = None
    alternatives: tuple[Alternative, ...] = ()

    @property
    def before(self) -> Cluster:
        """The snapshot that the plan starts from."""
        return self.problem.cluster

    @property
    def after(self) -> Cluster:
        """The snapshot that it ends with."""
        return self.steps.after

    @cached_property
    def violations_before(self) -> tuple[Violation, ...]:
        """What running pods break now."""
        return violations(self.before, self.profile)

    @cached_property
    def changed(self) -> Changed:
        """Pods by what becomes of them, in the order of the input."""
        before, after = self.before.node_of, self.after.node_of
        waiting = np.array(sorted(_waiting(self.problem)), np.int64)
        return Changed(
            placed=tuple(waiting[after[waiting] >= 0].tolist()),
            moved=tuple(np.flatnonzero((before >= 0) & (after >= 0) & (before != after)).tolist()),
            unplaced=tuple(waiting[after[waiting] < 0].tolist()),
        )

    @cached_property
    def displaced(self) -> tuple[int, ...]:
        """Running pods that have no node in the end."""
        lost = (self.before.node_of >= 0) & (self.after.node_of < 0)
        return tuple(np.flatnonzero(lost).tolist())

    @cached_property
    def broken(self) -> list[Broken]:
        """What a relaxed plan breaks by itself."""
        if not self.problem.options.relax:
            return []
        return broken_by(self.after, broken_landings(self.before, self.after))


def _waiting(problem: Problem) -> Iterator[int]:
    for pods in problem.waiting.values():
        yield from pods


def plan_document(outcome: Outcome) -> Plan:
    """The plan as it is shown and written."""
    problem, decision, cluster = outcome.problem, outcome.decision, outcome.before
    changed = outcome.changed
    short = ShortExplainer(outcome.after, outcome.judged)
    preempt, waiting = problem.options.preempt, sorted(_waiting(problem))
    excess = total(outcome.violations_before)
    return Plan(
        status=decision.status,
        stopped=decision.stopped,
        options=plan_options(problem.options),
        objectives=decision.objectives,
        placements=tuple(_placements(outcome)),
        unplaced=tuple(_unplaced(cluster, pod, short.sentence(pod)) for pod in _queue(outcome)),
        displaced=tuple(_displaced(outcome)),
        left_aside=tuple(
            _unplaced(cluster, pod, why) for pod, why in sorted(problem.left_aside.items())
        ),
        violations=tuple(describe(outcome.after, each) for each in outcome.final.remaining),
        broken=tuple(each.document for each in outcome.broken),
        workloads=workload_changes(cluster, outcome.after, changed, outcome.allowances),
        waves=tuple(wave_documents(cluster, outcome.waves, outcome.allowances)),
        evictions=outcome.steps.evictions,
        hops=sum(step.temporary for step in outcome.waves.steps),
        on_paper_only=decision.on_paper_only,
        excess_before=excess,
        excess_after=total(outcome.final.remaining),
        greedy=compare(cluster, waiting, outcome.profile, excess, preempt=preempt),
        alternatives=outcome.alternatives,
        verification=_verification(outcome),
        statistics=PlanStatistics(
            nodes=len(cluster.nodes),
            pods=len(cluster.pods),
            groups=len(cluster.groups),
            variables=decision.variables,
            cuts=decision.cuts,
        ),
        notices=tuple(_notices(outcome)),
    )


def plan_options(options: SolveOptions) -> PlanOptions:
    """What was asked for, as far as it shapes the plan."""
    return PlanOptions(
        rebalance=options.rebalance,
        relax=options.relax,
        preempt=options.preempt,
        prefer=options.prefer,
        max_moves=options.max_moves,
        move_cost=options.move_cost,
        time_limit=options.time_limit,
        seed=options.seed,
        workers=options.workers,
    )


def _placements(outcome: Outcome) -> Iterator[Placement]:
    """In the order of the steps; a pod that ends where it was is no placement."""
    before, after = outcome.before, outcome.after
    because = reasons(before, outcome.violations_before)
    breaks: dict[int, list[str]] = {}
    for broken in outcome.broken:
        for pod in broken.pods:
            breaks.setdefault(pod, []).append(broken.name)
    landed = [step for step in outcome.waves.steps if step.action in ("place", "move")]
    names = [node.name for node in before.nodes]
    pods = [step.pod for step in landed if not step.temporary]
    ways = zip(pods, before.node_of[pods].tolist(), after.node_of[pods].tolist(), strict=True)
    for pod, source, node in ways:
        if source == node:
            continue
        origin = names[source] if source >= 0 else None
        reason = PENDING_REASON if origin is None else because.get(pod)
        yield Placement(
            pod=before.pods[pod].key,
            workload=before.workloads[before.group_of[pod]].short,
            node=names[node],
            from_=origin,
            reason=f"makes room on {origin}" if reason is None else reason,
            breaks=tuple(dict.fromkeys(breaks.get(pod, ()))),
        )


def _queue(outcome: Outcome) -> list[int]:
    """Unplaced pods by priority and then by workload, in the order of the input."""
    cluster = outcome.before
    seen: dict[WorkloadRef, int] = {}
    for pod in outcome.changed.unplaced:
        seen.setdefault(cluster.workloads[cluster.group_of[pod]], len(seen))
    return sorted(
        outcome.changed.unplaced,
        key=lambda pod: (
            -cluster.pods[pod].priority,
            seen[cluster.workloads[cluster.group_of[pod]]],
            pod,
        ),
    )


def _unplaced(cluster: Cluster, pod: int, diagnosis: str) -> Unplaced:
    workload = cluster.workloads[cluster.group_of[pod]].short
    return Unplaced(pod=cluster.pods[pod].key, workload=workload, diagnosis=diagnosis)


def _displaced(outcome: Outcome) -> Iterator[Unplaced]:
    cluster = outcome.before
    for pod in outcome.displaced:
        node = cluster.nodes[cluster.node_of[pod]].name
        priority = cluster.pods[pod].priority
        why = f"priority {priority} gives way on {node} to pods of higher priority"
        if cluster.groups[cluster.group_of[pod]].index in outcome.allowances.budgeted:
            why += "; a PodDisruptionBudget covers it"
        yield _unplaced(cluster, pod, why)


def _verification(outcome: Outcome) -> PlanVerification:
    moves = any(step.action in ("evict", "move") for step in outcome.waves.steps)
    return PlanVerification(
        steady=outcome.final.steady,
        admissible=outcome.steps.good,
        capacity=outcome.final.capacity,
        while_terminating=outcome.while_terminating,
        budgets=not outcome.waves.beyond if moves else None,
        doubts=outcome.steps.doubts,
    )


def _notices(outcome: Outcome) -> Iterable[Notice]:
    yield from outcome.before.notices
    for note in outcome.decision.notes:
        yield Notice(code="solverNote", text=note)
    if outcome.waves.beyond:
        yield Notice(
            code="budgetTooTight",
            text="the plan evicts pods whose budget allows no eviction now",
            objects=outcome.waves.beyond,
        )
    ignored = outcome.profile.resolved.ignored
    if ignored:
        text = "plugins that planner can't model were left out, as asked"
        yield Notice(code="ignoredPlugins", text=text, objects=ignored)
