"""ImageLocality: nodes that have the pod's images already are preferred.

An image counts with its size, scaled by the share of nodes that have it, so that pods don't pile up
on the first node that pulled it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import MAX_NODE_SCORE, StaticScore
from planner.scheduler.framework.state import SchedulingState

MIB = 1024 * 1024
MIN_THRESHOLD = 23 * MIB
MAX_CONTAINER_THRESHOLD = 1000 * MIB


class ImageLocality:
    """`status.images` of nodes."""

    name: ClassVar[str] = "ImageLocality"

    def pre_score(self, state: SchedulingState, group: PodGroup) -> StaticScore:
        """Sum of scaled sizes, clamped between 23 MiB and 1000 MiB per container."""
        containers = (*group.spec.init_containers, *group.spec.containers)
        images = [state.images.get(normalised(container.image)) for container in containers]
        if not any(len(image.nodes) for image in images):
            return state.facts.once(self.name, lambda: StaticScore(_nothing(state)))
        total = _nothing(state)
        for size, nodes in images:
            share = len(nodes) / max(1, len(state.all_nodes))
            total[nodes] += int(float(size) * share)
        highest = MAX_CONTAINER_THRESHOLD * len(containers)
        total = np.clip(total, MIN_THRESHOLD, max(highest, MIN_THRESHOLD))
        return StaticScore(
            MAX_NODE_SCORE * (total - MIN_THRESHOLD) // max(1, highest - MIN_THRESHOLD)
        )


def _nothing(state: SchedulingState) -> IntArray:
    return np.zeros(len(state.cluster.nodes), np.int64)


def normalised(image: str) -> str:
    """A name without a tag means `:latest`."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
