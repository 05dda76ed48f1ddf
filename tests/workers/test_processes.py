"""Processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from planner.errors import UsageError
from planner.workers import HERE, WorkerDiedError, Workers, number
from planner.workers import processes as module
from planner.workers.processes import Processes
from planner.workers.start import start_workers
from tests.workers.tasks import Snapshot, refuses, square, squares_or_dies

TASKS = list(range(12))
NAMES = [f"task {task}" for task in TASKS]


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with Processes(2, at_once=True) as workers:
        yield workers


@pytest.mark.parametrize("kind", ["here", "processes"])
def test_results_come_in_the_order_of_tasks(kind: str, two: Workers, tmp_path: Path) -> None:
    workers = HERE if kind == "here" else two
    found = list(workers.in_order(square, Snapshot(tmp_path), TASKS, NAMES))
    assert found == [task * task for task in TASKS]


def test_what_tasks_share_arrives_once_in_each_process(two: Workers, tmp_path: Path) -> None:
    shared = Snapshot(tmp_path)
    for _ in range(2):
        list(two.in_order(square, shared, TASKS, NAMES))
    arrived = {path.name: path.read_text() for path in tmp_path.glob("arrived-*")}
    assert 1 <= len(arrived) <= 2
    assert set(arrived.values()) == {"x"}
    assert f"arrived-{os.getpid()}" not in arrived


def test_a_killed_process_costs_a_repetition_and_a_task_that_kills_is_named(
    two: Workers, tmp_path: Path
) -> None:
    found = list(two.completed(squares_or_dies, Snapshot(tmp_path), TASKS, NAMES))
    assert sorted(index for index, _ in found) == TASKS
    results = dict(found)
    dead = results.pop(5)
    assert isinstance(dead, WorkerDiedError)
    assert dead.message == "task 5: the process that works on it dies, again and again"
    assert results == {task: task * task for task in TASKS if task != 5}


def test_who_asks_for_results_in_order_gets_the_death_of_a_task_as_an_error(
    two: Workers, tmp_path: Path
) -> None:
    with pytest.raises(WorkerDiedError, match="task 5"):
        list(two.in_order(squares_or_dies, Snapshot(tmp_path), TASKS, NAMES))


def test_what_a_task_raises_is_raised(two: Workers, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 is refused"):
        list(two.in_order(refuses, Snapshot(tmp_path), [0], ["zero"]))


def test_who_has_seen_enough_stops(two: Workers, tmp_path: Path) -> None:
    shared = Snapshot(tmp_path)
    with closing(two.in_order(square, shared, TASKS, NAMES)) as found:
        assert next(found) == 0
    assert list(two.in_order(square, shared, [7], ["seven"])) == [49]


def test_few_tasks_are_done_here(tmp_path: Path) -> None:
    with start_workers() as workers:
        assert list(workers.in_order(square, Snapshot(tmp_path), TASKS, NAMES))[-1] == 121
    assert [path.name for path in tmp_path.iterdir()] == [f"done-{os.getpid()}"]


def test_long_work_goes_on_in_more_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BEGIN_HERE", 0.0)
    monkeypatch.setattr(module, "WORTH_IT", 0.0)
    with start_workers(2) as workers:
        assert list(workers.in_order(square, Snapshot(tmp_path), TASKS, NAMES))[-1] == 121
    done = {p.name: p.read_text().split() for p in tmp_path.glob("done-*")}
    assert done.pop(f"done-{os.getpid()}") == ["0"]
    assert sorted(int(task) for tasks in done.values() for task in tasks) == TASKS[1:]


def test_memory_limits_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number, "cores", lambda: 8)
    monkeypatch.setattr(number, "free_memory", lambda: 10 << 30)
    assert number.usual_number(2 << 30) == 4
    assert number.usual_number(1 << 20) == 8
    assert number.usual_number(100 << 30) == 1


def test_a_container_has_the_cores_and_the_memory_of_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(number, "_GROUP", tmp_path)
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert number.cores() == 1
    assert number.free_memory() == 600


def test_processes_and_a_dask_cluster_are_two_places() -> None:
    with pytest.raises(UsageError, match="two places"):
        start_workers(2, "tcp://127.0.0.1:1")
