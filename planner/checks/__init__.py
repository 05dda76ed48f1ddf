"""What is wrong with manifests, found by trying them: the rules of `planner check`."""

from planner.checks.finding import Finding, Fix, Proof
from planner.checks.registry import BY_ID, RULES
from planner.checks.run import Checked, check
from planner.checks.subject import CheckOptions, Manifests, Subject, manifests_of, subject_of

__all__ = [
    "BY_ID",
    "RULES",
    "CheckOptions",
    "Checked",
    "Finding",
    "Fix",
    "Manifests",
    "Proof",
    "Subject",
    "check",
    "manifests_of",
    "subject_of",
]
