"""The independent checker of placements and of orders of steps: the scheduler's word on a plan."""

from planner.replay.final import FinalCheck, check_final
from planner.replay.steps import Step
from planner.replay.verify import Fault, Verification, check_steps
from planner.replay.violations import Violation, total, violations

__all__ = [
    "Fault",
    "FinalCheck",
    "Step",
    "Verification",
    "Violation",
    "check_final",
    "check_steps",
    "total",
    "violations",
]
