"""`RunState` and `RunStatus`: what `planner run` remembers, and what `planner status` says."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from planner_models.base import Document
from planner_models.run_policy import Mode
from planner_models.source import ClusterSource

RoundResult = Literal["done", "nothing", "paused", "stopped", "failed"]
"""Evicted, or would have; found nothing to do; waited; stopped on the way; went wrong."""


class RoundRecord(Document):
    """One round; what is not known of it is absent. `text` is what the log said of its end."""

    number: int
    started: datetime
    mode: Mode
    result: RoundResult
    text: str
    excess: int | None = None
    pending: int | None = None
    planned: int | None = None
    evicted: int | None = None


class Missed(Document):
    """A workload whose pod did not land as promised.

    It is left alone until `until`, or without that until the policy is another than `policy`.
    """

    workload: str
    times: int
    policy: str
    until: datetime | None = None


class ToldEvent(Document):
    """An event that was written, so that it is not repeated all the time."""

    key: str
    at: datetime


class RunState(Document):
    """What outlives the process: it is kept in the ConfigMap planner-state."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["RunState"] = "RunState"
    round: int = 0
    mode: Mode = "DryRun"
    policy: str = ""
    policy_error: str | None = None
    """What is wrong with the policy file, while the last good one counts."""
    rounds: tuple[RoundRecord, ...] = ()
    missed: tuple[Missed, ...] = ()
    told: tuple[ToldEvent, ...] = ()
    applying: str | None = None
    """The plan that is being carried out; if that ended in the middle, its cordons may be left."""


class RunStatus(Document):
    """The result of `planner status`: the state, and who runs it."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["RunStatus"] = "RunStatus"
    source: ClusterSource | None = None
    namespace: str
    at: datetime
    leader: str | None = None
    """Who holds the Lease; absent if nobody does, or no longer."""
    renewed: datetime | None = None
    state: RunState
    suspended: tuple[Missed, ...] = ()
    """Workloads that are left alone now."""
