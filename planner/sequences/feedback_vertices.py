"""The cheapest vertices without which a graph has no circle: a minimum feedback vertex set.

Circles share vertices only within a strongly connected part, so each part is solved by itself. A
shortest circle has to lose one of its vertices: the search branches over them and goes on from the
cheapest choice so far, which makes the first complete choice an optimal one. Parts for which that
takes too long are cut at their busiest vertices instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

    Graph = nx.DiGraph[int]

Cost = tuple[int, ...]
"""Compared level by level; the costs of several vertices are added."""

EXACT = 60
"""Vertices of a part up to which the optimum is looked for."""
CHOICES = 2_000
"""So many choices are looked at before a part is cut at its busiest vertices."""
EFFORT = 4_000
"""Choices times edges: each choice looks at all of them, so that large parts get fewer."""


def feedback_vertices(waits: Graph, cost: Mapping[int, Cost]) -> frozenset[int]:
    """Vertices whose removal leaves no circle; of the least cost in every small part."""
    found: set[int] = set()
    for part in circles(waits):
        inner = waits.subgraph(part)
        chosen = _cheapest(inner, cost) if len(part) <= EXACT else None
        found |= _busiest(inner, cost) if chosen is None else chosen
    return frozenset(found)


def circles(waits: Graph) -> list[frozenset[int]]:
    """The strongly connected parts of several vertices: each of them is on a circle."""
    import networkx as nx

    parts = nx.strongly_connected_components(waits)
    return sorted((frozenset(part) for part in parts if len(part) > 1), key=min)


def _cheapest(part: Graph, cost: Mapping[int, Cost]) -> frozenset[int] | None:
    """The optimum, or None if it was not found within the limit."""
    width = len(next(iter(cost.values())))
    open_: list[tuple[Cost, tuple[int, ...]]] = [((0,) * width, ())]
    seen: set[tuple[int, ...]] = set()
    for _ in range(min(CHOICES, EFFORT // part.number_of_edges())):
        so_far, removed = heappop(open_)
        circle = _shortest_circle(part.subgraph(set(part) - set(removed)))
        if not circle:
            return frozenset(removed)
        for vertex in circle:
            more = tuple(sorted((*removed, vertex)))
            if more not in seen:
                seen.add(more)
                total = tuple(a + b for a, b in zip(so_far, cost[vertex], strict=True))
                heappush(open_, (total, more))
    return None


def _shortest_circle(graph: Graph) -> list[int]:
    """The vertices of a shortest circle; empty if there is none."""
    best: list[int] = []
    for part in circles(graph):
        for start in sorted(part):
            found = _circle_through(graph, start, len(best))
            if found and (not best or len(found) < len(best)):
                best = found
    return best


def _circle_through(graph: Graph, start: int, shorter_than: int) -> list[int]:
    """A shortest way from the vertex back to itself, level by level."""
    came: dict[int, int] = {}
    level = [start]
    length = 0
    while level and (not shorter_than or length < shorter_than - 1):
        length += 1
        following: list[int] = []
        for vertex in level:
            for other in sorted(graph.successors(vertex)):
                if other == start:
                    way = [vertex]
                    while way[-1] != start:
                        way.append(came[way[-1]])
                    return way
                if other not in came:
                    came[other] = vertex
                    following.append(other)
        level = following
    return []


def _busiest(part: Graph, cost: Mapping[int, Cost]) -> frozenset[int]:
    """Vertex after vertex, always one through which many circles can go."""
    removed: set[int] = set()
    rest = part.copy()
    before = {v: set(part.predecessors(v)) for v in part}
    after = {v: set(part.successors(v)) for v in part}
    while parts := circles(rest):
        for each in parts:
            vertex = max(
                each,
                key=lambda v: (
                    [-level for level in cost[v][:1]],
                    len(before[v] & each) * len(after[v] & each),
                    -v,
                ),
            )
            removed.add(vertex)
            rest.remove_node(vertex)
    return frozenset(removed)
