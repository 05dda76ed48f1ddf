"""Which nodes have which container images, as `status.images` of nodes says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray


class ImageState(NamedTuple):
    """An image by one of its names: its size and the nodes that have it."""

    size_bytes: int
    nodes: IntArray


ImageIndex: TypeAlias = Mapping[str, ImageState]

_NONE: IntArray = np.empty(0, np.int64)
NOWHERE = ImageState(0, _NONE)


def image_index(cluster: Cluster) -> ImageIndex:
    """Size (that of the first node that reported it) and nodes of every image name."""
    sizes: dict[str, int] = {}
    nodes: dict[str, list[int]] = {}
    for index in cluster.arrival.tolist():
        for image in cluster.nodes[index].status.images:
            for name in image.names:
                sizes.setdefault(name, image.size_bytes)
                found = nodes.setdefault(name, [])
                if not found or found[-1] != index:
                    found.append(index)
    return {name: ImageState(sizes[name], np.array(nodes[name], np.int64)) for name in nodes}
