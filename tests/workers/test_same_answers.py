"""The same question gives the same bytes, wherever its parts run."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import planner
from planner import Answer, Cluster, Progress, Workers
from planner.workers import processes
from planner.workers.processes import Processes
from tests.workers.tasks import own_process

QUESTIONS: dict[str, Callable[[Cluster, Workers | int], Answer]] = {
    "whatif --each": lambda c, jobs: c.whatif(
        each=["zone", "node"], preempt=True, seeds=2, jobs=jobs
    ),
    "whatif --pairs": lambda c, jobs: c.whatif(each=["node"], pairs=True, seeds=1, jobs=jobs),
    "whatif --lose": lambda c, jobs: c.whatif(lose=["zone/eu-1a"], seeds=4, jobs=jobs),
    "evict": lambda c, jobs: c.evict(seeds=4, jobs=jobs),
    "drain": lambda c, jobs: c.drain(c.nodes[0].name, seeds=4, jobs=jobs),
    "drain --rolling": lambda c, jobs: c.drain(all_nodes=True, rolling=True, seeds=1, jobs=jobs),
}


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return planner.load(example="zone-outage")


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with Processes(2, at_once=True) as workers:
        yield workers


@pytest.mark.parametrize("question", QUESTIONS)
def test_two_processes_answer_as_one(question: str, cluster: Cluster, two: Workers) -> None:
    ask = QUESTIONS[question]
    assert ask(cluster, two).to_json() == ask(cluster, 1).to_json()


def test_processes_that_start_later_answer_as_one(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "BEGIN_HERE", 0.0)
    monkeypatch.setattr(processes, "WORTH_IT", 0.0)
    ask = QUESTIONS["whatif --each"]
    assert ask(cluster, 2).to_json() == ask(cluster, 1).to_json()


@pytest.mark.parametrize("question", ["whatif --each", "evict"])
def test_a_dask_cluster_answers_as_one_process(
    question: str, cluster: Cluster, dask_address: str
) -> None:
    ask = QUESTIONS[question]
    with planner.start_workers(dask=dask_address) as workers:
        assert ask(cluster, workers).to_json() == ask(cluster, 1).to_json()


def test_a_worker_that_is_killed_in_the_middle_is_not_missed(
    cluster: Cluster, dask_address: str
) -> None:
    ask: dict[str, Any] = {"each": ["zone", "node"], "preempt": True, "seeds": 2}
    with planner.start_workers(dask=dask_address) as workers:
        (first, *_) = workers.in_order(own_process, None, [0], ["who"])
        seen: list[int] = []

        def kill_once(progress: Progress) -> None:
            if not seen:
                os.kill(first, signal.SIGKILL)
            seen.append(progress.best)

        found = cluster.whatif(**ask, jobs=workers, progress=kill_once)
    assert found.to_json() == cluster.whatif(**ask).to_json()
    assert seen == list(range(1, len(seen) + 1))


@pytest.mark.usefixtures("ctrl_c_reaches_python")
@pytest.mark.parametrize("processes_too", [False, True])
def test_ctrl_c_leaves_the_failures_that_were_tried(
    cluster: Cluster, two: Workers, processes_too: bool
) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.best == 6:
            signal.raise_signal(signal.SIGINT)

    workers = two if processes_too else 1
    found = cluster.whatif(
        each=["node"], preempt=True, seeds=1, manner="removed", jobs=workers, progress=interrupt
    )
    assert found.stopped == "interrupted"
    assert (len(found.singles), found.not_tried) == (6, 6)
