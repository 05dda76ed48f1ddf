"""All rules of a model, added in the order of the scheduler's filters.

Adding a rule means one module in `constraints` and one line here.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.solver.model.constraints import (
    inter_pod_affinity,
    node_ports,
    node_resources_fit,
    pod_topology_spread,
    volumes,
)
from planner.solver.model.constraints.pod_topology_spread import Spread
from planner.solver.model.model import Model


@dataclass(frozen=True, eq=False)
class Rules:
    """What the rules leave for objectives and for the answer: counts, and what --relax breaks."""

    spreads: list[Spread]
    broken_spreads: list[pod_topology_spread.Broken]
    broken_affinities: list[inter_pod_affinity.Broken]


def add_rules(model: Model) -> Rules:
    """Every rule of the scheduler's filters that is not static."""
    node_ports.add(model)
    node_resources_fit.add(model)
    volumes.add(model)
    spreads = pod_topology_spread.counted(model)
    broken_spreads = pod_topology_spread.add(model, spreads)
    broken_affinities = inter_pod_affinity.add(model)
    return Rules(spreads, broken_spreads, broken_affinities)
