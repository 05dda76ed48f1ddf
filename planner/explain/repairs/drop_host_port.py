"""dropHostPort: the pod is reached through a Service, not through its node's port."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_ports import PortRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay
from planner.words import conjoined
from planner_models.pod import PodSpec


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """All host ports at once; pods on the host's own network have them by nature."""
    spec = case.subject.group.spec
    if not isinstance(rule, PortRule) or spec.host_network:
        return
    ports = conjoined([str(port) for port in rule.ports])
    yield Proposal(
        kind="dropHostPort",
        object=case.owner,
        field=rule.field,
        before=list(rule.ports),
        after=None,
        text=f"{case.subject.short}: drop hostPort {ports}",
        cost=case.costs["dropHostPort"],
        overlay=Overlay(edits=(_without_ports,)),
        restarts=case.restarts,
        notes=(case.rollout,),
        ops=case.ops(*_ops(spec)),
    )


def _ops(spec: PodSpec) -> Iterator[Op]:
    for field, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for c, container in enumerate(containers):
            for p, port in enumerate(container.ports):
                if port.host_port:
                    path = (field, c, "ports", p, "hostPort")
                    yield Op("remove", path, None, port.host_port)


def _without_ports(spec: PodSpec) -> PodSpec:
    """Container ports stay; only the node's are given up."""
    return spec.replace(
        containers=tuple(
            c.replace(ports=tuple(p.replace(host_port=0) for p in c.ports)) for c in spec.containers
        ),
        init_containers=tuple(
            c.replace(ports=tuple(p.replace(host_port=0) for p in c.ports))
            for c in spec.init_containers
        ),
    )
