"""The cluster by topology: zones as boxes, nodes as tiles, pods as squares.

Where there are too many nodes or pods for that, nodes of a zone and flavour become a grid of small
cells whose colour says how full they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.spread import counted_key
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.documents.inspection_nodes import flavour, zone_key
from planner.report.html.map_view import ClusterMap, HeatBlock, Json, Step, Tile, Zone
from planner.report.html.squares import Squares
from planner.report.html.story import Story
from planner.report.html.usage import Usage
from planner.report.html.words import many
from planner.report.text.blocks import shortened
from planner.words import short_key
from planner_models.node import Node

TILES = 99
"""Up to so many nodes each has a tile."""
SQUARES = 3_000
"""Up to so many pods each has a square."""
NAME = 12
"""So many letters of its name a tile has room for."""


def map_key(cluster: Cluster) -> str | None:
    """The label that makes the boxes: the zone, or what most pods spread over."""
    return zone_key(cluster.nodes) or counted_key(cluster)


def cluster_map(story: Story, note: str = "", emptied: Collection[str] = frozenset()) -> ClusterMap:
    """The map at every stage of the story; `emptied` are nodes that all pods are to leave."""
    drawing = _Drawing(story, emptied)
    key = map_key(story.cluster)
    where = "The cluster" if key is None else f"The cluster by {short_key(key)}"
    return ClusterMap(
        title=f"{where}, now and after" if story.stages else f"{where}, now",
        note=note,
        zones=tuple(drawing.zones()),
        waiting=() if drawing.dense else drawing.squares.at(PENDING),
        waits=drawing.waits() if drawing.dense else (),
        legend=() if drawing.dense else drawing.squares.legend(),
        steps=_steps(story),
        last=len(story.stages),
        dense=drawing.dense,
        data=drawing.data(),
    )


def _steps(story: Story) -> tuple[Step, ...]:
    """Before, every stage, and after with all that has moved; one stage alone is the after."""
    if not story.stages:
        return ()
    before = Step("Now", "Now, before anything moves")
    after = Step("After", f"After: {_done(story)}")
    if len(story.stages) == 1:
        return (before, Step("After", f"After: {story.stages[0].text}"))
    stages = (Step(stage.label, stage.text, stage.size) for stage in story.stages)
    return (before, *stages, after)


def _done(story: Story) -> str:
    """What has become of the pods that were touched."""
    was = story.cluster.node_of[story.changed]
    now = story.places[-1][story.changed]
    counts = (
        (np.count_nonzero((was == PENDING) & (now >= 0)), "placed"),
        (np.count_nonzero((was >= 0) & (now >= 0) & (was != now)), "moved"),
        (np.count_nonzero((was >= 0) & (now < 0)), "gone"),
    )
    said = [f"{many(int(count), 'pod')} {verb}" for count, verb in counts if count]
    return ", ".join(said) or "every pod is where it was"


@dataclass(frozen=True, eq=False)
class _Drawing:
    """One map while it is drawn."""

    story: Story
    emptied: Collection[str]

    @property
    def cluster(self) -> Cluster:
        return self.story.cluster

    @cached_property
    def dense(self) -> bool:
        """Whether tiles would be too many."""
        shown = np.count_nonzero(self.cluster.node_of >= PENDING)
        return len(self.cluster.nodes) > TILES or int(shown) > SQUARES

    @cached_property
    def usage(self) -> Usage:
        return Usage(self.story)

    @cached_property
    def squares(self) -> Squares:
        return Squares(self.story)

    def zones(self) -> Iterator[Zone]:
        """Every zone by name; nodes without the label come last."""
        key = map_key(self.cluster)
        if key is None:
            yield self._zone("all nodes", np.arange(len(self.cluster.nodes)))
            return
        topology = self.cluster.topology(key)
        for domain in (*range(len(topology.domains)), NO_DOMAIN):
            nodes = topology.nodes_of(domain)
            lacking = f"without label {short_key(key)}"
            name = lacking if domain == NO_DOMAIN else topology.domains[domain]
            if len(nodes):
                yield self._zone(name, nodes)

    def _zone(self, name: str, nodes: IntArray) -> Zone:
        return Zone(
            name=name,
            summaries=self.usage.summaries(nodes),
            tiles=() if self.dense else tuple(self._tile(node) for node in nodes.tolist()),
            heat=tuple(self._heat(nodes)) if self.dense else (),
        )

    def _tile(self, index: int) -> Tile:
        node = self.cluster.nodes[index]
        return Tile(
            node=index,
            name=node.name,
            short=shortened(node.name.removesuffix(self._suffix), NAME),
            cpu=self.usage.cpu(index),
            memory=self.usage.memory(index),
            used=self.usage.used(index),
            state="to be emptied" if node.name in self.emptied else _state(node),
            squares=self.squares.at(index),
        )

    @cached_property
    def _suffix(self) -> str:
        """The domain that all names end in, such as `.eu-west-1.compute.internal`."""
        names = [node.name for node in self.cluster.nodes]
        _, dot, rest = names[0].partition(".") if names else ("", "", "")
        return dot + rest if all(name.endswith(dot + rest) for name in names) else ""

    def waits(self) -> tuple[str, ...]:
        """Nothing where nobody ever waits."""
        counts = [int(np.count_nonzero(places == PENDING)) for places in self.story.places]
        said = (many(count, "pod") for count in counts)
        return tuple(f"{text} without a node" for text in said) if any(counts) else ()

    def _heat(self, nodes: IntArray) -> Iterator[HeatBlock]:
        classes: dict[str, list[int]] = {}
        for node in nodes.tolist():
            classes.setdefault(flavour(self.cluster.nodes[node]), []).append(node)
        for name, members in sorted(classes.items(), key=lambda item: (-len(item[1]), item[0])):
            yield HeatBlock(
                label=f"{many(len(members), 'node')}, {name}",
                nodes=tuple(members),
                levels=tuple(self.usage.levels(node) for node in members),
            )

    def data(self) -> dict[str, Json]:
        """What the script needs to step through the stages of a dense map and to name its nodes."""
        if not self.dense:
            return {}
        last = len(self.story.stages)
        texts: list[Json] = []
        for node in range(len(self.cluster.nodes)):
            now, after = self.usage.text(node, 0), self.usage.text(node, last)
            texts.append(now if now == after else f"{now}; after: {after}")
        levels: dict[str, Json] = {}
        for node in self._busy():
            levels[str(node)] = list(self.usage.levels(node))
        return {"texts": texts, "levels": levels}

    def _busy(self) -> list[int]:
        """Nodes where something happens."""
        places = [places[self.story.changed] for places in self.story.places]
        found = np.unique(np.concatenate(places)) if places else np.empty(0, np.int64)
        busy: list[int] = found[found >= 0].tolist()
        return busy


def _state(node: Node) -> str:
    if node.spec.unschedulable:
        return "cordoned"
    return "" if node.ready else "not ready"
