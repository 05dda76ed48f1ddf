"""Places for pods, counted by kind: a node of each offer, and nodes that are there and alike.

What remains of the rules when single nodes are no longer told apart: `cap[p, g]`, the most pods of
a group on one node of a kind, and rows over sums of landings in domains. Whatever else there is,
such as anti-affinity between workloads, is left out, which only makes sets cheaper: a bound over
places holds for all sets of nodes.

Some rules are not linear, and become so once a few things are chosen: which new domains get a node,
and between which ends the number of new nodes is. Every set of nodes is among those of one choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray

Domain = tuple[str, int]
"""A topology key, and a domain of it by number."""


@dataclass(frozen=True)
class Hosts:
    """How many nodes of some offers are added: `least` to `most`, None without end."""

    offers: tuple[int, ...]
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Choice:
    """New domains that get a node, those that get none, and how many nodes are added."""

    opened: tuple[Domain, ...] = ()
    closed: tuple[Domain, ...] = ()
    hosts: tuple[Hosts, ...] = ()


@dataclass(frozen=True, eq=False)
class Row:
    """weight x landings of some groups in some places + extra variables, within a range."""

    groups: IntArray
    places: BoolArray
    lower: int | None
    upper: int | None
    weight: int = 1
    extra: Mapping[int, int] = field(default_factory=dict)
    """Coefficients of extra variables."""


@dataclass(frozen=True, eq=False)
class NodeRow:
    """What nodes of the places add up to, within a range: `each[p]` for a node."""

    each: IntArray
    lower: int | None = None
    upper: int | None = None


@dataclass(frozen=True, eq=False)
class Places:
    """Groups by number: those that wait and have a place. Costs of nodes that are there are 0.

    `extra` are the upper ends of further variables, which begin at 0 and cost nothing.
    """

    groups: tuple[int, ...]
    request: IntArray
    """`request[g, r]`."""
    cost: IntArray
    least: IntArray
    most: tuple[int | None, ...]
    """Nodes of each place; None: without end."""
    free: IntArray
    """`free[p, r]`."""
    cap: IntArray
    rows: tuple[Row, ...]
    node_rows: tuple[NodeRow, ...] = ()
    extra: tuple[int, ...] = ()
    offers: int = 0
    """The first so many places are the offers."""

    def alike(self, *, domains: bool = True) -> list[list[int]]:
        """Places that can be used, those that are alike in everything together.

        Nodes without end of one of them do for all. Without `domains`, whatever rows they are in.
        """
        found: dict[tuple[object, ...], list[int]] = {}
        rows = self.rows if domains else ()
        for p, most in enumerate(self.most):
            if most == 0:
                continue
            alone = p if most is not None or self.least[p] else None
            key = (
                alone,
                int(self.cost[p]),
                self.free[p].tobytes(),
                self.cap[p].tobytes(),
                np.array([row.places[p] for row in rows]).tobytes(),
                tuple(int(row.each[p]) for row in self.node_rows),
            )
            found.setdefault(key, []).append(p)
        return list(found.values())
