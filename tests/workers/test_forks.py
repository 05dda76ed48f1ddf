"""Processes that are forks of this one: each test has one of its own, which has no threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux")


def alone(script: str, **more: str) -> str:
    """What such a process prints."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "models")))
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path, **more}
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_tasks_share_is_not_pickled() -> None:
    script = """
from planner.workers.processes import Processes
from tests.workers.tasks import asks
with Processes(2, at_once=True) as workers:
    print(list(workers.in_order(asks, lambda task: task + 1, [1, 2, 3], ["a", "b", "c"])))
"""
    assert alone(script) == "[2, 3, 4]\n"


def test_a_killed_fork_costs_a_repetition_and_a_task_that_kills_is_named(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from planner.workers.processes import Processes
from tests.workers.tasks import Snapshot, squares_or_dies
tasks = list(range(12))
with Processes(2, at_once=True) as workers:
    names = [f"task {{task}}" for task in tasks]
    found = workers.completed(squares_or_dies, Snapshot(Path({str(tmp_path)!r})), tasks, names)
    results = dict(found)
print(results.pop(5).message)
print(sorted(results.values()))
"""
    expected = [task * task for task in range(12) if task != 5]
    message = "task 5: the process that works on it dies, again and again"
    assert alone(script) == f"{message}\n{expected}\n"


def test_the_command_line_forks_and_answers_as_one_process() -> None:
    script = """
from planner.cli.app import main
from planner.workers import processes
processes.BEGIN_HERE = processes.WORTH_IT = 0.0
forked = []
can_fork = processes.can_fork
processes.can_fork = lambda: forked.append(can_fork()) or forked[-1]
asked = ["whatif", "--example", "zone-outage", "--each", "node", "--preempt", "--seeds", "1"]
main([*asked, "-o", "json", "--jobs", JOBS])
print(forked)
"""
    one, two = (alone(script.replace("JOBS", f'"{jobs}"')) for jobs in (1, 2))
    assert (one.removesuffix("[]\n"), two[-7:]) == (two.removesuffix("[True]\n"), "[True]\n")


def test_a_process_with_threads_is_not_forked_unless_they_rest() -> None:
    script = """
import threading
from planner.workers.forks import can_fork, rests_for_forks
end, lock = threading.Event(), threading.Lock()
thread = threading.Thread(target=end.wait)
print(can_fork())
thread.start()
print(can_fork())
rests_for_forks(thread, lock)
print(can_fork())
end.set()
"""
    assert alone(script).split() == ["True", "False", "True"]


def test_a_thread_that_rests_has_let_go_of_its_lock_in_the_fork() -> None:
    script = """
import os, threading
from planner.workers.forks import rests_for_forks
lock = threading.Lock()
rests_for_forks(threading.current_thread(), lock)
child = os.fork()
if not child:
    os._exit(0 if lock.acquire(blocking=False) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), lock.acquire(blocking=False))
"""
    assert alone(script) == "0 True\n"


def test_threads_of_libraries_count() -> None:
    """numpy starts one for each further core unless it is told not to."""
    script = """
import numpy
from planner.workers.forks import can_fork
print(can_fork())
"""
    assert alone(script) == "True\n"
    if (os.cpu_count() or 1) > 1:
        assert alone(script, OPENBLAS_NUM_THREADS="2") == "False\n"
