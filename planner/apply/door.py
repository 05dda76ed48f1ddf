"""From a reviewed plan and a way to its cluster to an `ApplyReport`: the only door to apply."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from planner.apply.access import writing
from planner.apply.carry_out import CarryOut
from planner.apply.clock import Clock
from planner.apply.cordons import Cordons
from planner.apply.course import Course, course_of_drain, course_of_evictions
from planner.apply.journal import Journal, Listener, Past
from planner.apply.lease import NAME, NAMESPACE, HeldLease, Holding, Lease, Lock, NoLock, new_holder
from planner.apply.objects import who
from planner.apply.owners_told import OwnersTold
from planner.apply.refusals import Reviewed, refuse, refuse_other_cluster
from planner.apply.replanning import replanned
from planner.apply.replay_rest import is_ours
from planner.apply.state import Options, ReadNow, Replanned, Surroundings
from planner.apply.steering import rebalance_course, steered
from planner.apply.writing import Writer
from planner.cluster import Cluster, build_cluster
from planner.errors import PlannerError
from planner.scheduler.profile import Profile
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.live.api import Api, ApiError
from planner.sources.live.connect import Wanted, connect
from planner.sources.live.kinds import BUDGETS, NAMESPACES, WORKLOADS
from planner.sources.live.snapshot import LiveRead, read_snapshot
from planner.version import __version__
from planner_models.apply_report import ApplyReport, ApplyStart
from planner_models.drain import DrainPlan
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from planner_models.source import ClusterSource

MADE_BY = {"EvictionPlan": "evict", "DrainPlan": "drain", "Plan": "solve"}
"""The command that writes such a document."""

COMMAND = "planner apply"
NEEDED = frozenset(kind.resource for kind in (BUDGETS, NAMESPACES, *WORKLOADS))
"""Kinds without which it is not known what an eviction does, beside nodes and pods."""


@dataclass(frozen=True)
class Asked:
    """What was asked for; `file` is the plan's name, as the user knows it.

    Without a lock two of them may work at once. With `lock_holder` it is that one's already, and
    only looked at. `wave_timeout` is in seconds.
    """

    file: str
    journal: Path
    last_wave: int | None = None
    wave_timeout: float = 600.0
    dry_run: bool = False
    replan: bool = False
    lock: bool = True
    lock_holder: str | None = None
    events: bool = True
    """Whether owners of pods are told by events; planner run tells them itself."""
    renews: bool = False
    """Whether a thread renews the lock; tests on a clock of their own do without."""


@dataclass(frozen=True)
class Hooks:
    """Who is told what: `begin` says whether it may begin, `listener` hears of every step."""

    profile_of: Callable[[Inventory], Profile]
    begin: Callable[[ApplyStart], bool]
    listener: Listener = lambda _: None
    interrupted: Callable[[], bool] = lambda: False
    clock: Clock = field(default_factory=Clock)


def connect_to_write(wanted: Wanted) -> Api:
    """A way to the cluster on which evictions, cordons and the lock can be written."""
    return connect(wanted, writing(NAMESPACE, NAME))


def carry_out_plan(api: Api, document: Reviewed, asked: Asked, hooks: Hooks) -> ApplyReport:
    """Carry the plan out, or raise an error before anything has happened."""
    refuse(document, asked.file, replan=asked.replan)
    clock = hooks.clock
    with ExitStack() as stack:
        writer = stack.enter_context(closing(_writer(api, document, clock)))
        first = _read(api, clock)
        place = api.context or api.place
        refuse_other_cluster(document, asked.file, first.source.cluster, place)
        profile = hooks.profile_of(first.inventory)
        journal = stack.enter_context(closing(_journal(asked, clock, hooks.listener)))
        past = _past(journal, document)
        holder = new_holder()
        lock = _lock(_writer(api, document, clock), asked, clock, holder, past)
        stack.callback(lock.release)
        readings = [first]

        def read() -> ReadNow:
            found = readings.pop() if readings else _read(api, clock)
            return ReadNow(build_cluster(found.inventory), found.source)

        now = read()
        readings.append(first)
        course, written = _course(document, asked.file, past, now.cluster, profile)
        around = Surroundings(
            writer=writer,
            read=read,
            lock=lock,
            journal=journal,
            clock=clock,
            profile=profile,
            interrupted=hooks.interrupted,
            place=place,
            who=_who(writer),
            holder=holder,
            owners=_owners(writer, asked, clock, document.plan_id or "", holder),
        )
        options = Options(
            last_wave=asked.last_wave,
            wave_timeout=asked.wave_timeout,
            dry_run=asked.dry_run,
            approved=_approved(document),
            replan=_replanning(course, profile) if asked.replan else None,
        )
        return CarryOut(course, around, options, past, written).run(hooks.begin)


def undo_plan(api: Api, document: Reviewed, asked: Asked, hooks: Hooks) -> ApplyReport:
    """Lift the cordons that carry the plan's mark, journal or not; evictions can't be undone."""
    clock = hooks.clock
    plan_id = document.plan_id or ""
    if not plan_id:
        refuse(document, asked.file, replan=True)
    with ExitStack() as stack:
        writer = stack.enter_context(closing(_writer(api, document, clock)))
        found = _read(api, clock)
        refuse_other_cluster(document, asked.file, found.source.cluster, api.context or api.place)
        journal = stack.enter_context(closing(_journal(asked, clock, hooks.listener)))
        nodes = found.inventory.nodes
        names = [n.name for n in nodes if is_ours(n.metadata.annotations, plan_id)]
        lifted = Cordons(writer, plan_id, journal).lift(names)
        return ApplyReport(
            plan_id=plan_id,
            command=MADE_BY[document.kind],
            source=found.source,
            result="undone",
            waves=0,
            lifted=lifted,
            journal=str(journal.path) if lifted else None,
        )


def _writer(api: Api, document: Reviewed, clock: Clock) -> Writer:
    """Audit logs name the plan."""
    return Writer(api, clock.sleep, f"planner/{__version__} apply {document.plan_id}")


def _read(api: Api, clock: Clock) -> LiveRead:
    found = read_snapshot(api, sleep=clock.sleep)
    missing = [name for name in found.source.not_read if name in NEEDED]
    if missing:
        raise SourceError(
            f"you may not list {', '.join(missing)}, and apply must not act without them",
            help="planner rbac --apply > rbac.yaml is what an administrator would have to grant",
        )
    return found


def _journal(asked: Asked, clock: Clock, listener: Listener) -> Journal:
    """A dry run leaves none."""
    return Journal(asked.journal, clock, listener, writes=not asked.dry_run)


def _past(journal: Journal, document: Reviewed) -> Past:
    past = journal.read()
    others = {e.plan_id for e in past.entries if e.event == "header"} - {document.plan_id}
    if others:
        raise PlannerError(
            f"{journal.path} is the journal of plan {others.pop()}, and this is {document.plan_id}",
            help="`journal=FILE` names another file",
        )
    return past


def _lock(writer: Writer, asked: Asked, clock: Clock, holder: str, past: Past) -> Lock:
    if asked.dry_run or not asked.lock:
        writer.close()
        return NoLock()
    if asked.lock_holder is not None:
        held = HeldLease(writer, asked.lock_holder)
        held.check()
        return held
    lease = Lease(writer, Holding(holder, COMMAND, past.holders), clock)
    try:
        lease.acquire()
    except PlannerError:
        writer.close()
        raise
    if asked.renews:
        lease.keep_renewing()
    return lease


def _owners(
    writer: Writer, asked: Asked, clock: Clock, plan: str, holder: str
) -> OwnersTold | None:
    """Whoever tells the owners of what happens, if that is left to us."""
    return OwnersTold(writer, clock, plan, holder) if asked.events else None


def _who(writer: Writer) -> str | None:
    """The user's name is a courtesy: servers before 1.28 don't tell it."""
    try:
        return who(writer) or None
    except ApiError as error:
        if error.code in (403, 404):
            return None
        raise


def _approved(document: Reviewed) -> int:
    return document.evictions if isinstance(document, Plan) else len(document.evictions)


def _course(
    document: Reviewed, file: str, past: Past, cluster: Cluster, profile: Profile
) -> tuple[Course, dict[str, Any] | None]:
    """The plan in force: the reviewed one, or the one that took its place.

    A rebalance gets the cordons that it needs; these are written down, for nobody could find them
    again once it has begun.
    """
    if past.replanned is not None:
        return _course_again(document, past.replanned), None
    match document:
        case EvictionPlan():
            return course_of_evictions(document), None
        case DrainPlan():
            return course_of_drain(document), None
        case Plan():
            found = steered(document, file, cluster, profile)
            return found.course, found.document


def _course_again(document: Reviewed, plan: dict[str, Any]) -> Course:
    """What an earlier run has planned, under the id of the plan that was approved."""
    if isinstance(document, Plan):
        return rebalance_course(document, EvictionPlan.model_validate(plan))
    if plan["kind"] == "DrainPlan":
        course = course_of_drain(DrainPlan.model_validate(plan))
    else:
        course = course_of_evictions(EvictionPlan.model_validate(plan))
    source = document.source or ClusterSource()
    return replace(course, plan_id=document.plan_id or "", source=source)


def _replanning(course: Course, profile: Profile) -> Callable[[Cluster], Replanned | None]:
    return lambda cluster: replanned(course, cluster, profile)
