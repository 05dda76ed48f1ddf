"""NodePorts: a host port that another pod of the node holds already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule
from planner.explain.situation.subject import Subject
from planner.words import conjoined
from planner_models.diagnosis import RuleKind
from planner_models.pod import PodSpec


@dataclass(frozen=True, eq=False)
class PortRule(Rule):
    """The pod's host ports, one fact."""

    ports: tuple[int, ...]

    kind: ClassVar[RuleKind] = "ports"
    name: ClassVar[str] = "host ports"
    leaving: ClassVar[str] = "free host ports leave"
    excluding: ClassVar[str] = "its host port is taken on {}"

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`Host port 8080 is taken on a1 and a2.`"""
        mask = left & self.blocked
        every = mask.all() and len(mask) > 1
        where = "every node" if every else self.subject.nodes.describe(mask)
        return f"Host port {self._ports} is taken on {where}."

    def brief(self, left: BoolArray) -> str:
        """`its host port is taken`."""
        return "its host port is taken"

    def cell(self, node: int) -> str:
        """`port taken`."""
        return f"port {self._ports} taken"

    @property
    def _ports(self) -> str:
        return conjoined([str(port) for port in self.ports], "or")

    def facts(self) -> Facts:
        """The ports."""
        return {"hostPorts": list(self.ports)}


def find(subject: Subject) -> list[Rule]:
    """The plugin's own verdicts."""
    found = subject.pre_filter("NodePorts").filter
    if found is None:
        return []
    ports = tuple(sorted({port for _, _, port in subject.group.spec.host_ports}))
    field = "spec.containers[*].ports[*].hostPort"
    return [PortRule(subject, field, found.refused(), ports)]


def taken_on_node(spec: PodSpec) -> str:
    """`host port 8080`: what a pod takes of its node alone."""
    return f"host port {conjoined([str(port) for _, _, port in spec.host_ports])}"
