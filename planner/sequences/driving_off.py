"""Plans whose replacements drive nobody off.

A replacement that no node takes at its moment may preempt pods of lower priority, and then the plan
ends otherwise than it says. So plans are tried with kube-scheduler's own choices, and one that
leads to a preemption is made anew without the evictions that do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from planner.sequences.decision import Decision
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import plan_outcome
from planner.sequences.scheduler_replay import ReplayedSeeds, scheduler_replay
from planner.solver.progress import Report
from planner.words import NAMED, conjoined, count_of

ROUNDS = 8
"""So often other evictions are looked for; then nobody like those evicted is."""
TIME_SHARE = 0.12
"""The part of the time limit that each of these rounds gets: the first plan may have used most."""
TRIAL_SHARE = 0.04
"""The part that the trials of each get."""
NOTE = (
    "evictions whose replacements could drive off pods of lower priority were left out; planner "
    "evict looks for cordons that prevent it"
)


def without_preemption(
    outcome: PlanOutcome, report: Report
) -> tuple[PlanOutcome, ReplayedSeeds | None]:
    """A plan that was tried and leads to no preemption, as far as it can be tried, and the trials.

    With `--preempt`, `--relax` and `--surge` the steps are not those that kube-scheduler takes.
    """
    options = outcome.problem.options
    if options.relax or options.surge:
        return outcome, None
    first, replayed = outcome, scheduler_replay(outcome)
    reasons: dict[int, str] = {}
    rounds = 0
    while replayed is not None and replayed.driven and not options.preempt:
        rounds += 1
        staying = _staying(outcome, replayed, everybody=rounds > ROUNDS)
        if not staying:
            break
        reasons |= staying
        again = replace(
            options,
            spared=options.spared | reasons.keys(),
            time_limit=options.time_limit * TIME_SHARE,
        )
        outcome = plan_outcome(first.before, again, first.profile, report)
        replayed = scheduler_replay(outcome, options.time_limit * TRIAL_SHARE)
    return (_compared(first, outcome, reasons) if reasons else outcome), replayed


def _staying(outcome: PlanOutcome, replayed: ReplayedSeeds, *, everybody: bool) -> dict[int, str]:
    """Pods that the next plan leaves alone: who preempts, with those like it on its node.

    Where a pod preempts that was not evicted itself, it is those that made room for it.
    """
    cluster = outcome.before
    evicted = {step.pod for step in outcome.waves.steps if step.evicts}
    found: dict[int, str] = {}
    for preemptor, victims in replayed.driven.items():
        guilty = evicted if everybody else _guilty(outcome, evicted, preemptor, victims)
        cells = {(int(cluster.group_of[pod]), int(cluster.node_of[pod])) for pod in guilty}
        if everybody:
            groups = {group for group, _ in cells}
            cells = {cell for cell in outcome.problem.movable if cell[0] in groups}
        names = sorted(cluster.pods[victim].key for victim in victims)
        whom = conjoined(names) if len(names) <= NAMED else count_of(len(names), "pod")
        text = f"its eviction could make a waiting pod drive off {whom}"
        found |= {pod: text for cell in cells for pod in outcome.problem.movable.get(cell, ())}
    if found or everybody:
        return found
    steps = [step for step in outcome.waves.steps if step.evicts]
    cells = {(int(cluster.group_of[s.pod]), int(cluster.node_of[s.pod])) for s in steps[-1:]}
    text = "after its eviction a waiting pod could drive off others"
    return {pod: text for cell in cells for pod in outcome.problem.movable[cell]}


def _guilty(
    outcome: PlanOutcome, evicted: set[int], preemptor: int, victims: Iterable[int]
) -> set[int]:
    """The preemptor, if it was evicted itself; otherwise victims that were, or who made room there.

    Nobody, if it is not seen whose room it was.
    """
    if preemptor in evicted:
        return {preemptor}
    if driven := evicted.intersection(victims):
        return driven
    node_of = outcome.before.node_of
    homes = {int(node_of[victim]) for victim in victims}
    return {pod for pod in evicted if int(node_of[pod]) in homes}


def _compared(first: PlanOutcome, last: PlanOutcome, reasons: dict[int, str]) -> PlanOutcome:
    """The last plan, with what the first one proves about all plans."""
    left_alone = {**last.problem.left_alone, **reasons}
    problem = replace(last.problem, left_alone=left_alone, options=first.problem.options)
    return replace(last, problem=problem, decision=_bounded(first.decision, last.decision))


def _bounded(first: Decision, last: Decision) -> Decision:
    """As good as the first, or no longer proven: the bounds hold up to the first difference."""
    notes = (*last.notes, NOTE)
    before = {level.name: level for level in first.objectives}
    values = {level.name: level.value for level in last.objectives}
    if values == {name: level.value for name, level in before.items()}:
        return replace(
            last,
            status=first.status,
            stopped=first.stopped,
            objectives=first.objectives,
            notes=notes,
        )
    objectives, differ = [], False
    for level in last.objectives:
        known = None if differ else before.get(level.name)
        objectives.append(level if known is None else replace(level, bound=known.bound))
        differ |= known is None or level.value != known.value
    status = "feasible" if last.status == "optimal" else last.status
    return replace(
        last, status=status, objectives=tuple(objectives), notes=notes, on_paper_only=False
    )
