"""One step of a round as a process of its own: planner again, with other words.

A crash, a leak or a search that takes all memory ends that process and not the one that holds the
Lease. Its output goes to a file, for it may be far larger than what anybody looks at.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

POLL = 0.2
"""Seconds between two looks at a process."""
GRACE = 30.0
"""Seconds that a process has to end after Ctrl-C: cordons are lifted then."""
OWN_SHARE = 96 << 20
"""Bytes of a container's memory that are not for the child."""
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Libraries would take memory for a thread on each processor of the machine; planner needs none."""
SAID = 2000
"""Characters of what a process said last that are kept."""


@dataclass(frozen=True)
class Ended:
    """How a process ended; `stopped` says why we ended it, where we did."""

    code: int
    output: bytes
    said: str
    seconds: float
    stopped: str | None = None

    @property
    def why(self) -> str:
        """Why it failed, in a line."""
        if self.stopped is not None:
            return self.stopped
        if self.code < 0:
            name = signal.Signals(-self.code).name
            memory = "; out of memory?" if -self.code == signal.SIGKILL else ""
            return f"it was killed ({name}{memory})"
        errors = [line for line in self.said.splitlines() if line.startswith("error: ")]
        return errors[-1].removeprefix("error: ") if errors else f"exit code {self.code}"

    @property
    def warnings(self) -> list[str]:
        """What it warned of."""
        lines = (line for line in self.said.splitlines() if line.startswith("warning: "))
        return [line.removeprefix("warning: ") for line in lines]


Tick = Callable[[], str | None]
"""Looked at while a process runs; what it says is the reason to stop it."""


def run_child(words: Sequence[str], limit: float, tick: Tick) -> Ended:
    """Run `planner` with these words, for at most so many seconds."""
    command = (sys.executable, "-m", "planner", *words)
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # Ctrl-C is for us; we pass it on
        )
        _limit_memory(process.pid)
        stopped = _wait(process, begin + limit, tick)
        output.seek(0)
        said = _end_of(errors)
        return Ended(process.returncode, output.read(), said, time.monotonic() - begin, stopped)


def _wait(process: subprocess.Popen[bytes], until: float, tick: Tick) -> str | None:
    """Until it ends; why it was stopped, if it was."""
    try:
        while True:
            try:
                process.wait(POLL)
            except subprocess.TimeoutExpired:
                why = tick()
                if why is None and time.monotonic() >= until:
                    why = "it took too long"
                if why is not None:
                    _stop(process)
                    return why
            else:
                return None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C would; who doesn't listen is killed."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _limit_memory(pid: int) -> None:
    """In a container: what is left of its memory beside us.

    The kernel would end all of a container's processes otherwise, the one that holds the Lease too.
    """
    try:
        most = int(MEMORY_LIMIT.read_text("ascii")) - OWN_SHARE
        if most > 0:
            resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))
    except (OSError, ValueError):  # no limit ("max"), no such file, or the process has ended
        return


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - SAID))
    return file.read().decode("utf-8", "replace")
