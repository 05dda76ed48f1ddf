"""How many more pods fit: counted as kube-scheduler places them, and as they could be placed."""

from planner.capacity.demand import Demand, demand_of
from planner.capacity.find import CapacityOptions, Found, capacity, ready

__all__ = ["CapacityOptions", "Demand", "Found", "capacity", "demand_of", "ready"]
