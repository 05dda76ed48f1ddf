from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import evict
from benchmarks.case import Case
from benchmarks.evict import DRIFTS, Outcome, measure, random_cluster
from planner.cluster import Cluster

BATCH = Case("evict", "planner", {"drift": "scale", "clusters": 2, "seeds": 3, "limit": 2}, seed=0)


def keys(cluster: Cluster) -> list[tuple[str, int]]:
    return [(pod.key, int(node)) for pod, node in zip(cluster.pods, cluster.node_of, strict=True)]


def test_the_same_number_gives_the_same_cluster() -> None:
    first, drift = random_cluster(4)
    second, _ = random_cluster(4)
    assert keys(first) == keys(second)
    assert drift == DRIFTS[1]


def test_our_plans_are_no_worse_than_the_descheduler_s_and_sure(tmp_path: Path) -> None:
    found = measure(BATCH, tmp_path)
    assert found.wrong == ()
    assert found.values["unrepaired"] == 0


def test_a_plan_that_is_worse_than_the_descheduler_s_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = Outcome(evictions=1000, rounds=1, excess=0, pending=0, converges=False)
    monkeypatch.setattr(evict, "by_planner", lambda *_: bad)
    wrong = measure(BATCH, tmp_path).wrong
    assert wrong[0] == "cluster 1 does not converge"
    assert wrong[1].startswith("cluster 1: 1000 evictions, descheduler ")
