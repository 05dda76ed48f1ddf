"""The words of a pod's status. They stand alone, so that reading them needs no model."""

from __future__ import annotations

from typing import Literal

Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]
QosClass = Literal["Guaranteed", "Burstable", "BestEffort"]
ContainerKind = Literal["main", "init", "ephemeral"]
