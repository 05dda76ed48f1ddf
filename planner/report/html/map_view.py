"""The pictures of a report that can be stepped through: a cluster by zone, a fleet by region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

Tone = Literal["", "good", "warn", "bad"]
Json = str | int | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True)
class Mark:
    """How a workload is told apart: a colour of the palette, and a letter that needs no colour."""

    colour: int
    letter: str


@dataclass(frozen=True)
class LegendEntry:
    """A workload in the legend of the map."""

    workload: int
    name: str
    mark: Mark


@dataclass(frozen=True)
class Square:
    """A pod at one place, from stage `start` up to before stage `end`.

    A pod that moves has a square at each of its places.
    """

    pod: int
    workload: int
    mark: Mark
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Tile:
    """A node with its pods; `cpu` and `memory` are percentages, stage by stage."""

    node: int
    name: str
    short: str
    cpu: tuple[int, ...]
    memory: tuple[int, ...]
    used: tuple[str, ...]
    """CPU requested and offered, such as `2.4/4`, stage by stage."""
    state: str
    squares: tuple[Square, ...]

    def at(self, stage: int) -> tuple[Square, ...]:
        """Who is here at this stage."""
        return tuple(square for square in self.squares if square.start <= stage < square.end)


@dataclass(frozen=True)
class HeatBlock:
    """Nodes of one zone and flavour, a cell each; `levels` are tenths of use, stage by stage."""

    label: str
    nodes: tuple[int, ...]
    levels: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Zone:
    """One domain of the map: tiles, or heat where there are many nodes."""

    name: str
    summaries: tuple[str, ...]
    """What there is in it, stage by stage."""
    tiles: tuple[Tile, ...] = ()
    heat: tuple[HeatBlock, ...] = ()


@dataclass(frozen=True)
class Step:
    """A position of the slider; `size` says how much happens there."""

    label: str
    text: str
    size: str = ""


@dataclass(frozen=True)
class ClusterMap:
    """The cluster by topology, now and after; `steps` is empty where nothing changes."""

    template: ClassVar[str] = "map.html.j2"
    title: str
    note: str
    zones: tuple[Zone, ...]
    waiting: tuple[Square, ...]
    waits: tuple[str, ...]
    """How many pods have no node, stage by stage, where they have no squares."""
    legend: tuple[LegendEntry, ...]
    steps: tuple[Step, ...]
    last: int
    """The stage after which nothing changes any more."""
    dense: bool
    data: Mapping[str, Json]


@dataclass(frozen=True)
class Member:
    """A member cluster of a fleet; `step` is the round that picked it, 0 if it was there before."""

    node: int
    name: str
    outcome: str
    tone: Tone
    step: int | None
    reason: str
    best: bool


@dataclass(frozen=True)
class Region:
    """Member clusters with one value of the label that the first constraint spreads over."""

    name: str
    summary: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class FleetMap:
    """Member clusters by topology, picked or not."""

    template: ClassVar[str] = "fleet.html.j2"
    title: str
    note: str
    regions: tuple[Region, ...]
    steps: tuple[Step, ...]
