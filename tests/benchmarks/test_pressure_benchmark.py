"""The pressure benchmark: the published generator, and plans judged from their documents alone."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks import pressure
from benchmarks.case import Case
from benchmarks.pressure import Instance
from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.plan import Step


def test_instances_are_as_published() -> None:
    drawn = pressure.inventory(Instance(8, 4, 2, 105, seed=3))
    sizes = Counter(pod.owner.name for pod in drawn.pods if pod.owner is not None)
    assert len(drawn.pods) == 32
    assert set(sizes.values()) <= {1, 2, 3, 4}
    assert {pod.priority for pod in drawn.pods} == {1, 2}
    for name in ("cpu", "memory"):
        wanted = [pod.spec.requests[name] for pod in drawn.pods]
        offered = {node.allocatable[name] for node in drawn.nodes}
        assert len(offered) == 1
        each = math.ceil(math.ceil(Fraction(100 * sum(wanted), 105)) / 8)
        assert offered == {max(*wanted, each)}


def test_the_same_instance_is_the_same_cluster() -> None:
    once, again = (pressure.inventory(Instance(4, 4, 2, 100, seed=0)) for _ in range(2))
    assert once.nodes == again.nodes
    assert [(p.key, p.spec.requests) for p in once.pods] == [
        (p.key, p.spec.requests) for p in again.pods
    ]


def test_a_small_case_is_better_and_proven() -> None:
    instance = Instance(4, 4, 2, 100, seed=0)
    [row] = pressure.attempts(instance, 1.0)
    assert row.wrong == ()
    assert (row.greedy, row.planned, row.bound) == ((6, 7), (6, 9), (6, 9))
    assert row.better
    assert row.proven
    assert not row.failed
    assert pressure.summary([row])["better_and_proven"] == 100


def test_a_wrong_plan_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def crowding(*given: object) -> object:
        plan = make_plan(*given)  # type: ignore[arg-type]  # passed on as they came
        pods = [step.pod for wave in plan.waves for step in wave.steps if step.pod is not None]
        twice = [Step(action="place", pod=pod, node="node-00") for pod in pods for _ in range(9)]
        return plan.model_copy(
            update={"waves": (plan.waves[0].model_copy(update={"steps": twice}),)}
        )

    monkeypatch.setattr(pressure, "make_plan", crowding)
    monkeypatch.setattr(pressure, "USAGES", (100,))
    monkeypatch.setattr(pressure, "PODS_PER_NODE", (4,))
    monkeypatch.setattr(pressure, "PRIORITIES", (2,))
    found = pressure.measure(Case("pressure", "planner", {"nodes": 4, "limit": 1.0}, 0), tmp_path)
    assert any("does not fit" in text for text in found.wrong)


def test_the_same_case_gives_the_same_bytes() -> None:
    cluster = pressure.snapshot(Instance(4, 8, 4, 100, seed=1))
    options = SolveOptions(rebalance=True, preempt=True, time_limit=0.5)
    once, again = (make_plan(cluster, options, default_profile()) for _ in range(2))
    assert once.model_dump_json() == again.model_dump_json()
