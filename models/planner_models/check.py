"""`Check`: what is wrong with manifests, tried on the cluster that they would be applied to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from planner_models.base import Document
from planner_models.notice import Notice
from planner_models.source import ClusterSource

Severity = Literal["error", "warning", "note"]
"""Proven that something never runs, never proceeds or is refused; happens in an event that was
simulated (an outage, a rollout, a drain); has no effect, or is unprotected."""

ProofKind = Literal["read", "counted", "searched", "simulated", "api"]
"""Read off the fields; counted on the nodes; all reachable states searched; kube-scheduler and the
controllers simulated; the API server's own validation."""


class CheckProof(Document):
    """How a finding is known."""

    kind: ProofKind
    seeds: int = 0
    """Under how many draws of ties a simulation was run."""
    seen: int = 0
    """In how many of them the finding occurred."""
    reached: int | None = None
    """The most pods that run in any state that was searched."""
    states: int | None = None
    """How many states were searched."""


class CheckFix(Document):
    """A change that was applied to a copy, after which the finding was gone.

    `then` says what happens then; `restarts` counts the pods that the change rolls out. `helps` is
    False for a change that suggests itself and was tried in vain.
    """

    text: str
    then: str = ""
    restarts: int = 0
    helps: bool = True


class CheckFinding(Document):
    """One thing that is wrong, where it stands, how it is known, and what helps."""

    rule: str
    severity: Severity
    objects: tuple[str, ...]
    """`Deployment default/web`, the first one being where the field stands."""
    field: str = ""
    file: str = ""
    line: int | None = None
    title: str
    text: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    """Rows with their header first, where several objects are compared."""
    facts: dict[str, JsonValue] = Field(default_factory=dict)
    proof: CheckProof
    fixes: tuple[CheckFix, ...] = ()
    fingerprint: str
    """Rule, object and field in one: the same finding has the same one in another run."""


class CheckSummary(Document):
    """How many findings there are; silenced ones are not among the others."""

    errors: int = 0
    warnings: int = 0
    notes: int = 0
    silenced: int = 0


class SkippedRule(Document):
    """A rule that was not asked, and why; or that is `undecided` about something within limits."""

    rule: str
    why: str
    undecided: bool = False


class CheckedObjects(Document):
    """What was checked, and against what."""

    workloads: dict[str, int] = Field(default_factory=dict)
    """By kind."""
    budgets: int = 0
    nodes: int = 0
    pods: int = 0
    """Pods of the cluster, without those that the checked manifests would bring."""


class Check(Document):
    """The result of `planner check`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Check"] = "Check"
    source: ClusterSource | None = None
    checked: CheckedObjects
    summary: CheckSummary
    findings: tuple[CheckFinding, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()
    notices: tuple[Notice, ...] = ()
