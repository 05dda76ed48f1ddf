"""Changes to what single nodes refuse: taints, cordons, host ports, volumes that are elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op, kubectl, rehearsed
from planner.explain.repairs.node_conditions import is_condition, recover
from planner.explain.repairs.proposal import Case, Changes, Proposal
from planner.explain.rules.node_ports import PortRule
from planner.explain.rules.node_unschedulable import CordonRule
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.rules.volumes import VolumeRule
from planner.explain.situation.overlay import Overlay, uncordoned
from planner.words import conjoined
from planner_models.pod import Container, PodSpec
from planner_models.taints import Taint, Toleration
from planner_models.volume import PersistentVolumeClaim

MOST_CORDONS = 6


def add_toleration(case: Case, rule: TaintRule, nodes: BoolArray) -> Iterator[Proposal]:
    """One proposal for each distinct set of taints that these nodes have and that say whom for."""
    seen: set[tuple[Taint, ...]] = {()}
    for node in np.flatnonzero(nodes).tolist():
        taints = tuple(taint for taint, where in rule.nodes_of.items() if where[node])
        if taints not in seen:
            seen.add(taints)
            if not any(is_condition(taint) for taint in taints):
                yield _tolerating(case, taints)


def _tolerating(case: Case, taints: tuple[Taint, ...]) -> Proposal:
    added = [Toleration(key=t.key, value=t.value, effect=t.effect) for t in taints]
    written: list[JsonValue] = [
        {"key": t.key, "operator": "Equal", "value": t.value, "effect": t.effect} for t in taints
    ]
    names = [f"{t.key}={t.value}" if t.value else t.key for t in taints]
    ops = (
        [Op("add", ("tolerations", "-"), each) for each in written]
        if case.template.tolerations
        else [Op("add", ("tolerations",), list(written))]
    )
    return case.spec_change(
        "addToleration",
        "spec.tolerations",
        f"tolerate {conjoined(names)}",
        [lambda spec: spec.replace(tolerations=(*spec.tolerations, *added))],
        ops,
        after=list(written),
        extra=2 * (len(taints) - 1),
    )


def uncordon(case: Case, rule: CordonRule, nodes: BoolArray) -> Iterator[Proposal]:
    """Each of these nodes, the first few; the cordon and its own taint go together."""
    for index in np.flatnonzero(nodes).tolist()[:MOST_CORDONS]:
        node = case.subject.cluster.nodes[index]
        command = kubectl("uncordon", node.name)
        yield Proposal(
            kind="uncordon",
            object=f"node/{node.name}",
            field="spec.unschedulable",
            before=True,
            after=False,
            text=command,
            cost=case.costs["uncordon"],
            overlay=Overlay(nodes={index: uncordoned(node)}),
            command=command,
        )


def drop_host_port(case: Case, rule: PortRule, nodes: BoolArray) -> Iterator[Proposal]:
    """The pod is reached through a Service, not through its node's port.

    All host ports at once; pods on the host's own network have them by nature.
    """
    spec = case.subject.group.spec
    if not spec.host_network:
        ports = conjoined([str(port) for port in rule.ports])
        yield case.spec_change(
            "dropHostPort",
            rule.field,
            f"{case.subject.short}: drop hostPort {ports}",
            [_without_host_ports],
            [*_port_ops(spec)],
            before=list(rule.ports),
        )


def _port_ops(spec: PodSpec) -> Iterator[Op]:
    lists = (("containers", spec.containers), ("initContainers", spec.init_containers))
    for field, containers in lists:
        for c, container in enumerate(containers):
            for p, port in enumerate(container.ports):
                if port.host_port:
                    yield Op("remove", (field, c, "ports", p, "hostPort"), None, port.host_port)


def _without_host_ports(spec: PodSpec) -> PodSpec:
    """Container ports stay; only the node's are given up."""

    def without(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        ports = (tuple(p.replace(host_port=0) for p in c.ports) for c in containers)
        return tuple(c.replace(ports=left) for c, left in zip(containers, ports, strict=True))

    return spec.replace(
        containers=without(spec.containers), init_containers=without(spec.init_containers)
    )


def recreate_volume(case: Case, rule: VolumeRule, nodes: BoolArray) -> Iterator[Proposal]:
    """The claims that pin the pod, made anew by a class that waits for the pod's node.

    Destroys data, and therefore always comes last.
    """
    storage, namespace = case.subject.cluster.storage, case.subject.group.namespace
    for name in rule.claims if rule.pins else ():
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
            command=rehearsed(kubectl("-n", namespace, "delete", "pvc", name)),
        )


def _unbound(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    metadata = claim.metadata.replace(annotations={})
    spec = claim.spec.replace(volume_name="", storage_class_name=claim.storage_class)
    status = claim.status.replace(phase="Pending")
    return claim.replace(metadata=metadata, spec=spec, status=status)


CHANGES: Changes = {
    TaintRule: (recover, add_toleration),
    CordonRule: (uncordon,),
    PortRule: (drop_host_port,),
    VolumeRule: (recreate_volume,),
}
"""What lets a single node pass."""
