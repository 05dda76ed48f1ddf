"""What a change to a cluster or a manifest costs, so that explain lists the cheapest first.

By how much it gives up: an act that restarts nothing is cheapest, then a number in a rule, then
giving up a rule; losing data comes last.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner_models.diagnosis import RepairKind

COSTS: Mapping[RepairKind, int] = MappingProxyType(
    {
        "topologyKey": 8,
        "labelNode": 10,
        "nodeCondition": 12,
        "uncordon": 15,
        "movePods": 20,
        "freeCapacity": 30,
        "preemptionPolicy": 35,
        "scale": 40,
        "lowerMinDomains": 50,
        "nodeTaintsPolicy": 55,
        "nodeAffinityPolicy": 58,
        "lowerRequest": 60,
        "raiseMaxSkew": 70,
        "addToleration": 75,
        "deletePod": 80,
        "scheduleAnyway": 90,
        "addNodeAffinity": 92,
        "addNode": 95,
        "dropHostPort": 98,
        "relaxAffinity": 100,
        "relaxAntiAffinity": 105,
        "recreateVolume": 1000,
        "combined": 5,
    }
)
"""A combined change costs the sum of its parts and 5 more, pods to move each their own; maxSkew 2
more for each step beyond the first."""
