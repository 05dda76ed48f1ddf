"""What kube-scheduler's queue makes of everything that is pending.

A pod that no node takes now may run once another pending pod does, to which it has an affinity or
which evens out a spread. And a pod that a node takes now may find it taken when its turn comes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from planner.disruption.movability import Movability
from planner.explain.diagnose import ABOUT_ROOM, WAITING, Explainer, explain
from planner.explain.room.ending import leaving_soon, named, waiting_sentence
from planner.explain.room.rearrange import Room, room_for
from planner.explain.situation.subject import Subject, subject_of
from planner.explain.situation.trial_state import trial_state
from planner.scheduler.simulate import PodResult, SimulationRun, simulate
from planner.words import NAMED, conjoined, count_of
from planner_models.diagnosis import Diagnosis
from planner_models.pod import Pod


@dataclass(frozen=True, eq=False)
class PendingTogether:
    """All pending pods of the cluster, placed in the order of the queue, ties by name."""

    explainer: Explainer

    @cached_property
    def _run(self) -> SimulationRun:
        return simulate(self.explainer.cluster, (self.explainer.profile,))

    @cached_property
    def _results(self) -> dict[int, PodResult]:
        return {result.pod: result for result in self._run.results}

    @cached_property
    def _placed(self) -> dict[int, int]:
        return {r.pod: r.node for r in self._run.results if r.node is not None}

    def left_of(self, pods: Sequence[int]) -> list[int]:
        """Those that found no node when their turn came."""
        tried = [self._results[pod] for pod in pods if pod in self._results]
        return [result.pod for result in tried if result.outcome == "unschedulable"]

    def judged(self, pods: Sequence[int], alone: Diagnosis) -> Diagnosis:
        """The diagnosis of one workload's pods, which is known without the others."""
        if alone.verdict == "gated":
            return alone
        if alone.remedy == WAITING:
            return self.once_others_ended(pods, alone)
        left = self.left_of(pods)
        before = len(pods) if alone.without_node is None else alone.without_node
        if len(left) == (0 if alone.verdict == "schedulable" else before):
            return alone
        return self._left_over(pods, left) if left else self.after_others(pods, alone)

    def with_those_before(self, pods: Sequence[int], alone: Diagnosis) -> Diagnosis:
        """Pods that nodes take now, and whether other pending pods leave them these nodes."""
        pending = set(self.explainer.cluster.pending.tolist())
        mine = pending.intersection(pods)
        left = self._left_in_turn(pods, mine) if mine and mine != pending else []
        if not left:
            return alone
        have = "has" if len(left) == 1 else "have"
        which = "it has" if len(pods) == 1 else f"{len(left)} of these {len(pods)} pods {have}"
        text = (
            f"But beside the other pending pods, in the order of the queue, {which} no node: "
            "planner explain --all-pending says why."
        )
        return alone.model_copy(update={"narrative": (*alone.narrative, text)})

    def _left_in_turn(self, pods: Sequence[int], pending: Collection[int]) -> list[int]:
        """What `left_of` says, without the turns of others once all of these have a node."""
        run = simulate(self.explainer.cluster, (self.explainer.profile,), until=pending)
        left = {each.pod for each in run.unschedulable}
        return [pod for pod in pods if pod in left]

    def once_others_ended(self, pods: Sequence[int], alone: Diagnosis) -> Diagnosis:
        """Pods that wait for terminating ones to end, whose room others may take before them."""
        subject = self.explainer.subject(pods[0])
        ending = leaving_soon(subject)
        then = self.explainer.cluster.without(ending)
        later = PendingTogether(replace(self.explainer, cluster=then))
        left = later.left_of(pods) if ending else []
        if not left or later._placed.keys() <= set(pods):
            return alone
        found = later._left_over(pods, left)
        have = "has" if len(ending) == 1 else "have"
        text = f"Once {named(subject, ending)} {have} ended, beside the other pending pods:"
        return found.model_copy(update={"narrative": (text, *found.narrative)})

    def after_others(self, pods: Sequence[int], alone: Diagnosis) -> Diagnosis:
        """Schedulable, if each of these pods that no node takes now has its turn after others."""
        if alone.verdict in ("schedulable", "gated") or not all(p in self._placed for p in pods):
            return alone
        cluster = self.explainer.cluster
        who = self.explainer.subject(pods[0]).headline
        if len(pods) > 1:
            who = f"all {count_of(len(pods), f'{self.explainer.workload(pods[0]).name} pod')}"
        others = conjoined(self._needed(pods))
        nodes = tuple(dict.fromkeys(cluster.nodes[self._placed[pod]].name for pod in pods))
        listed = conjoined(nodes) if len(nodes) <= NAMED else count_of(len(nodes), "node")
        verb = "takes" if len(nodes) == 1 else "take"
        return Diagnosis(
            targets=alone.targets,
            workloads=alone.workloads,
            verdict="schedulable",
            headline=f"{listed} {verb} {who} after {others}",
            where=alone.where,
            narrative=(
                *alone.narrative,
                f"But {others} {'is' if others.count('/') == 1 else 'are'} pending, too: "
                "kube-scheduler tries again as soon as a pod of it has a node.",
            ),
            feasible_nodes=nodes,
            hints=alone.hints,
            message=alone.message,
            short=f"after {others}",
            remedy="-",
            without_node=0,
        )

    def _needed(self, pods: Sequence[int]) -> list[str]:
        """Workloads without whose pods not all of these would have a node."""
        explainer = self.explainer
        mine = set(pods)
        others = [pod for pod in self._placed if pod not in mine]
        state, scheduler = trial_state(explainer.subject(pods[0]), self._placed)
        for pod in others:
            state.place(pod, self._placed[pod])

        def all_placed() -> bool:
            landed = []
            for pod in (each for each in self._placed if each in mine):
                if not len(scheduler.evaluate(pod).feasible):
                    break
                state.place(pod, self._placed[pod])
                landed.append(pod)
            for pod in landed:
                state.remove(pod)
            return len(landed) == len(pods)

        needed = []
        for workload, theirs in explainer.by_workload(others).items():
            for pod in theirs:
                state.remove(pod)
            if all_placed():
                continue
            for pod in theirs:
                state.place(pod, self._placed[pod])
            needed.append(workload.short)
        return needed

    def _left_over(self, pods: Sequence[int], left: Sequence[int]) -> Diagnosis:
        """Why the first of them has no node when all others that have one are there."""
        explainer, cluster = self.explainer, self.explainer.cluster
        subject = subject_of(self._run.final, explainer.profile, left[0])
        last = explain(subject, explainer.options, left[1:])
        name = explainer.workload(pods[0]).short
        number = f"{len(left)} of {count_of(len(pods), 'pod')}"
        subjects = name if len(pods) == 1 else f"{number} of {name}"
        verb = "has" if len(left) == 1 else "have"
        text = f"{subjects} {verb} no node beside the other pending pods: {last.headline}"
        changes: dict[str, object] = {
            "targets": tuple(cluster.pods[pod].key for pod in pods),
            "headline": text,
            "without_node": len(left),
        }
        if last.verdict == "impossible" and not self._may_go_again():
            changes |= self._otherwise_placed(left[0], last)
        return last.model_copy(update=changes)

    def _may_go_again(self) -> bool:
        """Whether a proof about evictions covers all other ways to place the pending pods."""
        movability = Movability(self._run.final, self.explainer.options.limits.policy)
        return all(movability.why(pod) is None for pod in self._placed)

    def _otherwise_placed(self, pod: int, last: Diagnosis) -> dict[str, object]:
        """Pods that can't be evicted once they run could have been placed elsewhere at first."""
        explainer = self.explainer
        pods = [*self._placed, pod]
        subject = explainer.subject(pod)
        room = room_for(subject, pods, explainer.options.limits)
        if room.counting is not None:
            return {}
        return {
            "verdict": "stuck" if room.ending else "undecided",
            "counting": None,
            "rearranging": (_unknown(subject, room),),
            "proof": tuple(text for text in last.proof if text not in ABOUT_ROOM),
        }


def _unknown(subject: Subject, room: Room) -> str:
    if room.ending:
        return waiting_sentence(subject, room.ending, room.evictions_then)
    if room.steps is None:
        return f"Whether all of them fit in another way is not known: {room.limit}."
    if not room.evictions:
        return "All of them fit, but not where kube-scheduler puts the first ones (ties by name)."
    return f"All of them fit after {count_of(room.evictions, 'eviction')} of running pods."


def depends_on_others(pod: Pod) -> bool:
    """Whether another pod's arrival can open a node: by required affinity, or by a hard spread."""
    wanted = bool(pod.spec.affinity.pod_affinity.required)
    spread = pod.spec.topology_spread_constraints
    return wanted or any(each.when_unsatisfiable == "DoNotSchedule" for each in spread)
