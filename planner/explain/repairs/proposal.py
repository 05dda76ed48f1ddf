"""A change that might help: what it changes on a copy, what it costs, how it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from pydantic import JsonValue

from models.diagnosis import RepairKind
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import SHORT
from planner.explain.conflict import blocked_by
from planner.explain.overlay import Overlay
from planner.explain.rules.rule import Rule
from planner.explain.subject import Subject

COSTS: Mapping[RepairKind, int] = MappingProxyType(
    {
        "labelNode": 10,
        "uncordon": 15,
        "movePods": 20,
        "freeCapacity": 30,
        "preemptionPolicy": 35,
        "scale": 40,
        "lowerMinDomains": 50,
        "nodeTaintsPolicy": 55,
        "nodeAffinityPolicy": 58,
        "lowerRequest": 60,
        "raiseMaxSkew": 70,
        "addToleration": 75,
        "deletePod": 80,
        "scheduleAnyway": 90,
        "addNode": 95,
        "relaxAffinity": 100,
        "relaxAntiAffinity": 105,
        "recreateVolume": 1000,
        "combined": 5,
    }
)
"""What a change costs, by how much it gives up: an act that restarts nothing is cheapest, then a
number in a rule, then giving up a rule; losing data comes last. A combined change costs the sum of
its parts and 5 more; maxSkew 2 more for each step beyond the first."""


@dataclass(frozen=True, eq=False)
class Case:
    """The pod, the rules against it, and what changes cost."""

    subject: Subject
    rules: tuple[Rule, ...]
    costs: Mapping[RepairKind, int] = field(default_factory=lambda: COSTS)

    def refused_by(self, rules: tuple[Rule, ...]) -> BoolArray:
        """The nodes that exactly these rules refuse."""
        wanted = sum(1 << self.rules.index(rule) for rule in rules)
        found: BoolArray = blocked_by(self.rules, self.subject.places.total) == wanted
        return found

    @property
    def restarts(self) -> int:
        """The pods that a changed template rolls out."""
        return self.subject.replicas

    @property
    def rollout(self) -> str:
        """What changing the pod's spec brings with it."""
        subject = self.subject
        if subject.bare:
            return f"recreate {subject.name}"
        if subject.workload.kind == "Job":
            return f"recreate job/{subject.workload.name}"
        return f"rolls out {subject.replicas} pod{'' if subject.replicas == 1 else 's'}"

    @property
    def owner(self) -> str:
        """Whose spec is changed."""
        subject = self.subject
        return f"{subject.workload.short}" if not subject.bare else f"pod/{subject.name}"

    def patch(self, path: str, value: JsonValue, op: str = "replace") -> str | None:
        """A command for the workload's template; the spec of a bare pod or a Job is immutable."""
        workload = self.subject.workload
        if workload.kind in ("Pod", "Job"):
            return None
        import json

        body: dict[str, JsonValue] = {"op": op, "path": f"/spec/template/spec/{path}"}
        if op != "remove":
            body["value"] = value
        kind = SHORT.get(workload.kind, workload.kind.lower())
        return (
            f"kubectl -n {workload.namespace} patch {kind} {workload.name} --type=json "
            f"-p '{json.dumps([body], separators=(',', ':'))}'"
        )


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
    command: str | None = None
    judged_for: Literal["pod", "rollout"] = "pod"
    then: str = ""
    """How the effect reads, if not by the nodes that then take the pod."""
    parts: tuple[Proposal, ...] = ()

    def joined(self, other: Proposal, extra: int) -> Proposal:
        """Both changes together."""
        parts = (*(self.parts or (self,)), *(other.parts or (other,)))
        rollouts = {note for part in parts for note in part.notes}
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
            notes=tuple(sorted(rollouts)),
            command=None,
            then="",
            parts=parts,
        )
