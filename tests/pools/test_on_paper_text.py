"""What would do on paper, in words."""

from __future__ import annotations

from planner.report.tables.scale_up_paper import on_paper
from planner_models.node_plan import Fills, NodePlan, NodesOnPaper, WaitingPods


def plan(cost: float, *waiting: WaitingPods) -> NodePlan:
    """An answer of 18.4 beside nodes on paper, with a bound of 17.5."""
    return NodePlan(
        status="feasible",
        objective="price",
        pending=1000,
        cost=18.4,
        bound=17.5,
        fills=Fills(seeds=6, agree=6),
        time_limit=60,
        on_paper=NodesOnPaper(
            adds=(),
            nodes=57,
            cost=cost,
            bound=17.5,
            gap=0.012,
            checked_pods=1000,
            waiting=waiting,
            seeds=20,
        ),
    )


def test_the_gap_is_told_in_two_parts() -> None:
    waiting = [
        WaitingPods(workload=f"Deployment/{name}", pods=n)
        for name, n in (("api", 6), ("web", 8), ("db", 1), ("job", 2))
    ]
    assert list(on_paper(plan(17.7, *waiting))) == [
        "On paper 17.7 per hour would do, with pods where they fit best (the place of each of "
        "1000 pods checked): 1.1% above 17.5. There kube-scheduler itself leaves up to 17 "
        "waiting in 20 tie seeds (api 6, web 8, db 1 and 1 other workload).",
        "The answer costs 4.0% more than that, for kube-scheduler's own choices, or because "
        "cheaper answers were not found.",
    ]


def test_where_nobody_waits_something_else_excludes_the_nodes() -> None:
    told = " ".join(on_paper(plan(17.7)))
    assert (
        "fills these nodes in 20 tie seeds, but other seeds, rollouts or failures exclude them"
        in told
    )


def test_nothing_cheaper_on_paper_is_said_too() -> None:
    assert list(on_paper(plan(18.4))) == [
        "Nor was anything cheaper found on paper, with pods where they fit best (each place "
        "checked): 5.1% above 17.5."
    ]


def test_nodes_that_cost_no_more_than_the_bound_are_the_cheapest() -> None:
    told = " ".join(on_paper(plan(17.5)))
    assert "pods checked): no nodes on which everybody has a place cost less." in told
