"""NodePorts: a host port that another pod of the node holds already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule
from planner.explain.situation.subject import Subject
from planner.words import conjoined
from planner_models.diagnosis import RuleKind


@dataclass(frozen=True, eq=False)
class PortRule(Rule):
    """The pod's host ports, one fact."""

    ports: tuple[int, ...]

    kind: ClassVar[RuleKind] = "ports"

    @property
    def name(self) -> str:
        """`host ports`."""
        return "host ports"

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`Host port 8080 is taken on a1 and a2.`"""
        ports = conjoined([str(port) for port in self.ports], "or")
        mask = left & self.blocked
        every = mask.all() and len(mask) > 1
        where = "every node" if every else self.subject.places.describe(mask)
        return f"Host port {ports} is taken on {where}."

    def brief(self, left: BoolArray) -> str:
        """`its host port is taken`."""
        return "its host port is taken"

    def cell(self, node: int) -> str:
        """`port taken`."""
        return f"port {conjoined([str(port) for port in self.ports], 'or')} taken"

    def facts(self) -> Facts:
        """The ports."""
        return {"hostPorts": list(self.ports)}


def find(subject: Subject) -> list[Rule]:
    """The plugin's own verdicts."""
    for plugin in subject.profile.filters:
        if plugin.name == "NodePorts":
            found = plugin.pre_filter(subject.state, subject.group).filter
            if found is not None:
                ports = tuple(sorted({port for _, _, port in subject.group.spec.host_ports}))
                field = "spec.containers[*].ports[*].hostPort"
                return [PortRule(subject, field, found.refused(), ports)]
    return []
