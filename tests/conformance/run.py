"""Running many cases, in parallel if asked to."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec

from tests.conformance.case import (
    DESCHEDULER_FAMILIES,
    FLEET,
    QUEUE,
    SCHEDULER_FAMILIES,
    DeschedulerCase,
    FleetCase,
    QueueCase,
    SchedulerCase,
    header,
    lines,
)
from tests.conformance.descheduler_replay import replay_strategy
from tests.conformance.fleet_replay import replay_fleet
from tests.conformance.queue_replay import replay_queue
from tests.conformance.replay import replay
from tests.conformance.report import Comparison

CHUNK = 4
"""Cases that a process takes at a time: few, for some last a hundred times as long as others."""


def unsupported(family: str) -> str | None:
    """Why cases of a family can't be replayed, or None if they can."""
    known = {*SCHEDULER_FAMILIES, *DESCHEDULER_FAMILIES, QUEUE, FLEET}
    return None if family in known else "unknown family"


def replay_line(line: bytes) -> Comparison:
    """Replay one case. One that can't be replayed is a difference; the others still run."""
    head = header(line)
    result = Comparison(head.family, cases=1)
    reason = unsupported(head.family)
    if reason is not None:
        result.check(head.id, "case", "replayed", reason, "every case of the family")
        return result
    try:
        if head.family == QUEUE:
            return replay_queue(msgspec.json.decode(line, type=QueueCase))
        if head.family == FLEET:
            return replay_fleet(msgspec.json.decode(line, type=FleetCase))
        if head.family in DESCHEDULER_FAMILIES:
            return replay_strategy(msgspec.json.decode(line, type=DeschedulerCase))
        return replay(msgspec.json.decode(line, type=SchedulerCase))
    except Exception:  # noqa: BLE001 - the traceback is reported as a difference
        result.check(head.id, "case", "replayed", traceback.format_exc(), "a result")
        return result


def select(
    files: Iterable[Path], families: Collection[str] = (), first: int | None = None
) -> Iterator[bytes]:
    """The cases of these files that are of these families (of all if none is named).

    `first` limits the cases of each file.
    """
    for file in files:
        taken = 0
        for line in lines(file):
            if taken == first:
                break
            if not families or header(line).family in families:
                taken += 1
                yield line


def run(cases: Iterable[bytes], jobs: int = 1) -> Iterator[Comparison]:
    """Replay cases, each on its own; results come in the order of the cases."""
    if jobs == 1:
        yield from map(replay_line, cases)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(replay_line, cases, chunksize=CHUNK)
