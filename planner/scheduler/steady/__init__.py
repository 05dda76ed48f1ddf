"""kube-scheduler for pods to which the same nodes stay open, whatever else is drawn."""

from planner.scheduler.steady.field import NOWHERE, Field
from planner.scheduler.steady.groups import SteadyGroup, steady_groups

__all__ = ["NOWHERE", "Field", "SteadyGroup", "steady_groups"]
