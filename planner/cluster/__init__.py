"""The cluster as an immutable snapshot: models in, arrays and indexes out."""

from planner.cluster.build import build_cluster
from planner.cluster.groups import PodGroup
from planner.cluster.snapshot import ELSEWHERE, GONE, PENDING, Cluster
from planner.cluster.topology import Topology

__all__ = ["ELSEWHERE", "GONE", "PENDING", "Cluster", "PodGroup", "Topology", "build_cluster"]
