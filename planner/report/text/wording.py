"""Names and amounts as tables write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.cluster.owners import SHORT
from planner.words import NAMED

if TYPE_CHECKING:
    from planner_models.inspection import Unit, WorkloadName

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def name_some(names: Sequence[str]) -> str:
    """Six names, and how many more there are."""
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def short_name(workload: WorkloadName) -> str:
    """`deploy/web`, as kubectl users write it."""
    return f"{SHORT.get(workload.kind, workload.kind.lower())}/{workload.name}"


def decimal(amount: int, unit: int) -> str:
    """`amount / unit` with at most two decimals: 18950 of 1000 is 18.95."""
    hundredths = (200 * amount + unit) // (2 * unit)
    whole, rest = divmod(hundredths, 100)
    return f"{whole}.{rest:02}".rstrip("0").rstrip(".")


def part_of(requested: int, allocatable: int, unit: Unit) -> str:
    """`18.95 of 48`, `29.5 of 192Gi`: both in the unit of the larger amount."""
    if unit == "milliCores":
        return f"{decimal(requested, 1000)} of {decimal(allocatable, 1000)}"
    if unit == "pieces":
        return f"{requested} of {allocatable}"
    larger = max(requested, allocatable, 1)
    power = min((larger.bit_length() - 1) // 10, len(_BINARY) - 1)
    size = 1024**power
    return f"{decimal(requested, size)} of {decimal(allocatable, size)}{_BINARY[power]}"
