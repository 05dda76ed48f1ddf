"""The checker of placements and of orders of steps: the scheduler's word on a plan.

It is independent of the solver: it asks the scheduler's filters. Both stand on the snapshot
(`planner.cluster`); `violations` and `landings` count with its `spread` and `node_rules`, as the
solver does, so `violations` has a naive twin in the tests that uses neither.
"""

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
