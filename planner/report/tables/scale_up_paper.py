"""Nodes on paper in words: how much of the gap is due to packing, and how much is not."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.tables.scale_up_words import cost_of
from planner.words import count_of
from planner_models.node_plan import NodePlan, NodesOnPaper

SHOWN = 3
"""Workloads that are named of those who wait."""


def on_paper(document: NodePlan) -> Iterator[str]:
    """What would do if pods went where they fit best, and who waits there in fact."""
    paper = document.on_paper
    if paper is None:
        return
    above = _above(paper)
    if paper.cost >= document.cost:
        yield (
            "Nor was anything cheaper found on paper, with pods where they fit best (each place "
            f"checked): {above}."
        )
        return
    pods = count_of(paper.checked_pods, "pod")
    yield (
        f"On paper {cost_of(document, paper.cost)} would do, with pods where they fit best (the "
        f"place of each of {pods} checked): {above}. {_in_fact(paper)}"
    )
    yield (
        f"The answer costs {_percent(document.cost - paper.cost, paper.cost)} more than that, for "
        "kube-scheduler's own choices, or because cheaper answers were not found."
    )


def _above(paper: NodesOnPaper) -> str:
    if paper.cost <= paper.bound:
        return "no nodes on which everybody has a place cost less"
    return f"{_percent(paper.cost - paper.bound, paper.bound)} above {paper.bound:.10g}"


def _in_fact(paper: NodesOnPaper) -> str:
    seeds = count_of(paper.seeds, "tie seed")
    pods = sum(each.pods for each in paper.waiting)
    if not pods:
        others = "other seeds, rollouts or failures"
        return f"kube-scheduler fills these nodes in {seeds}, but {others} exclude them."
    named = paper.waiting[:SHOWN]
    who = ", ".join(f"{each.workload.partition('/')[2]} {each.pods}" for each in named)
    more = len(paper.waiting) - SHOWN
    who += f" and {count_of(more, 'other workload')}" if more > 0 else ""
    return f"There kube-scheduler itself leaves up to {pods} waiting in {seeds} ({who})."


def _percent(part: float, whole: float) -> str:
    share = part / whole if whole else 0.0
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
