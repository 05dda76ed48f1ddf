"""How good a plan is and how sure that is, in one sentence: the line below the headline."""

from __future__ import annotations

from planner.report.tables.plan_counts import PlanCounts, plan_counts
from planner.report.text.blocks import Paragraph
from planner.words import count_of
from planner_models.plan import Objective, Plan

ON_PAPER = (
    "A better final state exists on paper only: no order of steps that pass kube-scheduler's "
    "filters reaches it."
)

WISHES = {
    "preferences": "unmet preferences",
    "balance": "imbalance",
    "pack": "nodes in use",
}


def proof(document: Plan) -> Paragraph:
    """`Optimal: ...` only with a proof."""
    match document.status:
        case "optimal":
            text = f"{_optimal(document)}{_open_wishes(document)}"
            return Paragraph(f"Optimal: {_with_paper(text, document)}", "green")
        case "feasible":
            text = f"{_feasible(document)}{_stopped(document)}"
            return Paragraph(f"Feasible: {_with_paper(text, document)}", "yellow")
        case "infeasible":
            return Paragraph("Infeasible: no plan keeps within what the options allow.", "red")
        case "unknown":
            return Paragraph(f"Undecided: no plan was found.{_stopped(document)}", "red")


def _with_paper(text: str, document: Plan) -> str:
    return f"{text} {ON_PAPER}" if document.on_paper_only else text


def _optimal(document: Plan) -> str:
    moves = next((each for each in document.objectives if each.name == "moves"), None)
    pods = plan_counts(document)
    if document.options.relax:
        if not document.broken and document.unplaced:
            return "breaking spread and inter-pod rules would place no more."
        if not document.broken:
            return "everything fits without breaking a rule."
        return f"no plan that places {_these(pods.placed)} breaks less."
    if document.options.rebalance and moves is not None:
        return _optimal_moves(document, moves, pods)
    if document.unplaced:
        stay = "" if document.options.preempt else " while running pods stay"
        return f"no choice of nodes places more{stay}."
    return "every pending pod is placed." if document.placements else "there is nothing to place."


def _open_wishes(document: Plan) -> str:
    """Wishes come after all rules and have a small part of the time: they may not be proven."""
    unproven = [
        f"{WISHES[each.name]} {each.value}, at least {each.bound}"
        for each in document.objectives
        if each.name in WISHES and each.value != each.bound
    ]
    return f" Not proven: {'; '.join(unproven)}." if unproven else ""


def _optimal_moves(document: Plan, moves: Objective, pods: PlanCounts) -> str:
    if not pods.evicted:
        if document.unplaced or document.violations:
            return f"no sequence of moves gets further{_alone(document)}."
        return (
            "every pending pod is placed without a move."
            if document.placements
            else ("nothing needs to move.")
        )
    what = "eviction" if pods.returned else "move"
    few = f"{count_of(pods.evicted, what)}, and fewer can't do (lower bound {moves.bound})."
    if not document.unplaced:
        return few
    return f"no sequence of moves gets further{_alone(document)}; {few}"


def _alone(document: Plan) -> str:
    """That the claim is about the pods that may move."""
    pods = sum(each.pods for each in document.left_alone)
    return f" while {count_of(pods, 'pod is', 'pods are')} left alone" if pods else ""


def _these(number: int) -> str:
    return "this one" if number == 1 else f"these {number}"


def _feasible(document: Plan) -> str:
    """The first level that is not proven, with what is left between the plan and its bound."""
    open_level = next((each for each in document.objectives if each.value != each.bound), None)
    if open_level is None:
        return "no better plan is known, and none is excluded."
    value, bound = open_level.value, open_level.bound
    gap = f"(gap {_percent(abs(value - bound), max(value, bound, 1))}%)"
    if open_level.name == "moves":
        if not bound:
            return f"{count_of(value, 'move')}, not proven the fewest."
        needed = "is needed" if bound == 1 else "are needed"
        return f"{count_of(value, 'move')}; at least {bound} {needed} {gap}."
    kind, _, priority = open_level.name.partition(" ")
    if kind == "placed":
        levels = [each for each in document.objectives if each.name.startswith("placed")]
        whom = f" of priority {priority}" if len(levels) > 1 else ""
        verb = "is" if bound == 1 else "are"
        return f"{count_of(value, 'pod')}{whom} placed; at most {bound} {verb} possible {gap}."
    name = (
        f"{value} over the limit" if open_level.name == "excess" else f"{open_level.name} {value}"
    )
    return f"{name}; at least {bound} can't be avoided {gap}."


def _stopped(document: Plan) -> str:
    match document.stopped:
        case "timeLimit":
            return f" Time limit of {document.options.time_limit:g}s."
        case "interrupted":
            return " Interrupted."
        case "rounds":
            return " The search over orders of steps ended without a proof."
        case "placed":
            return f" No plan places more{_alone(document)}, which ended the search."
        case "budgets":
            return " Pods whose budget allows nothing now were left where they are."
        case None:
            return ""


def _percent(part: int, whole: int) -> int:
    """Rounded up: a gap is never shown as none."""
    return -(-100 * part // whole)
