"""The journal: what was done, line by line, so that a run that was cut off can go on.

Each line is on the disk before the next thing happens. One run at a time has the file (flock), so
whoever holds it knows that the runs before have ended.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from planner.apply.clock import Clock
from planner.errors import PlannerError
from planner_models.apply_report import ApplyEntry, ApplyEvent

Listener = Callable[[ApplyEntry], object]


@dataclass(frozen=True)
class Past:
    """What earlier runs of the same plan have written."""

    entries: tuple[ApplyEntry, ...] = ()

    @property
    def holders(self) -> tuple[str, ...]:
        """Under which names they held the lock; they have ended, for we have their journal."""
        return tuple(each.holder for each in self.entries if each.event == "header" and each.holder)

    @property
    def waves_done(self) -> frozenset[int]:
        """Waves of the plan in force that are over."""
        since = self.since_replanned()
        return frozenset(e.wave for e in since if e.event == "waveDone" and e.wave is not None)

    def since_replanned(self) -> tuple[ApplyEntry, ...]:
        """The lines about the plan that is in force."""
        marks = [i for i, each in enumerate(self.entries) if each.event == "replanned"]
        return self.entries[marks[-1] + 1 :] if marks else self.entries

    @property
    def replanned(self) -> dict[str, Any] | None:
        """The plan that took the place of the approved one, if any did."""
        found = [each.plan for each in self.entries if each.event == "replanned"]
        return found[-1] if found else None

    def uids(self, *events: ApplyEvent) -> frozenset[str]:
        """Of the pods of such lines."""
        return frozenset(e.uid for e in self.entries if e.event in events and e.uid)

    def started(self, wave: int) -> ApplyEntry | None:
        """When the wave began for the first time."""
        since = self.since_replanned()
        found = (e for e in since if e.event == "waveStarted" and e.wave == wave)
        return next(found, None)


class Journal:
    """An open journal; `listener` is told each line, and what is only told."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        listener: Listener = lambda _: None,
        *,
        writes: bool = True,
    ) -> None:
        self.path = path
        self._clock = clock
        self._listener = listener
        self.written = False
        """Whether this run has written a line."""
        there = path if writes or path.exists() else Path(os.devnull)
        try:
            self._file: IO[bytes] = there.open("a+b")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise PlannerError(f"can't write the journal {path}: {reason}") from error
        try:
            if writes:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise PlannerError(
                f"another planner apply is at work with {path}",
                help="wait until it has ended; another plan needs another journal",
            ) from error

    def read(self) -> Past:
        """All whole lines; one that was cut off is taken away."""
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        if whole != len(text):
            self._file.truncate(whole)
        lines = text[:whole].splitlines()
        try:
            return Past(tuple(ApplyEntry.model_validate_json(line) for line in lines))
        except ValidationError as error:
            raise PlannerError(
                f"{self.path} is no journal of planner apply",
                help="`journal=FILE` names another file",
            ) from error

    def write(self, event: ApplyEvent, **fields: Any) -> None:
        """One line, on the disk when this returns; then whoever listens is told."""
        entry = self._entry(event, fields)
        text = entry.model_dump_json(by_alias=True, exclude_none=True)
        self._file.write(text.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.written = True
        self._listener(entry)

    def tell(self, event: ApplyEvent, **fields: Any) -> None:
        """Only told: nothing that a later run would have to know."""
        self._listener(self._entry(event, fields))

    def _entry(self, event: ApplyEvent, fields: dict[str, Any]) -> ApplyEntry:
        at = datetime.fromtimestamp(self._clock.now(), UTC)
        return ApplyEntry(event=event, at=at, **fields)

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()
