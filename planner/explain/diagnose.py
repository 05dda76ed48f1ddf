"""From a waiting pod to its diagnosis: evaluate, conflict, derivation, room, repairs, hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.missing_storage import missing_for
from planner.cluster.owners import WorkloadRef
from planner.disruption.movability import immovable
from planner.explain.conflicts.classes import FEW_NODES, node_classes, nodes_table, united
from planner.explain.conflicts.confirm import is_minimal, shrunk
from planner.explain.conflicts.conflict import lasting_conflict, minimal_conflicts
from planner.explain.conflicts.derive import Derivation, derive
from planner.explain.repairs import COSTS, MOST_BESIDE, Case, not_listed, repairs_for
from planner.explain.repairs.preemption import Displacement, displacement_by
from planner.explain.room.ending import named, waiting_sentence
from planner.explain.room.grid import grid
from planner.explain.room.moves import landing_nodes, rearranged
from planner.explain.room.rearrange import Limits, Room, make_room
from planner.explain.rules import rules_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import NARROWS, FieldPath, Rule, of_type
from planner.explain.situation.subject import Subject, subject_of
from planner.explain.wording.headline import cause, pigeonhole, short_cause, stuck
from planner.explain.wording.hints import hints, misleading
from planner.explain.wording.narrative import narrative
from planner.explain.wording.not_in_input import unknown_storage, without_volumes
from planner.explain.wording.waiting import out_of_queue, schedulable
from planner.scheduler.cycle import Evaluation
from planner.scheduler.preemption import event_message, preempt
from planner.scheduler.profile import Profile
from planner.words import amount, count_of, free_of
from planner_models.diagnosis import Conflict, Diagnosis, Rearrangement, Repair, RepairKind

NO_FEWER = "fewer evictions can't do"
NO_SEQUENCE = "no sequence of evictions helps"
ALL_SEARCHED = "all sequences were searched"
ABOUT_ROOM = frozenset((NO_FEWER, NO_SEQUENCE, ALL_SEARCHED))
"""What is proven about evictions; the other proofs of a diagnosis are about its conflict."""
WAITING = "waiting"
"""What helps pods that only have to wait until others have ended."""


@dataclass(frozen=True)
class ExplainOptions:
    """What the user may ask of an explanation."""

    limits: Limits = field(default_factory=Limits)
    costs: Mapping[RepairKind, int] = field(default_factory=lambda: COSTS)
    brief: bool = False
    """Only what a row of a table shows: no repairs beside evictions, no trial of ties."""
    repairs: bool = True
    """Whether changes are tried; without them only the reasons are told."""


def explain(
    subject: Subject,
    options: ExplainOptions,
    beside: Sequence[int] = (),
    room: Room | None = None,
) -> Diagnosis:
    """The same over a state that may serve several pods.

    `beside` are others that wait with it, `room` what is known about room for all of them.
    """
    found = out_of_queue(subject)
    if found is not None:
        return found
    evaluation = subject.scheduler.evaluate(subject.pod)
    rules = rules_of(subject)
    if len(evaluation.feasible):
        return schedulable(subject, evaluation, rules)
    unknown = unknown_storage(subject, rules, evaluation.message())
    if unknown is not None:
        return unknown
    if missing_for(subject.cluster.storage, subject.record):
        rules = without_volumes(rules)
    return _Refused(subject, evaluation, rules, options, tuple(beside), room).diagnosis()


@dataclass(frozen=True, eq=False)
class Explainer:
    """Subjects over one state, which all of them share."""

    cluster: Cluster
    profile: Profile
    options: ExplainOptions

    @cached_property
    def _first(self) -> Subject:
        return subject_of(self.cluster, self.profile, 0)

    def subject(self, pod: int) -> Subject:
        """One pod before the shared state."""
        return replace(self._first, pod=pod)

    def alone(self, pod: int) -> Diagnosis:
        """The pod by itself."""
        return explain(self.subject(pod), self.options)

    def explained(self, pod: int, room: Room) -> Diagnosis:
        """The pod by itself, where it is known already whether evictions make room."""
        return explain(self.subject(pod), self.options, room=room)

    def workload(self, pod: int) -> WorkloadRef:
        """Whose pod it is."""
        return self.cluster.workloads[int(self.cluster.group_of[pod])]

    def by_workload(self, pods: Sequence[int]) -> dict[WorkloadRef, list[int]]:
        """Pods of the same workload together, in the order given."""
        found: dict[WorkloadRef, list[int]] = {}
        for pod in pods:
            found.setdefault(self.workload(pod), []).append(pod)
        return found


@dataclass(frozen=True, eq=False)
class _Refused:
    """One diagnosis of a pod that no node takes, in the making."""

    subject: Subject
    evaluation: Evaluation
    rules: tuple[Rule, ...]
    options: ExplainOptions
    beside: tuple[int, ...] = ()
    known: Room | None = None
    """Room for all of several pods; what it takes is told by whoever asked."""

    def diagnosis(self) -> Diagnosis:
        """Everything that is known about it."""
        subject = self.subject
        conflicts, complete = self._conflicts()
        room = self.known or make_room(subject, self.rules, self.options.limits)
        best = self._told(conflicts, room)
        derivation = derive(subject, best)
        preemption = preempt(subject.scheduler, self.evaluation)
        displacement = displacement_by(subject, preemption)
        brief, beside = self.options.brief, self.beside[:MOST_BESIDE]
        case = Case(subject, self.rules, self.options.costs, beside, rollouts=not brief)
        untold = (brief and room.steps is not None) or not self.options.repairs
        repairs = () if untold else repairs_for(case)
        landing = {} if brief or self.known else landing_nodes(subject, room.steps or ())
        rearrangement = None if self.known else rearranged(subject, room, landing, brief=brief)
        if rearrangement is not None:
            repairs = (self._moving(rearrangement, room), *repairs)
        found = (*hints(subject, self.rules), *misleading(subject, self.rules, best))
        return Diagnosis(
            targets=(subject.key,),
            workloads=(subject.workload.short,),
            verdict=room.verdict,
            on_paper_only=room.on_paper_only,
            headline=self._headline(derivation, room, displacement),
            where=self._where(derivation),
            grid=grid(subject, best, () if self.known else room.steps or ()),
            narrative=(
                *(rule.bypassed() for rule in of_type(best, SpreadRule) if rule.missing.any()),
                *narrative(derivation, now=room.verdict == "stuck"),
            ),
            rearranging=self._rearranging(room, best, landing),
            counting=room.counting,
            rearrangement=rearrangement,
            conflicts=tuple(self._conflict(rules, minimal) for rules, minimal in conflicts),
            more_conflicts=not complete,
            repairs=repairs,
            hints=found,
            displaces=tuple(subject.cluster.pods[pod].key for pod in displacement.pods),
            displacing=self._displacing(displacement, room),
            node_classes=node_classes(self.rules, derivation),
            first_reasons=united(derivation) if subject.nodes.total >= FEW_NODES else (),
            nodes_table=nodes_table(subject, self.rules),
            message=self.evaluation.message(),
            event=event_message(self.evaluation, preemption),
            proof=self._proof(conflicts, room, best),
            short=short_cause(derivation) if derivation.steps else "refused",
            not_listed=()
            if not self.options.repairs
            else not_listed(case, impossible=room.counting is not None),
            remedy=_remedy(room, repairs),
        )

    def _conflicts(self) -> tuple[list[tuple[tuple[Rule, ...], bool]], bool]:
        """Minimal conflicts with whether that was confirmed; confirmed ones first."""
        found = minimal_conflicts(self.rules, self.subject.nodes.total)
        judged = [(rules, is_minimal(self.subject, rules)) for rules in found.sets]
        judged.sort(key=lambda pair: not pair[1])
        if judged and not judged[0][1]:
            other = shrunk(self.subject, self.rules)
            judged += [(other, True)] if other is not None else []
        return judged, found.complete

    def _told(
        self, conflicts: Sequence[tuple[tuple[Rule, ...], bool]], room: Room
    ) -> tuple[Rule, ...]:
        """The rules that the text is about: 'no eviction helps' has to follow from them."""
        best = conflicts[0][0] if conflicts else ()
        if room.counting is None or room.counting.kind != "static":
            return best
        return lasting_conflict(self.rules, best, self.subject.nodes.total)

    def _conflict(self, rules: tuple[Rule, ...], minimal: bool) -> Conflict:
        facts = []
        for step in derive(self.subject, rules).steps:
            everywhere = step.rule.phase == NARROWS or not step.before.any()
            facts.append(step.rule.fact(np.ones_like(step.before) if everywhere else step.before))
        return Conflict(constraints=tuple(facts), minimal=minimal)

    def _headline(self, derivation: Derivation, room: Room, displacement: Displacement) -> str:
        if not derivation.steps:
            return f"no node takes {self.subject.headline}"
        if room.counting is not None and room.counting.kind == "pigeonhole":
            return pigeonhole(self.subject, room.counting)
        if room.ending:
            return f"{self.subject.headline} waits for {named(self.subject, room.ending)} to end"
        if room.steps is not None:
            return stuck(derivation, room.evictions)
        text = cause(derivation)
        name = displacement.loser
        return f"{text}, unless a {name} pod gives way" if name else text

    def _where(self, derivation: Derivation) -> tuple[str, ...]:
        """Fields of the pod first; positions in one list are told together."""
        found: list[tuple[FieldPath, str]] = []
        for step in derivation.steps:
            everywhere = step.rule.phase == NARROWS
            path = step.rule.where(np.ones_like(step.before) if everywhere else step.before)
            if found and path.index is not None and found[-1][0].path == path.path:
                found[-1] = (path, f"{found[-1][1]} and [{path.index}]")
            else:
                found.append((path, str(path)))
        own = [text for path, text in found if path.path.startswith("spec.")]
        others = [text for path, text in found if not path.path.startswith("spec.")]
        if own:
            own[0] = f"{self.subject.key} {own[0]}"
        elif others:
            own = [self.subject.key]
        return (*own, *others)

    def _displacing(self, displacement: Displacement, room: Room) -> str:
        """A victim that could run elsewhere would be a rearrangement, and nothing impossible."""
        if len(displacement.pods) != 1 or room.counting is None:
            return displacement.text
        victim = self.subject.cluster.pods[displacement.pods[0]]
        if immovable(victim, self.options.limits.policy) is not None:
            return displacement.text
        return f"{displacement.text} It would stay pending: there is no room elsewhere."

    def _rearranging(
        self, room: Room, best: Sequence[Rule], landing: Mapping[int, Sequence[int]]
    ) -> tuple[str, ...]:
        if room.ending:
            return (waiting_sentence(self.subject, room.ending, room.evictions_then),)
        if room.counting is not None:
            return (self._in_all(best) * (room.counting.kind == "search") + room.counting.text,)
        if room.steps is None:
            few = f" At least {count_of(room.at_least, 'eviction')} would be needed." * (
                room.at_least > 1
            )
            return (f"Whether evictions help is not known: {room.limit}.{few}",)
        return self._elsewhere(room, landing)

    def _in_all(self, best: Sequence[Rule]) -> str:
        """`1200m CPU are free in all, but not together on one node. `, if only room is missing."""
        for room in of_type(best, CapacityRule) if len(best) == 1 else ():
            column = room.only_lacking(room.blocked)
            if column is None:
                continue
            name, need = room.names[column], int(room.request[column])
            free = int(np.maximum(room.free[:, column], 0).sum())
            if free >= need:
                return f"{free_of(name, free)} in all, but not {amount(name, need)} on one node. "
        return ""

    def _elsewhere(self, room: Room, landing: Mapping[int, Sequence[int]]) -> tuple[str, ...]:
        """`But batch pods could run on a1 or a2.`: what makes a pod stuck and not impossible."""
        steps = room.steps or ()
        evicted = {step.pod for step in steps if step.action == "evict"}
        back = [i for i, s in enumerate(steps) if s.action == "place" and s.pod in evicted]
        if len(back) != 1 or not landing.get(back[0]):
            return ()
        workload = self.subject.cluster.workloads[self._group(steps[back[0]].pod)]
        if workload == self.subject.workload:
            return ()
        where = self.subject.nodes.listed(self.subject.nodes.mask(landing[back[0]]), "or")
        return (f"But {workload.name} pods could run on {where}.",)

    def _group(self, pod: int) -> int:
        return int(self.subject.cluster.group_of[pod])

    def _moving(self, rearrangement: Rearrangement, room: Room) -> Repair:
        cluster, steps = self.subject.cluster, room.steps or ()
        evicted = ", ".join(cluster.pods[s.pod].name for s in steps if s.action == "evict")
        node = next(
            cluster.nodes[s.node].name for s in reversed(steps) if s.pod == self.subject.pod
        )
        return Repair(
            kind="movePods",
            object=evicted,
            cost=self.options.costs["movePods"] * room.evictions,
            moves=rearrangement.moves,
            then_nodes=(node,),
            text=f"evict {evicted}",
            then=f"then {node}",
        )

    def _proof(
        self,
        conflicts: Sequence[tuple[tuple[Rule, ...], bool]],
        room: Room,
        told: tuple[Rule, ...],
    ) -> tuple[str, ...]:
        texts = []
        if conflicts and told != conflicts[0][0]:
            texts.append("these rules refuse every node whatever is evicted")
        elif conflicts and conflicts[0][1]:
            number = len(conflicts[0][0])
            texts.append(
                "one rule alone is the conflict" if number == 1 else "the conflict is minimal"
            )
        elif conflicts:
            texts.append("the conflict is not proven minimal")
        counting = room.counting
        if counting is not None:
            if counting.kind == "search":
                texts.append(ALL_SEARCHED)
            elif counting.kind != "static":
                texts.append(NO_SEQUENCE)
        elif room.steps is not None and room.fewest:
            texts.append(NO_FEWER)
        return tuple(texts)


_NUMBERS: Mapping[RepairKind, str] = {"raiseMaxSkew": "maxSkew", "lowerMinDomains": "minDomains"}


def _remedy(room: Room, repairs: Sequence[Repair]) -> str:
    """What helps, as short as a table needs it."""
    if room.ending:
        return WAITING
    if room.steps is not None:
        return count_of(room.evictions, "eviction")
    if not repairs:
        return "-"
    first = repairs[0]
    if first.kind == "scale" and first.change is not None:
        return f"scale to {first.change.to}"
    if first.kind in _NUMBERS and first.change is not None:
        return f"{_NUMBERS[first.kind]} {first.change.to}"
    if first.kind == "lowerRequest" and first.change is not None:
        return f"{first.field.partition('.requests.')[2]} request {first.change.to}"
    return first.text.removeprefix("kubectl ")
