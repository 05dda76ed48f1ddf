"""Cordons that a round has left behind because it was killed on the way.

The state names the plan that was under way, and every cordon of planner names its plan. So whoever
leads next lifts exactly these, and none that anybody else has set.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from planner.apply.access import node_path
from planner.apply.objects import CORDON, uncordon
from planner.apply.writing import Writer
from planner.run.look import PAGE
from planner.sources.live.kinds import NODES


class _Meta(msgspec.Struct, rename="camel"):
    name: str
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Node(msgspec.Struct):
    metadata: _Meta


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    items: list[_Node] = []
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


def lift_cordons(writer: Writer, plan_id: str) -> tuple[str, ...]:
    """Lift the cordons of a plan; the nodes, by name."""
    found = [node for node in _nodes(writer) if _plan_of(node) == plan_id]
    for node in found:
        writer.patch(node_path(node.name), uncordon(node.resource_version))
    return tuple(node.name for node in found)


def _plan_of(node: _Meta) -> str:
    return (node.annotations or {}).get(CORDON, "").partition("/")[0]


def _nodes(writer: Writer) -> Iterator[_Meta]:
    token = ""
    while True:
        query = {"limit": str(PAGE)} | ({"continue": token} if token else {})
        page = msgspec.json.decode(writer.get(NODES.path, query).body, type=_List)
        yield from (each.metadata for each in page.items)
        token = page.metadata.continue_
        if not token:
            return
