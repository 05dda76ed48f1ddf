"""Which nodes to add, so that kube-scheduler places the pods that wait."""

from planner.pools.find import Found, ScaleUpOptions, scale_up
from planner.pools.pool import Objective, Offer, Pool, objective_of, offers_of, read_pools, unit_of

__all__ = [
    "Found",
    "Objective",
    "Offer",
    "Pool",
    "ScaleUpOptions",
    "objective_of",
    "offers_of",
    "read_pools",
    "scale_up",
    "unit_of",
]
