"""A change that might help: what it changes on a copy, what it costs, how it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack

from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.disruption.ordinals import ordinal_of
from planner.explain.conflicts.conflict import blocked_by
from planner.explain.repairs.commands import (
    PATCHABLE,
    Op,
    diff_of,
    merged_selectors,
    patched,
    target_of,
)
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay, SpecEdit, state_under
from planner.explain.situation.subject import Subject, subject_over
from planner.explain.situation.trial_state import place_in_turn
from planner.repair_costs import COSTS
from planner.words import count_of
from planner_models.diagnosis import RepairKind
from planner_models.pod import Container, Pod, PodSpec
from planner_models.quantity import NANO
from planner_models.resources import CPU
from planner_models.workload import StatefulSet


class SpecChange(TypedDict, total=False):
    """What some changes of a spec have beside the others; see `Proposal`."""

    before: JsonValue
    after: JsonValue
    extra: int
    """What it costs more than its kind."""
    notes: tuple[str, ...]
    """Instead of what changing the spec brings with it."""
    grown: Callable[[int], Proposal]


MOST_BESIDE = 9
"""Pods beside the first that a change is judged for."""


@dataclass(frozen=True, eq=False)
class Case:
    """The pod, the rules against it, and what changes cost."""

    subject: Subject
    rules: tuple[Rule, ...]
    costs: Mapping[RepairKind, int] = field(default_factory=lambda: COSTS)
    beside: tuple[int, ...] = ()
    """Pods of the same workload that wait with it and should run as well."""
    rollouts: bool = True
    """Whether the rollouts that changes bring with them are tried, too."""

    def refused_only_by(self, rule: Rule) -> BoolArray:
        """The nodes that this rule refuses and no other."""
        refusing = blocked_by(self.rules, self.subject.nodes.total)
        found: BoolArray = refusing == 1 << self.rules.index(rule)
        return found

    def running_with(self, overlay: Overlay) -> int:
        """How many of the pods that wait find a node one after the other under a change."""
        state = state_under(self.subject, replace(overlay, rollout=bool(overlay.edits)))
        changed = subject_over(state, self.subject.profile, self.subject.pod)
        return len(place_in_turn(changed, (self.subject.pod, *self.beside)).placed)

    @property
    def restarts(self) -> int:
        """The pods that a changed template rolls out."""
        return self.subject.replicas

    @property
    def rollout(self) -> str:
        """What changing the pod's spec brings with it."""
        subject = self.subject
        if subject.bare:
            merged = merged_selectors(subject.record.spec)
            return f"recreate {subject.name}{' from its own manifest' if merged else ''}"
        if subject.workload.kind == "Job":
            return f"recreate job/{subject.workload.name}"
        if subject.workload.kind in ("ReplicaSet", "ReplicationController"):
            return "for new pods; delete the old ones"
        rolled = f"rolls out {count_of(subject.replicas, 'pod')}"
        if self.held_back:
            return f"lower partition {self.held_back} first: below it the old template stays"
        if subject.workload.kind == "StatefulSet":
            waiting = "those that wait are" if self.beside else f"{subject.name} is"
            return f"{rolled} once {waiting} deleted"
        return rolled

    @cached_property
    def held_back(self) -> int:
        """The partition of a rolling update that keeps the pod on the old template; 0 if none.

        A StatefulSet makes pods below it from the old revision again, also those that are deleted.
        """
        found = self.subject.cluster.owners.controllers.get(self.subject.workload)
        number = ordinal_of(self.subject.name)
        if not isinstance(found, StatefulSet) or number is None:
            return 0
        strategy = found.spec.update_strategy
        rolling = strategy.rolling_update if strategy.type == "RollingUpdate" else None
        partition = rolling.partition if rolling is not None else 0
        return partition if number < found.spec.ordinals.start + partition else 0

    def to_delete(self, *, all_at_once: bool) -> tuple[str, ...]:
        """Pods that their controller does not replace by itself after a change of its template.

        A StatefulSet waits for a pod that isn't ready before it replaces any, itself included;
        ReplicaSets and ReplicationControllers leave the pods they have alone.
        """
        subject, cluster = self.subject, self.subject.cluster
        kind = subject.workload.kind
        stays = kind in _LEFT_ALONE or (all_at_once and kind == "DaemonSet")
        if not stays or target_of(subject.workload, subject.record)[0] == "deploy":
            return ()
        pods = subject.replica_pods if all_at_once else (subject.pod, *self.beside)
        return tuple(cluster.pods[index].name for index in pods)

    @property
    def owner(self) -> str:
        """Whose spec is changed."""
        subject = self.subject
        return f"pod/{subject.name}" if subject.bare else subject.workload.short

    @cached_property
    def template(self) -> PodSpec:
        """The spec that a patch is applied to: the controller's, if the input has it."""
        controllers = self.subject.cluster.owners.controllers
        found = controllers.get(self.subject.workload)
        return self.subject.record.spec if found is None else found.spec.template.spec

    def spec_change(
        self,
        kind: RepairKind,
        field: str,
        text: str,
        edits: Sequence[SpecEdit],
        ops: Sequence[Op],
        **more: Unpack[SpecChange],
    ) -> Proposal:
        """A change of the pod's spec, or of the template it was made from.

        `edits` change a copy of it, `ops` are the same as a patch.
        """
        return Proposal(
            kind=kind,
            object=self.owner,
            field=field,
            before=more.get("before"),
            after=more.get("after"),
            text=text,
            cost=self.costs[kind] + more.get("extra", 0),
            overlay=Overlay(edits=tuple(edits)),
            restarts=self.restarts,
            notes=more.get("notes", (self.rollout,)),
            ops=tuple(ops) if self._patchable(ops) else (),
            grown=more.get("grown"),
        )

    def _patchable(self, ops: Sequence[Op]) -> bool:
        """Whether the template reaches the pod, and has what the pod has.

        A rollout may be under way already.
        """
        if self.held_back:
            return False
        spec = self.subject.group.spec
        fields = [_ATTRIBUTES.get(str(op.path[0])) for op in ops]
        return all(
            _as_stored(getattr(self.template, name)) == getattr(spec, name)
            for name in fields
            if name
        )


