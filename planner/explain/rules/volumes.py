"""VolumeBinding, VolumeZone, VolumeRestrictions and NodeVolumeLimits: one fact, the pod's volumes.

A bound volume pins the pod to the nodes that reach it. Claims that are unusable refuse every node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import NARROWS, Facts, FieldPath, Rule
from planner.explain.situation.subject import Subject
from planner.scheduler.framework.plugin import Status
from planner.words import conjoined
from planner_models.diagnosis import RuleKind

PLUGINS = ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone")
_PINNING = {
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) had no available volume zone",
}
_MADE = {"node(s) didn't find available persistent volumes to bind"}
"""Of a claim that waits for its first consumer: its class makes volumes in some places only."""


@dataclass(frozen=True, eq=False)
class VolumeRule(Rule):
    """What the pod's volumes leave; `reasons` are the plugins' own words."""

    claims: tuple[str, ...]
    reasons: tuple[str, ...]
    rejected: bool
    """Whether the claims themselves are unusable, wherever the pod goes."""

    kind: ClassVar[RuleKind] = "volumes"
    name: ClassVar[str] = "volume"
    phase: ClassVar[int] = NARROWS
    changeable: ClassVar[int] = 1
    leaving: ClassVar[str] = "its volumes leave"
    excluding: ClassVar[str] = "its volumes can't be used on {}"

    @property
    def reaches_only(self) -> bool:
        """Whether nodes are refused by where volumes are, or where they may be made."""
        return bool(self.reasons) and not self.rejected and set(self.reasons) <= _PINNING | _MADE

    @property
    def pins(self) -> bool:
        """Whether nothing but the place of bound volumes refuses nodes."""
        return bool(self.reasons) and set(self.reasons) <= _PINNING

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`The volume of data-db-2 lets db-2 go to eu-1a only (a1, a2).`"""
        claims = conjoined(self.claims)
        who = self.subject.name
        if self.rejected:
            return f"The volumes of {who} can't be used: {'; '.join(self.reasons)}."
        allowed = self.allowed
        noun = "volume" if len(self.claims) == 1 else "volumes"
        if not allowed.any():
            reasons = "; ".join(self.reasons)
            return f"The {noun} of {claims} let {who} go nowhere: {reasons}."
        verb = "lets" if len(self.claims) == 1 else "let"
        return f"The {noun} of {claims} {verb} {who} go to {self._where(allowed)}."

    def _where(self, allowed: BoolArray) -> str:
        zones = self.zones()
        names = self.subject.nodes.names(allowed)
        listed = f" ({', '.join(names)})" if len(names) <= 6 else ""
        if zones:
            return f"{conjoined(zones)} only{listed}"
        return f"{self.subject.nodes.describe(allowed)} only"

    def zones(self) -> list[str]:
        """The zones that are reached, if the volumes reach whole zones."""
        topology = self.subject.nodes.zones
        if topology is None or not self.allowed.any():
            return []
        inside = set(topology.domain_of[self.allowed].tolist())
        whole = np.isin(topology.domain_of, list(inside))
        if -1 in inside or not bool((whole == self.allowed).all()) or len(inside) > 3:
            return []
        return [topology.domains[i] for i in sorted(inside)]

    def domains_left(self, left: BoolArray) -> list[str]:
        """The zones that are reached."""
        return self.zones()

    def brief(self, left: BoolArray) -> str:
        """`volume is in eu-1a`, behind whose it is."""
        zones = self.zones()
        if self.rejected or not self.allowed.any():
            return "volumes can't be used"
        where = conjoined(zones) if zones else self.subject.nodes.describe(self.allowed)
        return f"volume is {'in' if zones else 'on'} {where}"

    def cell(self, node: int) -> str:
        """`volume elsewhere`."""
        return "volume out of reach" if self.pins else "volume"

    def facts(self) -> Facts:
        """The claims and kube-scheduler's reasons."""
        return {"claims": list(self.claims), "reasons": list(self.reasons)}

    def where(self, left: BoolArray) -> FieldPath:
        """`pvc/data-db-2 -> pv-db-2`."""
        storage, namespace = self.subject.cluster.storage, self.subject.group.namespace
        texts = []
        for name in self.claims:
            claim = storage.claims.get(f"{namespace}/{name}")
            bound = claim.spec.volume_name if claim is not None else ""
            texts.append(f"pvc/{name}" + (f" -> {bound}" if bound else ""))
        return FieldPath(", ".join(texts))


def find(subject: Subject) -> list[Rule]:
    """The verdicts of the four plugins together."""
    blocked = np.zeros(subject.nodes.total, np.bool_)
    reasons: set[str] = set()
    rejected = False
    for plugin in PLUGINS:
        result = subject.pre_filter(plugin)
        if result.rejection is not None:
            blocked[:] = True
            reasons.update(result.rejection.reasons)
            rejected = True
        elif result.filter is not None:
            verdicts = result.filter.verdicts()
            blocked |= verdicts != 0
            for verdict in np.unique(verdicts[verdicts != 0]).tolist():
                status: Status = result.filter.status(verdict)
                reasons.update(status.reasons)
    if not reasons:
        return []
    volumes = subject.state.volumes.of(subject.group)
    claims = tuple(entry.name for entry in volumes.claims) if volumes is not None else ()
    return [VolumeRule(subject, "spec.volumes", blocked, claims, tuple(sorted(reasons)), rejected)]
