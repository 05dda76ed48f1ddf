"""The images that nodes report, by name: made once for all snapshots of the same machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from planner.cluster.topology import IntArray
from planner_models.node import Node


class NodeImages:
    """What is on which node; neither labels and taints nor pods change it.

    Nodes that were removed later are still in it: whoever asks leaves them out.
    """

    def __init__(self, nodes: Sequence[Node], arrival: IntArray) -> None:
        self._nodes = nodes
        self._arrival = arrival

    @cached_property
    def reported(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """Nodes with the size that each reports, in the order of the input, for every name."""
        found: dict[str, list[tuple[int, int]]] = {}
        for index in self._arrival.tolist():
            for image in self._nodes[index].status.images:
                pair = (index, image.size_bytes)
                for name in image.names:
                    having = found.setdefault(name, [])
                    if not having or having[-1][0] != index:
                        having.append(pair)
        return found
