"""Whether kube-scheduler would carry a rebalance out, and which cordons make it do so.

A plan's nodes are promises of counts per domain: nobody but kube-scheduler chooses nodes. Its waves
become evictions, and cordons are looked for under which every tie seed keeps the counts. They are
few, and shown before anybody says yes. Without them the plan is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from planner.apply.course import Course, course_of_evictions
from planner.apply.replay_rest import allowed_waiting, keeps_counts
from planner.apply.state import Replanned
from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import allowances
from planner.disruption.node_lifecycle import with_condition_taints
from planner.documents.eviction_waves import eviction_waves, planned_evictions
from planner.errors import RefusedError
from planner.evictions.goals import Aim, Goal, aim_of, placed_at
from planner.evictions.repeated_trials import RepeatedTrials, Target, TriedWaves
from planner.evictions.robust_waves import RobustWaves, expected_nodes
from planner.evictions.suggest import settled
from planner.replay.steps import Step
from planner.replay.trial_work import USUAL_SEEDS
from planner.replay.violations import total, violations
from planner.scheduler.profile import Profile
from planner.scheduler.promised import with_promised
from planner.words import conjoined
from planner_models.evictions import Convergence, EvictionOptions, EvictionPlan, Promised, Situation
from planner_models.plan import Plan, WorkloadChange
from planner_models.plan import Step as PlanStep

SHARE = 10
"""One in so many nodes may be cordoned at once, rounded up,"""
MOST = 20
"""and never more than these."""
TOLD = 3


@dataclass(frozen=True, eq=False)
class _Steered:
    """Waves that were tried, for the builders of documents."""

    given: Cluster
    start: Cluster
    aim: Aim
    profile: Profile
    tried: TriedWaves

    def excess_at(self, node_of: IntArray) -> int:
        return total(violations(placed_at(self.start, node_of), self.profile))


class _KeepingCounts(RepeatedTrials):
    """Trials that end well if the counts per domain are those of the plan."""

    def promise(self, course: Course) -> _KeepingCounts:
        self._course = course
        return self

    def reached(self, node_of: IntArray) -> bool:
        if not super().reached(node_of):
            return False
        return keeps_counts(placed_at(self.aim.real, node_of), self._course)


def steered(document: Plan, file: str, cluster: Cluster, profile: Profile) -> Replanned:
    """The evictions of a rebalance with the cordons that they need, or RefusedError."""
    moved = tuple(each for each in document.workloads if each.moved)
    waves = [tuple(_steps(cluster, wave.steps, file)) for wave in document.waves]
    start = settled(with_promised(with_condition_taints(cluster), profile), profile)
    shape = _shape(document, moved)
    target = Target(
        document.excess_after, max(len(document.unplaced), allowed_waiting(shape, start))
    )
    goals: tuple[Goal, ...] = ("spread",)
    aim = aim_of(start, goals, ())
    budgets = allowances(start)
    trials = _KeepingCounts(aim, profile, budgets, target, USUAL_SEEDS).promise(shape)
    order = [step for wave in waves for step in wave]
    tried = RobustWaves(trials).search(waves, order)
    found = _Steered(cluster, start, aim, profile, tried)
    most = min(MOST, math.ceil(len(cluster.nodes) / SHARE))
    if not tried.converges or any(len(wave.cordons) > most for wave in tried.waves):
        raise _refused(found, document, order, most)
    made = _document(document, found, moved)
    return Replanned(rebalance_course(document, made), _json(made))


def rebalance_course(document: Plan, made: EvictionPlan) -> Course:
    """The course of a rebalance, once its cordons are known."""
    moved = tuple(each for each in document.workloads if each.moved)
    course = course_of_evictions(made.model_copy(update={"plan_id": document.plan_id}))
    return replace(course, command="solve", counts=moved, waiting_before=None)


def _json(made: EvictionPlan) -> dict[str, object]:
    return made.model_dump(mode="json", by_alias=True, exclude_none=True)


def _shape(document: Plan, moved: tuple[WorkloadChange, ...]) -> Course:
    """What the counts are compared with, before there are waves."""
    nothing = EvictionPlan(
        plan_id=document.plan_id,
        source=document.source,
        options=EvictionOptions(goals=("spread",), allowed=document.options.allowed),
        converges=True,
        checked_seeds=USUAL_SEEDS,
        convergence=Convergence(seeds=USUAL_SEEDS, gone=0, terminating=0),
        before=Situation(excess=document.excess_before, pending=0),
        after=Situation(excess=document.excess_after, pending=len(document.unplaced)),
        workloads=moved,
    )
    return rebalance_course(document, nothing)


def _document(document: Plan, found: _Steered, moved: tuple[WorkloadChange, ...]) -> EvictionPlan:
    seeds = len(found.tried.manners) // 2
    target = found.tried.target or Target(document.excess_after, len(document.unplaced))
    return EvictionPlan(
        plan_id=document.plan_id,
        source=document.source,
        options=EvictionOptions(goals=("spread",), allowed=document.options.allowed),
        evictions=tuple(eviction for _, eviction in planned_evictions(found)),
        waves=tuple(eviction_waves(found)),
        converges=True,
        checked_seeds=seeds,
        convergence=Convergence(seeds=seeds, gone=seeds, terminating=seeds),
        before=Situation(excess=document.excess_before, pending=0),
        after=Situation(excess=document.excess_after, pending=len(document.unplaced)),
        promised=Promised(excess=target.excess, waiting=target.waiting),
        workloads=moved,
    )


def _steps(cluster: Cluster, steps: Iterable[PlanStep], file: str) -> Iterator[Step]:
    """The steps by indexes; a pod or a node that is gone is drift."""
    for step in steps:
        if step.action in ("cordon", "uncordon"):
            continue
        node = step.to or step.node or ""
        index = cluster.pod_index.get(step.pod or "")
        if index is None or node not in cluster.node_index:
            what = step.pod if index is None else f"node {node}"
            raise RefusedError(f"{file} no longer holds: {what} is gone")
        yield Step(step.action, index, cluster.node_index[node])


def _refused(found: _Steered, document: Plan, order: Sequence[Step], most: int) -> RefusedError:
    real, names = found.aim.real, [node.name for node in found.aim.real.nodes]
    chosen = expected_nodes(found.tried)
    moves = [step for step in order if step.evicts and step.action == "move"]
    told: list[str] = []
    for step in moves:
        group = int(real.group_of[step.pod])
        nodes = sorted({n for (_, g), each in chosen.items() if g == group for n in each})
        others = [names[node] for node in nodes if node != step.node]
        if others:
            would = conjoined(others[:TOLD], "or")
            told.append(
                f"{real.pods[step.pod].name} would go to {would}, planned for {names[step.node]}"
            )
    at_once = f"{most} node{'' if most == 1 else 's'} at once ({100 // SHARE} %)"
    if told:
        listed = "; ".join(told[:TOLD]) + ("; ..." if len(told) > TOLD else "")
        what = f"{len(told)} of {document.evictions} moves: {listed}"
    else:
        good, seeds = found.tried.seeds_reached(terminating=True), len(found.tried.manners) // 2
        what = f"it ends in the promised counts in {good} of {seeds} seeds"
    return RefusedError(
        "kube-scheduler would not carry out this plan",
        detail=f"{what}\n      Cordons that prevent it: none within {at_once}.",
        help="planner evict --for spread looks for evictions that end well by themselves",
    )
