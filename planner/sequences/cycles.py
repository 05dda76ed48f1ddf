"""Moves that wait for each other in a circle, and which pod has to let go.

Work i waits for work j if i wants to land on a node that a pod of j is to leave. Where these waits
form a circle (a strongly connected part of the graph), no move can be first: one pod is evicted and
stays without a node until its own place is free. A good choice frees a node that many in the circle
want, so that few pods have to wait; among equals the less important pod waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def way_out(
    wanted: Mapping[int, Iterable[int]], leaving: Mapping[int, Mapping[int, int]]
) -> tuple[int, int] | None:
    """(work, node): whose pod leaves which node first; None if nobody waits in a circle.

    `wanted[i]` are nodes on which work i is to land, `leaving[n][j]` is how many pods of work j are
    still to leave node n.
    """
    import networkx as nx

    waits: nx.DiGraph[int] = nx.DiGraph()
    edges: list[tuple[int, int, int]] = []
    for index, nodes in wanted.items():
        for node in nodes:
            for other, count in leaving.get(node, {}).items():
                if count:
                    edges.append((index, other, node))
                    waits.add_edge(index, other)
    part_of = {
        index: number
        for number, part in enumerate(nx.strongly_connected_components(waits))
        if len(part) > 1
        for index in part
    }
    waiting: dict[tuple[int, int], int] = {}
    for index, other, node in edges:
        if index != other and part_of.get(index, -1) == part_of.get(other, -2):
            waiting[other, node] = waiting.get((other, node), 0) + 1
    return max(waiting, key=lambda key: (waiting[key], key[0], -key[1]), default=None)