def _as_stored(field: object) -> object:
    """A field of a template as pods have it: the API server takes requests from limits."""
    if not isinstance(field, tuple) or not all(isinstance(each, Container) for each in field):
        return field
    return tuple(
        each.replace(
            resources=each.resources.replace(
                requests={**each.resources.limits, **each.resources.requests}
            )
        )
        for each in field
    )


_ATTRIBUTES = {
    "topologySpreadConstraints": "topology_spread_constraints",
    "affinity": "affinity",
    "nodeSelector": "node_selector",
    "containers": "containers",
    "initContainers": "init_containers",
    "resources": "resources",
}
"""Fields of a pod spec that positions of a patch depend on."""


_LEFT_ALONE = frozenset(("StatefulSet", "ReplicaSet", "ReplicationController"))
"""Kinds whose waiting pods stay as they are when the template changes."""


def unit_of(resource: str) -> int:
    """The nano units of the objects in one unit of our tables: milli-CPU, or a whole one."""
    return 10**6 if resource == CPU else NANO


@dataclass(frozen=True, eq=False)
class Proposal:
    """A change before it is judged."""

    kind: RepairKind
    object: str
    text: str
    cost: int
    overlay: Overlay
    field: str = ""
    before: JsonValue = None
    after: JsonValue = None
    restarts: int = 0
    data_loss: bool = False
    notes: tuple[str, ...] = ()
    ops: tuple[Op, ...] = ()
    """The change of a spec as a patch."""
    owner: tuple[WorkloadRef, Pod] | None = None
    """Whose spec the patch is for, if not the pod's own."""
    delete: tuple[str, ...] = ()
    """Pods of that owner which it would leave as they are."""
    command: str | None = None
    """What to run, if it is no patch of a spec."""
    judged_for: Literal["pod", "rollout"] = "pod"
    all_at_once: bool = False
    """The old replicas have to be gone before the new ones find a node."""
    then: str = ""
    """How the effect reads, if not by the nodes that then take the pod."""
    parts: tuple[Proposal, ...] = ()
    grown: Callable[[int], Proposal] | None = None
    """The same change, so many steps further, where one step is not enough for all pods."""

    def joined(self, other: Proposal, extra: int) -> Proposal:
        """Both changes together."""
        parts = (*(self.parts or (self,)), *(other.parts or (other,)))
        if self.overlay.rollout or other.overlay.rollout:
            parts = tuple(replace(p, judged_for="rollout") if p.overlay.edits else p for p in parts)
        notes = dict.fromkeys(note for part in parts for note in part.notes)
        return replace(
            self,
            kind="combined",
            object=", ".join(dict.fromkeys(part.object for part in parts)),
            text=" and ".join(part.text for part in parts),
            cost=sum(part.cost for part in parts) + extra,
            overlay=self.overlay | other.overlay,
            field=", ".join(part.field for part in parts if part.field),
            before=None,
            after=None,
            restarts=max(part.restarts for part in parts),
            data_loss=any(part.data_loss for part in parts),
            notes=tuple(notes),
            ops=(),
            command=None,
            judged_for="rollout" if self.overlay.rollout or other.overlay.rollout else "pod",
            all_at_once=any(part.all_at_once for part in parts),
            then="",
            parts=parts,
            grown=None,
        )

    def command_for(self, case: Case) -> str | None:
        """What to run; of a combined change all of it, or nothing."""
        if not self.parts and self.command is None and self.owner is not None:
            return patched(*self.owner, self.ops, delete=self.delete)
        if not self.parts:
            return self.command or self._patched(case, self.ops)
        mine = [part for part in self.parts if part.ops and part.owner is None]
        together = self._patched(case, [op for p in mine for op in p.ops])
        others = [part.command_for(case) for part in self.parts if part not in mine]
        commands = [*others, *([together] if mine else [])]
        return None if None in commands else " && ".join(c for c in commands if c)

    def _patched(self, case: Case, ops: Sequence[Op]) -> str | None:
        """Of the pod's own workload, with what its controller does not do by itself."""
        delete = case.to_delete(all_at_once=self.all_at_once)
        subject = case.subject
        return patched(
            subject.workload, subject.record, ops, all_at_once=self.all_at_once, delete=delete
        )

    def diff_for(self, case: Case) -> str:
        """The change of an object that can't be patched in its place."""
        subject = case.subject
        ops = [op for part in (self.parts or (self,)) for op in part.ops if part.owner is None]
        if not ops or (subject.workload.kind in PATCHABLE and self.command_for(case)):
            return ""
        return diff_of(subject.workload, subject.record, ops)


Changes = Mapping[type[Rule], tuple[Callable[[Case, Any, BoolArray], Iterator[Proposal]], ...]]
"""Functions that propose changes, by the kind of rule that each of them takes."""
