"""What `planner apply` writes: its journal, what it shows before it asks, and the `ApplyReport`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from planner_models.base import Document
from planner_models.source import ClusterSource

ApplyResult = Literal["done", "stopped", "failed", "interrupted", "dryRun", "undone"]
"""`stopped`: the plan no longer holds, or was not confirmed; `failed`: the network, or rights."""
ApplyEvent = Literal[
    "header",
    "waveStarted",
    "cordoned",
    "asked",
    "evicting",
    "evicted",
    "refused",
    "waits",
    "landed",
    "elsewhere",
    "goesOn",
    "lifted",
    "waveDone",
    "replanned",
    "stopped",
]
EvictionOutcome = Literal["evicted", "gone", "left"]


class ApplyEntry(Document):
    """One line of the journal; `waits` is only told, as often as something is waited for, and
    `goesOn` where the rest still holds (`accepted` of so many seeds) though pods landed elsewhere.

    `header` says what is carried out, by whom and under which lock. `waveStarted` has the uids of
    the pods of each controller (`shop/ReplicaSet/web-5f787f47bf`) before the wave, so that those
    that come can be told from those that were there. `evicting` is written before the request.
    """

    event: ApplyEvent
    at: datetime
    plan_id: str | None = None
    cluster: str | None = None
    who: str | None = None
    holder: str | None = None
    version: str | None = None
    wave: int | None = None
    waves: int | None = None
    pod: str | None = None
    uid: str | None = None
    node: str | None = None
    to: str | None = None
    expected: tuple[str, ...] | None = None
    nodes: tuple[str, ...] | None = None
    before: dict[str, tuple[str, ...]] | None = None
    accepted: int | None = None
    of: int | None = None
    landed: int | None = None
    seconds: int | None = None
    excess_before: int | None = None
    excess_after: int | None = None
    text: str | None = None
    plan: dict[str, Any] | None = None
    """With `replanned`: the plan that took the place of the one before."""


class ApplyWave(Document):
    """A wave as it is asked about: the pods with their nodes, and the nodes that it cordons."""

    number: int
    pods: dict[str, str]
    of: dict[str, int]
    """How many of each workload."""
    cordon: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()


class ApplyStart(Document):
    """What is shown before anything happens."""

    plan_id: str
    command: str
    """What made the plan: `evict`, `drain` or `solve`."""
    evictions: int
    waves: tuple[ApplyWave, ...]
    excess_before: int
    excess_after: int
    age: int | None = None
    """Seconds since the cluster was read for the plan."""
    place: str
    nodes: int
    pods: int
    who: str | None = None
    since: tuple[str, ...] = ()
    """What came since then."""
    seeds: int
    holds: int
    """In how many of the seeds the plan still ends as promised."""
    resuming: str | None = None
    dry_run: bool = False


class AppliedEviction(Document):
    """A pod of the plan: `gone` if it was not there any more, `left` if its turn never came.

    `landedOn` is where a pod of the same controller came instead, after so many `seconds` ready.
    """

    pod: str
    node: str
    wave: int
    outcome: EvictionOutcome
    landed_on: str | None = None
    as_promised: bool | None = None
    seconds: int | None = None


class ApplyReport(Document):
    """The result of `planner apply`.

    `reason` says in lines why it stopped. `cordoned` are nodes that it leaves cordoned, `lifted`
    those whose cordons it took back in the end, `waiting` pods without a node that it made wait.
    `excessBefore` and `excessAfter` are what the plan brings down: of a drain, the pods to leave.
    """

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["ApplyReport"] = "ApplyReport"
    plan_id: str
    command: str
    """What made the plan: `evict`, `drain` or `solve`."""
    source: ClusterSource | None = None
    who: str | None = None
    result: ApplyResult
    reason: tuple[str, ...] = ()
    wave: int | None = None
    """The wave that it stopped in, or with `before` the one that did not begin."""
    before: bool | None = None
    waves: int
    evictions: tuple[AppliedEviction, ...] = ()
    evicted: int = 0
    landed: int = 0
    elsewhere: int = 0
    waiting: tuple[str, ...] = ()
    cordoned: tuple[str, ...] = ()
    lifted: tuple[str, ...] = ()
    excess_before: int | None = None
    excess_after: int | None = None
    seeds: int | None = None
    holds: int | None = None
    journal: str | None = None
