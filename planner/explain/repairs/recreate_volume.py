"""recreateVolume: a claim starts empty where the pod may go. Destroys data; always last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import kubectl
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.rule import Rule
from planner.explain.rules.volumes import VolumeRule
from planner.explain.situation.overlay import Overlay
from planner_models.volume import PersistentVolumeClaim


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """The claims that pin the pod, made anew by a class that waits for the pod's node."""
    if not isinstance(rule, VolumeRule) or not rule.pins:
        return
    storage, namespace = case.subject.cluster.storage, case.subject.group.namespace
    for name in rule.claims:
        claim = storage.claims.get(f"{namespace}/{name}")
        if claim is None or not claim.spec.volume_name:
            continue
        found = storage.classes.get(claim.storage_class or "")
        if found is None or found.volume_binding_mode != "WaitForFirstConsumer":
            continue
        claims = {**storage.claims, claim.key: _unbound(claim)}
        volumes = {k: v for k, v in storage.volumes.items() if k != claim.spec.volume_name}
        yield Proposal(
            kind="recreateVolume",
            object=f"pvc/{name}",
            text=f"delete pvc/{name} and start empty",
            cost=case.costs["recreateVolume"],
            overlay=Overlay(storage=replace(storage, claims=claims, volumes=volumes)),
            data_loss=True,
            notes=("DESTROYS ITS DATA",),
            command=kubectl("-n", namespace, "delete", "pvc", name),
        )


def _unbound(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    metadata = claim.metadata.replace(annotations={})
    spec = claim.spec.replace(volume_name="", storage_class_name=claim.storage_class)
    status = claim.status.replace(phase="Pending")
    return claim.replace(metadata=metadata, spec=spec, status=status)
