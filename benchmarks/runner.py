"""Runs the cases of benchmarks, each in a fresh process, and keeps what came out.

A case that fails, answers wrongly or does not end in time is kept as such: it is never left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.case import Case, Scalar
from benchmarks.workload import Workload
from planner.workers import HERE
from planner.workers.processes import Processes

Status = Literal["right", "wrong", "failed", "not finished"]


class Result(BaseModel):
    """One case and what it gave; times are zero if it did not end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmark: str
    method: str
    point: dict[str, Scalar]
    seed: int
    status: Status
    code: str
    """A fingerprint of what was measured."""
    seconds: float = 0.0
    cpu: float = 0.0
    peak_mb: float = 0.0
    values: dict[str, Scalar] = Field(default_factory=dict)
    wrong: list[str] = Field(default_factory=list)


class Machine(BaseModel):
    """Where the numbers come from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cores: int
    memory_gb: float
    python: str
    system: str


class Results(BaseModel):
    """A whole run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    machine: Machine
    quick: bool
    results: list[Result]


def this_machine() -> Machine:
    """Cores and memory as the operating system counts them."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Machine(
        cores=os.cpu_count() or 1,
        memory_gb=round(memory, 1),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
    )


def this_code() -> str:
    """Changes with every source; a case itself says which work was done."""
    root = Path(__file__).parent.parent
    found = hashlib.sha256()
    for folder in ("planner", "models", "benchmarks"):
        for file in sorted((root / folder).rglob("*.py")):
            found.update(f"{file.relative_to(root)}\0".encode())
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


def run(cases: Iterable[Case], work: Workload, cache: Path, *, beside: bool) -> Iterator[Result]:
    """One after the other, so that they don't disturb each other, or one on each core."""
    every = list(cases)
    with Processes(os.cpu_count(), at_once=True) if beside else HERE as workers:
        yield from workers.in_order(_run, (work, cache), every, [str(case) for case in every])


def _run(place: tuple[Workload, Path], case: Case) -> Result:
    return run_one(case, *place)


def run_one(case: Case, work: Workload, cache: Path) -> Result:
    """A fresh process: its peak memory is that of this case alone."""
    about, timeout = {**asdict(case), "code": this_code()}, work.timeout
    if work.prepare:
        process("prepare", case, cache, timeout).check_returncode()
    try:
        done = process("measure", case, cache, timeout)
    except subprocess.TimeoutExpired:
        return Result(**about, status="not finished", wrong=[f"no end after {timeout:g} s"])
    if done.returncode:
        return Result(**about, status="failed", wrong=done.stderr.strip().splitlines()[-3:])
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Result(**about, status="wrong" if found["wrong"] else "right", **found)


def process(task: str, case: Case, cache: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """`run_case` with this task."""
    about = json.dumps(asdict(case))
    command = [sys.executable, "-m", "benchmarks.run_case", task, str(cache), about]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        # Modules are compiled once, as they are where planner is installed; numpy starts no
        # threads, as under the command line.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "OPENBLAS_NUM_THREADS": "1"},
    )
