"""What is left of a plan, tried on the cluster as it is now.

The same trials that the plan was made with, from another start: kube-scheduler chooses, under the
plan's tie seeds and orders of arrival. Cordons of our own are no part of the start. Those that a
wave holds for the next one stand until that one has set its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from planner.apply.course import Course, CourseWave
from planner.apply.objects import CORDON
from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances, allowances
from planner.disruption.node_lifecycle import with_condition_taints
from planner.documents.workload_changes import counts_per_domain
from planner.drain.find import without_pods
from planner.evictions.goals import GOALS, Aim, aim_of, drains, placed_at
from planner.evictions.repeated_trials import RepeatedTrials, Target
from planner.evictions.suggest import settled
from planner.replay.cordons import cordoned_node
from planner.replay.trial import Trial, TrialRun, WavePlan
from planner.replay.violations import Violation, total, violations
from planner.scheduler.profile import Profile
from planner.scheduler.promised import with_promised
from planner.words import count_of


@dataclass(frozen=True)
class Replayed:
    """In how many of `seeds` what is left ends as promised, and what keeps the others from it."""

    seeds: int
    holds: int
    why: str = ""
    refused: bool = False
    """By a budget, in each trial that failed."""

    @property
    def good(self) -> bool:
        """Whether every one does."""
        return self.holds == self.seeds


def without_our_cordons(cluster: Cluster, plan_id: str) -> Cluster:
    """The cluster as it is for whoever plans: what we have cordoned takes pods."""
    ours = {
        index: cordoned_node(node, False)
        for index, node in enumerate(cluster.nodes)
        if is_ours(node.metadata.annotations, plan_id)
    }
    return cluster.with_nodes(ours) if ours else cluster


def is_ours(annotations: dict[str, str], plan_id: str) -> bool:
    """Whether the plan has cordoned the node."""
    return annotations.get(CORDON, "").startswith(f"{plan_id}/")


class Measure:
    """What a course wants to be small, on any state of one cluster."""

    def __init__(self, course: Course, cluster: Cluster, profile: Profile) -> None:
        self._course = course
        self._profile = profile
        self.aim = _aim(course, cluster)
        self._about = groups_about(cluster, course.about)
        uids = {each.uid for each in course.departures}
        self._leaving = [i for i, pod in enumerate(cluster.pods) if pod.uid in uids]

    def breaks(self, groups: Collection[int], node_of: IntArray) -> bool:
        """Whether pods of these groups break a rule that counts."""
        wanted = self.aim.at(node_of)
        return any(
            int(wanted.group_of[pod]) in groups
            for each in violations(wanted, self._profile)
            if self._counts(each)
            for pod in each.pods
        )

    def excess(self, node_of: IntArray) -> int:
        """What the goals are missed by; of a drain, pods that are still there."""
        if self._course.command == "drain":
            return int(np.isin(node_of[self._leaving], self.aim.drained).sum())
        wanted = self.aim.at(node_of)
        return total(each for each in violations(wanted, self._profile) if self._counts(each))

    def _counts(self, each: Violation) -> bool:
        if not self.aim.anywhere and not drains(self.aim.wanted, each):
            return False
        groups = self.aim.wanted.group_of
        return self._about is None or any(int(groups[pod]) in self._about for pod in each.pods)


def _aim(course: Course, cluster: Cluster) -> Aim:
    goals = [goal for goal in GOALS if goal in course.goals]
    nodes = [cluster.node_index[name] for name in course.nodes if name in cluster.node_index]
    return aim_of(cluster, goals, nodes)


def groups_about(cluster: Cluster, about: Collection[str] | None) -> frozenset[int] | None:
    """The groups of the only workloads that count; None if all do."""
    if about is None:
        return None
    names = (f"{ref.namespace}/{ref.short}" for ref in cluster.workloads)
    return frozenset(group for group, name in enumerate(names) if name in about)


def excess_now(course: Course, cluster: Cluster, profile: Profile) -> int:
    """What the goals are missed by in the cluster as it is."""
    now = with_condition_taints(without_our_cordons(cluster, course.plan_id))
    return Measure(course, now, profile).excess(now.node_of)


def replay_rest(
    course: Course,
    rest: Sequence[CourseWave],
    cluster: Cluster,
    profile: Profile,
    held: Collection[str] = (),
    most_excess: int | None = None,
    *,
    budgets: bool = True,
) -> Replayed:
    """Carry the waves out in all manners; `held` nodes are cordoned when it begins.

    `most_excess` takes the place of what the plan promised. Without `budgets` nobody minds these.
    """
    now = with_condition_taints(without_our_cordons(cluster, course.plan_id))
    if not held:
        now = settled(with_promised(now, profile), profile)
    lost = [now.pod_index[d.pod] for wave in rest for d in wave.departures if d.lost]
    now = without_pods(now, lost)
    measure = Measure(course, now, profile)
    limits = allowances(now, course.max_unavailable) if budgets else Allowances((), now.group_of)
    promised = course.promised.excess if most_excess is None else most_excess
    target = Target(promised, allowed_waiting(course, now))
    index = now.node_index
    standing = tuple(sorted(index[name] for name in held if name in index))
    trials = _Trials(measure, profile, limits, target, course, standing)
    # A wave whose pods are all gone still lifts its cordons in the end.
    tried = trials.tried([_wave_plan(now, wave) for wave in rest])
    reached = zip(tried.manners, tried.reached, strict=True)
    failed = {manner.seed for manner, ended in reached if not ended}
    badly = tried.ending(well=False)
    why = _why(now, badly[0], target, measure) if badly else ""
    refused = bool(badly) and all(run.refused is not None for run in badly)
    return Replayed(course.seeds, course.seeds - len(failed), why, refused)


def _why(cluster: Cluster, run: TrialRun, target: Target, measure: Measure) -> str:
    """What went wrong in a trial, in words."""
    if run.refused is not None:
        return f"a budget would not let {cluster.pods[run.refused].name} go"
    if run.preempted:
        return f"{cluster.pods[run.preempted[0]].name} would be driven off"
    waiting = np.flatnonzero(run.node_of == PENDING).tolist()
    if len(waiting) > target.waiting:
        return f"{count_of(len(waiting), 'pod')} would wait ({cluster.pods[waiting[-1]].name})"
    left = measure.excess(run.node_of)
    if left > target.excess:
        return f"an excess of {left} would be left, and {target.excess} was promised"
    return "workloads would not be spread as promised"


def allowed_waiting(course: Course, now: Cluster) -> int:
    """How many pods may wait in the end: as many as promised, and those that came since and wait.

    Where nobody knows how many waited when the plan was made, as many as wait whatever we do.
    """
    touched = {(each.namespace, each.workload) for each in course.departures}
    refs = (now.workloads[int(now.group_of[pod])] for pod in now.pending.tolist())
    others = sum((ref.namespace, ref.short) not in touched for ref in refs)
    if course.waiting_before is None:
        return max(course.promised.waiting, others)
    return course.promised.waiting + max(0, others - course.waiting_before)


def _wave_plan(cluster: Cluster, wave: CourseWave) -> WavePlan:
    nodes = cluster.node_index
    cordons = (nodes[name] for name in wave.cordon if name in nodes)
    free = (node for node in cordons if not cluster.nodes[node].spec.unschedulable)
    pods = (cluster.pod_index[each.pod] for each in wave.departures if not each.lost)
    return WavePlan(tuple(pods), tuple(sorted(free)), wave.hold)


class _Trials(RepeatedTrials):
    """Trials that are measured as the plan was."""

    def __init__(
        self,
        measure: Measure,
        profile: Profile,
        budgets: Allowances,
        target: Target,
        course: Course,
        held: tuple[int, ...],
    ) -> None:
        super().__init__(measure.aim, profile, budgets, target, max(1, course.seeds))
        self._measure = measure
        self._held = held
        self._course = course

    def _trial(self, waves: Sequence[WavePlan]) -> Trial:
        pods = sorted(pod for wave in waves for pod in wave.evictions)
        return Trial(self.aim.real, self.profile, self.allowances, pods, held=self._held)

    def reached(self, node_of: IntArray) -> bool:
        """Also for a rebalance: the counts per domain that it promised."""
        if not super().reached(node_of):
            return False
        return not self._course.counts or keeps_counts(
            placed_at(self.aim.real, node_of), self._course
        )

    def excess(self, node_of: IntArray) -> int:
        """By the goals of the plan."""
        return self._measure.excess(node_of)


def keeps_counts(cluster: Cluster, course: Course) -> bool:
    """Whether the workloads that a rebalance moves are spread as it says."""
    waiting = {int(cluster.group_of[pod]) for pod in cluster.pending.tolist()}
    for each in course.counts:
        groups = [
            group
            for group, ref in enumerate(cluster.workloads)
            if (ref.namespace, ref.short) == (each.namespace, each.workload)
        ]
        if waiting.intersection(groups) and not each.unplaced:
            return False
        if each.topology_key is None:
            continue
        topology = cluster.topology(each.topology_key)
        counts = counts_per_domain(cluster, topology)[groups].sum(axis=0).tolist()
        now = dict(zip(topology.domains, counts, strict=True))
        if any(now.get(d, 0) != n for d, n in zip(each.domains, each.after, strict=True)):
            return False
    return True
