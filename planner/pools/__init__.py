"""Which nodes to add, so that kube-scheduler places the pods that wait."""

from planner.pools.find import Found, ScaleUpOptions, scale_up
from planner.pools.node_templates import read_pools
from planner.pools.pool import Objective, Offer, Pool, objective_of, offers_of, unit_of
from planner.pools.read import PoolInput, pools_in

__all__ = [
    "Found",
    "Objective",
    "Offer",
    "Pool",
    "PoolInput",
    "ScaleUpOptions",
    "objective_of",
    "offers_of",
    "pools_in",
    "read_pools",
    "scale_up",
    "unit_of",
]
