"""What is said of nodes on paper."""

from __future__ import annotations

from planner.report.tables.scale_up_paper import on_paper
from planner_models.node_plan import Fills, NodePlan, NodesOnPaper, WaitingPods


def said(cost: float, paper_cost: float, *waiting: WaitingPods, bound: float = 10.0) -> str:
    """Of an answer at this cost, beside nodes on paper at the other."""
    paper = NodesOnPaper(
        adds=(),
        nodes=1,
        cost=paper_cost,
        bound=bound,
        gap=0.0,
        checked_pods=5,
        waiting=waiting,
        seeds=20,
    )
    fills = Fills(seeds=6, agree=6)
    document = NodePlan(
        status="feasible",
        objective="price",
        pending=5,
        cost=cost,
        bound=bound,
        on_paper=paper,
        fills=fills,
        time_limit=1.0,
    )
    return " ".join(on_paper(document))


def waits(name: str, count: int) -> WaitingPods:
    return WaitingPods(workload=f"Deployment/{name}", pods=count)


def test_the_distance_is_told_in_two_parts() -> None:
    text = said(12.6, 10.5, waits("api", 2), waits("web", 1))
    assert text.startswith("On paper 10.5 per hour would do")
    assert "(the place of each of 5 pods checked): 5.0% above 10." in text
    assert "leaves up to 3 waiting in 20 tie seeds (api 2, web 1)" in text
    assert "The answer costs 20% more than that" in text


def test_nodes_that_cost_no_more_than_the_bound_are_the_cheapest() -> None:
    assert "checked): no nodes on which everybody has a place cost less." in said(12.0, 10.0)


def test_an_answer_as_cheap_as_on_paper_says_how_far_the_bound_is() -> None:
    text = said(10.5, 10.5)
    assert text.startswith("Nor was anything cheaper found on paper")
    assert text.endswith("(each place checked): 5.0% above 10.")


def test_only_a_few_of_those_who_wait_are_named() -> None:
    text = said(12.0, 10.0, *(waits(name, 1) for name in "abcde"))
    assert "(a 1, b 1, c 1 and 2 other workloads)" in text


def test_without_nodes_on_paper_nothing_is_said() -> None:
    fills = Fills(seeds=6, agree=6)
    plan = NodePlan(status="optimal", objective="price", pending=0, fills=fills, time_limit=1.0)
    assert not list(on_paper(plan))
