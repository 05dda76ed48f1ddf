from __future__ import annotations

from pathlib import Path

from benchmarks.case import Case
from benchmarks.drain import measure, prepare

SMALL = {"cluster_nodes": 80, "pods": 1200, "nodes": 2}


def test_a_drain_is_measured_and_carried_out_once_more(tmp_path: Path) -> None:
    case = Case("drain", "planner", SMALL, seed=0)
    prepare(case, tmp_path)
    measured = measure(case, tmp_path)
    assert measured.wrong == ()
    assert measured.values["evictions"]


def test_the_rule_of_kubectl_drain_evicts_at_least_as_many(tmp_path: Path) -> None:
    ours, theirs = (Case("drain", m, SMALL, seed=0) for m in ("planner", "kubectl drain"))
    prepare(ours, tmp_path)
    evicted = measure(theirs, tmp_path).values["evictions"]
    assert int(evicted) >= int(measure(ours, tmp_path).values["evictions"])
