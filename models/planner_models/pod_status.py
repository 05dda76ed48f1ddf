"""The words of a pod's status. They stand alone, so that reading them needs no model."""

from __future__ import annotations

from typing import Literal, get_args

Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]
QosClass = Literal["Guaranteed", "Burstable", "BestEffort"]
PHASES: dict[str, Phase] = {phase: phase for phase in get_args(Phase)}
QOS_CLASSES: dict[str, QosClass] = {name: name for name in get_args(QosClass)}
FINISHED: frozenset[Phase] = frozenset(("Succeeded", "Failed"))
"""Of pods that will never run again."""
ContainerKind = Literal["main", "init", "ephemeral"]

RESIZE_PENDING = "PodResizePending"
"""The condition of a pod whose resize has to wait; with the reason Infeasible for ever."""
INFEASIBLE = "Infeasible"
