"""From a waiting pod to its diagnosis: evaluate, conflict, derivation, room, repairs, hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cluster import Cluster
from planner.disruption.movability import immovable
from planner.explain.conflicts.classes import FEW_NODES, node_classes, nodes_table, united
from planner.explain.conflicts.confirm import is_minimal, shrunk
from planner.explain.conflicts.conflict import minimal_conflicts
from planner.explain.conflicts.derive import Derivation, derive
from planner.explain.displacement import Displacement, displacement_by
from planner.explain.repairs import COSTS, MOST_BESIDE, Case, not_listed, repairs_for
from planner.explain.room.grid import grid
from planner.explain.room.moves import rearranged
from planner.explain.room.rearrange import Limits, Room, make_room
from planner.explain.rules import rules_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject, subject_of
from planner.explain.wording.headline import cause, pigeonhole, short_cause, stuck
from planner.explain.wording.hints import bypassed, hints, misleading
from planner.explain.wording.narrate import narrative
from planner.explain.wording.waiting import aside, schedulable
from planner.scheduler.cycle import Evaluation
from planner.scheduler.preemption import event_message, preempt
from planner.scheduler.profile import Profile
from planner.words import amount, amount_of, conjoined, count_of
from planner_models.diagnosis import (
    Conflict,
    Diagnosis,
    Rearrangement,
    Repair,
    RepairKind,
    Verdict,
)


@dataclass(frozen=True)
class ExplainOptions:
    """What the user may ask of an explanation."""

    limits: Limits = field(default_factory=Limits)
    costs: Mapping[RepairKind, int] = field(default_factory=lambda: COSTS)
    brief: bool = False
    """Only what a row of a table shows: no repairs beside evictions, no trial of ties."""


def explain_pod(
    cluster: Cluster, pod: int, profile: Profile, options: ExplainOptions | None = None
) -> Diagnosis:
    """Why this pod does not run, and what would let it."""
    return explain(subject_of(cluster, profile, pod), options or ExplainOptions())


def explain(
    subject: Subject,
    options: ExplainOptions,
    beside: Sequence[int] = (),
    room: Room | None = None,
) -> Diagnosis:
    """The same over a state that may serve several pods.

    `beside` are others that wait with it, `room` what is known about room for all of them.
    """
    found = aside(subject)
    if found is not None:
        return found
    evaluation = subject.scheduler.evaluate(subject.pod)
    rules = rules_of(subject)
    if len(evaluation.feasible):
        return schedulable(subject, evaluation, rules)
    return _Refused(subject, evaluation, rules, options, tuple(beside), room).diagnosis()


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
        best = conflicts[0][0] if conflicts else ()
        derivation = derive(subject, best)
        room = self.known or make_room(subject, self.rules, self.options.limits)
        verdict = _verdict(room)
        preemption = preempt(subject.scheduler, self.evaluation)
        displacement = displacement_by(subject, preemption)
        case = Case(subject, self.rules, self.options.costs, self.beside[:MOST_BESIDE])
        brief = self.options.brief
        repairs = () if brief and room.steps is not None else repairs_for(case)
        rearrangement = None if self.known else rearranged(subject, room, brief=brief)
        if rearrangement is not None:
            repairs = (self._moving(rearrangement), *repairs)
        many = subject.places.total >= FEW_NODES
        found = (*hints(subject, self.rules), *misleading(subject, self.rules, best))
        return Diagnosis(
            targets=(subject.key,),
            workloads=(subject.workload.short,),
            verdict=verdict,
            on_paper_only=room.on_paper_only,
            headline=self._headline(derivation, room, displacement),
            where=self._where(derivation),
            grid=grid(subject, best, () if self.known else room.steps or ()),
            narrative=(*self._bypassed(best), *narrative(derivation, now=verdict == "stuck")),
            rearranging=self._rearranging(room, best, rearrangement),
            counting=room.counting,
            rearrangement=rearrangement,
            conflicts=tuple(self._conflict(rules, minimal) for rules, minimal in conflicts),
            more_conflicts=not complete,
            repairs=repairs,
            hints=found,
            displaces=displacement.pods,
            displacing=self._displacing(displacement, room),
            node_classes=node_classes(subject, self.rules, derivation),
            first_reasons=united(subject, derivation) if many else (),
            nodes_table=nodes_table(subject, self.rules),
            message=self.evaluation.message(),
            event=event_message(self.evaluation, preemption),
            proof=self._proof(conflicts, room),
            short=short_cause(derivation) if derivation.steps else "refused",
            not_listed=not_listed(case, impossible=room.counting is not None),
            remedy=_remedy(room, repairs),
        )

    def _conflicts(self) -> tuple[list[tuple[tuple[Rule, ...], bool]], bool]:
        """Minimal conflicts with whether that was confirmed; confirmed ones first."""
        found = minimal_conflicts(self.rules, self.subject.places.total)
        judged = [(rules, is_minimal(self.subject, rules)) for rules in found.sets]
        judged.sort(key=lambda pair: not pair[1])
        if judged and not judged[0][1]:
            other = shrunk(self.subject, self.rules)
            judged += [(other, True)] if other is not None else []
        return judged, found.complete

    def _conflict(self, rules: tuple[Rule, ...], minimal: bool) -> Conflict:
        derivation = derive(self.subject, rules)
        facts = []
        for step in derivation.steps:
            left = step.before if step.before.any() else np.ones_like(step.before)
            facts.append(step.rule.fact(left if step.rule.stage else np.ones_like(left)))
        return Conflict(constraints=tuple(facts), minimal=minimal)

    def _bypassed(self, best: Sequence[Rule]) -> list[str]:
        """Nodes without a label come first: the rest of the derivation does not mention them."""
        found = [r for r in best if isinstance(r, SpreadRule) and r.missing.any()]
        return [bypassed(rule) for rule in found]

    def _headline(self, derivation: Derivation, room: Room, displacement: Displacement) -> str:
        if not derivation.steps:
            return f"no node takes {self.subject.headline}"
        if room.counting is not None and room.counting.kind == "pigeonhole":
            return pigeonhole(self.subject, room.counting)
        if room.steps is not None:
            return stuck(derivation, room.evictions)
        text = cause(derivation)
        name = displacement.loser
        return f"{text}, unless a {name} pod gives way" if name else text

    def _where(self, derivation: Derivation) -> tuple[str, ...]:
        texts: list[str] = []
        for step in derivation.steps:
            left = np.ones_like(step.before) if step.rule.stage == 0 else step.before
            text = step.rule.where(left)
            previous = texts[-1] if texts else ""
            stem, bracket, index = text.rpartition("[")
            if bracket and previous.startswith(stem + "[") and index.endswith("]"):
                texts[-1] = f"{previous} and [{index}"
            else:
                texts.append(text)
        texts.sort(key=lambda text: not text.startswith("spec."))
        if texts and texts[0].startswith("spec."):
            texts[0] = f"{self.subject.key} {texts[0]}"
        elif texts:
            texts.insert(0, self.subject.key)
        return tuple(texts)

    def _displacing(self, displacement: Displacement, room: Room) -> str:
        """A victim that could run elsewhere would be a rearrangement, and nothing impossible."""
        if len(displacement.pods) != 1 or room.counting is None:
            return displacement.text
        victim = self.subject.cluster.pods[self.subject.cluster.pod_index[displacement.pods[0]]]
        if immovable(victim, self.options.limits.policy) is not None:
            return displacement.text
        return f"{displacement.text} It would stay pending: there is no room elsewhere."

    def _rearranging(
        self, room: Room, best: Sequence[Rule], found: Rearrangement | None
    ) -> tuple[str, ...]:
        if room.counting is not None:
            return (self._in_all(best) * (room.counting.kind == "search") + room.counting.text,)
        if room.steps is None:
            few = f" At least {count_of(room.at_least, 'eviction')} would be needed." * (
                room.at_least > 1
            )
            return (f"Whether evictions help is not known: {room.limit}.{few}",)
        return self._elsewhere(found)

    def _in_all(self, best: Sequence[Rule]) -> str:
        """`1200m CPU are free in all, but not together on one node. `, if only room is missing."""
        room = best[0] if len(best) == 1 else None
        if not isinstance(room, CapacityRule):
            return ""
        lacking = room.lacking(room.blocked)
        free = int(np.maximum(room.free[:, lacking[0]], 0).sum())
        need = int(room.request[lacking[0]])
        if len(lacking) != 1 or free < need:
            return ""
        name = room.names[lacking[0]]
        return (
            f"{amount_of(name, free)} are free in all, but not {amount(name, need)} on one node. "
        )

    def _elsewhere(self, found: Rearrangement | None) -> tuple[str, ...]:
        """`But batch pods could run on a1 or a2.`: what makes a pod stuck and not impossible."""
        evicted = {step.pod for step in found.steps if step.action == "evict"} if found else set()
        back = [s for s in found.steps if s.action == "place" and s.pod in evicted] if found else []
        if len(back) != 1 or not back[0].any_of or back[0].pod is None:
            return ()
        cluster = self.subject.cluster
        group = int(cluster.group_of[cluster.pod_index[back[0].pod]])
        if cluster.workloads[group] == self.subject.workload:
            return ()
        where = back[0].any_of
        if " nodes" not in where and where != "any node":
            where = conjoined(where.split(" "), "or")
        return (f"But {cluster.workloads[group].name} pods could run on {where}.",)

    def _moving(self, rearrangement: Rearrangement) -> Repair:
        names = ", ".join(move.pod.partition("/")[2] for move in rearrangement.moves)
        nodes = [s.node for s in rearrangement.steps if s.pod == self.subject.key]
        return Repair(
            kind="movePods",
            object=names,
            cost=self.options.costs["movePods"] * rearrangement.evictions,
            moves=rearrangement.moves,
            then_nodes=tuple(nodes[-1:]),
            text=f"evict {names}",
            then=f"then {nodes[-1]}",
        )

    def _proof(
        self, conflicts: Sequence[tuple[tuple[Rule, ...], bool]], room: Room
    ) -> tuple[str, ...]:
        texts = []
        if conflicts and conflicts[0][1]:
            number = len(conflicts[0][0])
            texts.append(
                "one rule alone is the conflict" if number == 1 else "the conflict is minimal"
            )
        elif conflicts:
            texts.append("the conflict is not proven minimal")
        counting = room.counting
        if counting is not None:
            if counting.kind == "search":
                texts.append("all sequences were searched")
            elif counting.kind != "static":
                texts.append("no sequence of evictions helps")
        elif room.steps is not None and room.fewest:
            texts.append("fewer evictions can't do")
        return tuple(texts)


def _verdict(room: Room) -> Verdict:
    if room.steps is not None:
        return "stuck"
    return "impossible" if room.counting is not None else "undecided"


def _remedy(room: Room, repairs: Sequence[Repair]) -> str:
    """What helps, as short as a table needs it."""
    if room.steps is not None:
        return count_of(room.evictions, "eviction")
    if not repairs:
        return "-"
    first = repairs[0]
    if first.kind == "scale" and first.change is not None:
        return f"scale to {first.change.to}"
    if first.kind in ("raiseMaxSkew", "lowerMinDomains") and first.change is not None:
        return f"{first.field.rpartition('.')[2]} {first.change.to}"
    if first.kind == "lowerRequest" and first.change is not None:
        return f"{first.field.rpartition('.')[2]} request {first.change.to}"
    return first.text.removeprefix("kubectl ")
