from __future__ import annotations

from benchmarks.evict import DRIFTS, measure, random_cluster, summary
from planner.cluster import Cluster


def keys(cluster: Cluster) -> list[tuple[str, int]]:
    return [(pod.key, int(node)) for pod, node in zip(cluster.pods, cluster.node_of, strict=True)]


def test_the_same_number_gives_the_same_cluster() -> None:
    first, drift = random_cluster(4)
    second, _ = random_cluster(4)
    assert keys(first) == keys(second)
    assert drift == DRIFTS[1]


def test_our_plans_are_no_worse_than_the_descheduler_s_and_sure() -> None:
    cases = [measure(number, 3, 2.0) for number in (3, 4, 8)]
    assert all(case.converges and not case.worse for case in cases)
    lines = list(summary(cases))
    assert "converges: 3 of 3" in lines
    assert "worse than the descheduler: 0" in lines
