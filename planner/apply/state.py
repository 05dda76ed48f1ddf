"""What carrying out works with, and how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner.apply.clock import Clock
from planner.apply.course import Course, Departure
from planner.apply.journal import Journal
from planner.apply.landings import Landed
from planner.apply.lease import Lock
from planner.apply.owners_told import OwnersTold
from planner.apply.preconditions import Verdict
from planner.apply.stopping import CancelledError
from planner.apply.writing import Writer
from planner.cluster import Cluster
from planner.scheduler.profile import Profile
from planner_models.apply_report import EvictionOutcome
from planner_models.source import ClusterSource


class ReadNow(NamedTuple):
    """The cluster as it was read just now."""

    cluster: Cluster
    source: ClusterSource


class Replanned(NamedTuple):
    """A new plan for the same goals, and its document."""

    course: Course
    document: dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How far to go, and how long to wait for a wave; `replan` makes a new course of the rest."""

    last_wave: int | None = None
    wave_timeout: float = 600.0
    dry_run: bool = False
    approved: int = 0
    """Evictions that somebody said yes to; a new plan may need no more than are left of them."""
    replan: Callable[[Cluster], Replanned | None] | None = None


@dataclass(frozen=True)
class Surroundings:
    """The way to the cluster, the lock and the journal.

    `interrupted` says whether somebody wants it to end.
    """

    writer: Writer
    read: Callable[[], ReadNow]
    lock: Lock
    journal: Journal
    clock: Clock
    profile: Profile
    interrupted: Callable[[], bool]
    place: str
    who: str | None = None
    holder: str | None = None
    owners: OwnersTold | None = None
    """None where somebody else tells them."""

    def go_on(self) -> None:
        """Raise if nothing may be evicted any more."""
        if self.interrupted():
            raise CancelledError
        self.lock.check()


@dataclass
class Progress:
    """What has happened so far, earlier runs of the same plan included."""

    outcomes: dict[str, EvictionOutcome] = field(default_factory=dict)
    """By uid."""
    landed: list[Landed] = field(default_factory=list)
    outstanding: list[Departure] = field(default_factory=list)
    """Evicted, and nobody has landed in their place."""
    waiting: tuple[str, ...] = ()
    planned: dict[str, tuple[Departure, int]] = field(default_factory=dict)
    """All pods to evict with the numbers of their waves, by uid."""
    excess: list[int] = field(default_factory=list)
    """At the start, and after each wave."""
    verdict: Verdict | None = None
    source: ClusterSource | None = None
    wave: int = 0
    """The one under way, or if that has not `begun` the next one."""
    begun: bool = False
    ready_nodes: frozenset[str] = frozenset()
    """Those that were ready when the cluster was read first."""
