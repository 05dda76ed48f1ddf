"""Workers of a Dask cluster, with a scheduler and workers in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.errors import PlannerError
from planner.workers import WorkerDiedError, Workers
from planner.workers import dask as module
from planner.workers.start import start_workers
from tests.workers.tasks import Snapshot, refuses, square, squares_or_dies

TASKS = list(range(12))
NAMES = [f"task {task}" for task in TASKS]


@pytest.fixture(scope="module")
def workers(dask_address: str) -> Iterator[Workers]:
    with start_workers(dask=dask_address) as found:
        yield found


def test_what_tasks_share_arrives_once_on_each_worker(workers: Workers, tmp_path: Path) -> None:
    shared = Snapshot(tmp_path)
    for _ in range(2):
        found = list(workers.in_order(square, shared, TASKS, NAMES))
        assert found == [task * task for task in TASKS]
    assert [path.read_text() for path in tmp_path.glob("arrived-*")] == ["x", "x"]


def test_what_a_task_raises_is_raised(workers: Workers, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 is refused"):
        list(workers.in_order(refuses, Snapshot(tmp_path), [0], ["zero"]))


def test_a_killed_worker_costs_a_repetition_and_a_task_that_kills_is_named(
    workers: Workers, tmp_path: Path
) -> None:
    found = list(workers.completed(squares_or_dies, Snapshot(tmp_path), TASKS, NAMES))
    assert sorted(index for index, _ in found) == TASKS
    results = dict(found)
    dead = results.pop(5)
    assert isinstance(dead, WorkerDiedError)
    assert dead.message == "task 5: the process that works on it dies, again and again"
    assert results == {task: task * task for task in TASKS if task != 5}


def test_workers_with_other_versions_are_refused() -> None:
    own = dict.fromkeys(module.COMPARED, "2.0.0")
    told: Any = {
        "client": {"packages": own},
        "workers": {"tcp://b": {"packages": {**own, "numpy": "1.26.4", "pod-planner": None}}},
    }
    with pytest.raises(PlannerError) as error:
        module._compare(told, "tcp://a")
    assert error.value.message == (
        "the workers at tcp://a do not run what this machine runs: "
        "pod-planner missing on tcp://b, 2.0.0 here; numpy 1.26.4 on tcp://b, 2.0.0 here"
    )


def test_an_address_without_a_scheduler_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    with pytest.raises(PlannerError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        start_workers(dask="tcp://127.0.0.1:1")
