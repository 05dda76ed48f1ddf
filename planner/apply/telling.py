"""What is shown before it begins, and what is left to say in the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from planner.apply.course import Course, CourseWave
from planner.apply.preconditions import Verdict
from planner.apply.state import Progress, ReadNow, Surroundings
from planner.words import count_of
from planner_models.apply_report import (
    AppliedEviction,
    ApplyReport,
    ApplyResult,
    ApplyStart,
    ApplyWave,
)

NAMED = 3
"""So many pods that came are named."""


def start_of(
    course: Course,
    rest: Sequence[CourseWave],
    now: ReadNow,
    around: Surroundings,
    verdict: Verdict,
    resuming: str | None,
    excess: int,
) -> ApplyStart:
    """The plan, the cluster, and whether the one still fits the other."""
    made = course.source.read_at
    age = None if made is None else max(0, int(around.clock.now() - made.timestamp()))
    fresh = resuming is None and made is not None
    return ApplyStart(
        plan_id=course.plan_id,
        command=course.command,
        evictions=sum(len(wave.departures) for wave in rest),
        waves=tuple(map(_shown, rest)),
        excess_before=excess,
        excess_after=course.excess_after,
        age=age,
        place=around.place,
        nodes=len(now.cluster.nodes),
        pods=len(now.cluster.pods),
        who=around.who,
        since=tuple(_since(now, made.timestamp())) if fresh and made is not None else (),
        seeds=verdict.seeds,
        holds=verdict.holds,
        resuming=resuming,
    )


def _shown(wave: CourseWave) -> ApplyWave:
    counts: dict[str, int] = {}
    for each in sorted(wave.departures, key=lambda each: each.workload):
        name = each.workload.partition("/")[2]
        counts[name] = counts.get(name, 0) + 1
    return ApplyWave(
        number=wave.number,
        pods={each.name: each.node for each in wave.departures},
        of=counts,
        cordon=wave.cordon,
        drain=wave.drain,
    )


def _since(now: ReadNow, made: float) -> Iterator[str]:
    """Pods that are newer than the plan."""
    cluster = now.cluster
    came = [
        (pod.name, int(cluster.node_of[index]))
        for index, pod in enumerate(cluster.pods)
        if pod.created is not None and pod.created > made
    ]
    if len(came) > NAMED:
        yield f"{count_of(len(came), 'pod')} came"
        return
    for name, node in came:
        yield f"{name} came to {cluster.nodes[node].name}" if node >= 0 else f"{name} waits"


def report_of(
    course: Course,
    around: Surroundings,
    progress: Progress,
    result: ApplyResult,
    lines: Sequence[str] = (),
    *,
    cordoned: Collection[str] = (),
    lifted: Collection[str] = (),
) -> ApplyReport:
    """How it ended."""
    evicted = [uid for uid, outcome in progress.outcomes.items() if outcome == "evicted"]
    verdict, excess = progress.verdict, progress.excess
    return ApplyReport(
        plan_id=course.plan_id,
        command=course.command,
        source=progress.source,
        who=around.who,
        result=result,
        reason=tuple(lines),
        wave=progress.wave or None,
        before=None if progress.begun or result not in ("stopped", "failed") else True,
        waves=len(course.waves),
        evictions=tuple(_applied(progress)),
        evicted=len(evicted),
        landed=sum(each.as_promised for each in progress.landed),
        elsewhere=sum(not each.as_promised for each in progress.landed),
        waiting=progress.waiting,
        cordoned=tuple(sorted(cordoned)),
        lifted=tuple(lifted),
        excess_before=excess[0] if excess else None,
        excess_after=excess[-1] if excess else None,
        seeds=None if verdict is None else verdict.seeds,
        holds=None if verdict is None else verdict.holds,
        journal=str(around.journal.path) if around.journal.written else None,
    )


def _applied(progress: Progress) -> Iterator[AppliedEviction]:
    landed = {each.departure.uid: each for each in progress.landed}
    for uid, (each, wave) in progress.planned.items():
        found = landed.get(uid)
        yield AppliedEviction(
            pod=each.pod,
            node=each.node,
            wave=wave,
            outcome=progress.outcomes.get(uid, "left"),
            landed_on=None if found is None else found.node,
            as_promised=None if found is None else found.as_promised,
            seconds=None if found is None else found.seconds,
        )
