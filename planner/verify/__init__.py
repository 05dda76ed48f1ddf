"""The independent checker of placements and of orders of steps: the scheduler's word on a plan."""

from planner.verify.final import FinalCheck, check_final
from planner.verify.replay import Fault, Verification, check_steps
from planner.verify.steps import Step
from planner.verify.violations import Violation, total, violations

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
