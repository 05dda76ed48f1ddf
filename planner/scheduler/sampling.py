"""Looking at some nodes only, as kube-scheduler does in large clusters.

It stops once enough nodes pass the filters, and begins the next search where the last one stopped.
Nodes come interleaved by zone, so that a part of them is spread like the whole.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, zip_longest

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.scheduler.cycle import Evaluation, Search
from planner_models.node import REGION, ZONE, Node

ADAPTIVE = 0
"""A `percentageOfNodesToScore` that depends on the number of nodes."""
EVERYTHING = 100
MIN_NODES = 100
MIN_PERCENTAGE = 5

_BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
_BETA_REGION = "failure-domain.beta.kubernetes.io/region"


def nodes_wanted(percentage: int, nodes: int) -> int:
    """How many passing nodes end the search: numFeasibleNodesToFind of kube-scheduler."""
    if nodes < MIN_NODES:
        return nodes
    if percentage == ADAPTIVE:
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_NODES)


def tree_order(cluster: Cluster) -> IntArray:
    """One node of each zone in turn; zones and their nodes in the order in which they came."""
    by_zone: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index in cluster.arrival.tolist():
        by_zone[_zone_of(cluster.nodes[index])].append(index)
    turns = chain.from_iterable(zip_longest(*by_zone.values()))
    return np.array([node for node in turns if node is not None], np.int64)


def _zone_of(node: Node) -> tuple[str, str]:
    """Region and zone; the old labels win where a node has both."""
    labels = node.labels
    region = labels.get(_BETA_REGION, labels.get(REGION, ""))
    return region, labels.get(_BETA_ZONE, labels.get(ZONE, ""))


class NodeSampling:
    """Where the next search begins; one for all profiles, as in kube-scheduler."""

    def __init__(self, cluster: Cluster) -> None:
        self._order = tree_order(cluster)
        self._start = 0

    def search(self, percentage: int, limit: IntArray | None) -> Search:
        """The next search; `limit` are the nodes that PreFilter left."""
        order = self._order
        if limit is not None:
            order = order[np.isin(order, limit)]
        start = self._start % max(1, len(order))
        return Search(np.roll(order, -start), nodes_wanted(percentage, len(order)))

    def advance(self, evaluation: Evaluation) -> None:
        """The search is over: the next one begins at the first node that was not looked at."""
        looked_at = len(evaluation.looked_at)
        self._start = (self._start + looked_at) % max(1, len(self._order))
