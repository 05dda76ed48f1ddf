"""What a round does, decided: pure functions of the policy, the clock and what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from planner.run.hours import within
from planner.run.plan_summary import PlanSummary
from planner.words import count_of
from planner_models.run_policy import RunPolicy, duration_text
from planner_models.run_state import Missed, RunState

READ_SHARE = 20
"""A round begins at the earliest so many times what reading took after the last one began."""


@dataclass(frozen=True)
class Facts:
    """How the cluster is, in numbers; `waiting` pods have no node and no scheduling gate."""

    nodes: int
    not_ready: int
    pods: int
    waiting: int


def paused(policy: RunPolicy, facts: Facts, now: datetime) -> str | None:
    """Why nothing is evicted now, whatever the plan."""
    if not within(policy.hours, now):
        return "outside of the policy's hours"
    for part, of, words, most in (
        (facts.not_ready, facts.nodes, "nodes are not ready", policy.pause_when.not_ready_nodes),
        (facts.waiting, facts.pods, "pods wait for a node", policy.pause_when.pending_pods),
    ):
        if part * 100 > most * of:
            share = part * 100 // of if of else 100
            return f"{part} of {of} {words} ({share} %, pauseWhen {most} %)"
    return None


def refusal(plan: PlanSummary, goals: tuple[str, ...]) -> str | None:
    """Why a plan with evictions is not carried out; None if it may be.

    A part is enough: the rest is the next round's. But every seed has to end as planned: with less
    broken than now or fewer pods waiting, and with nobody waiting who does not wait now. An even
    load is no rule, so a plan for that may leave both as they are.
    """
    if not plan.converges:
        return f"only {plan.seeds_well} of {plan.seeds} seeds end well"
    if plan.after_pending > plan.before_pending or plan.left_waiting:
        return "a pod would be left waiting"
    if plan.after_excess > plan.before_excess:
        return "more would be broken than now"
    same = (plan.after_excess, plan.after_pending) == (plan.before_excess, plan.before_pending)
    return "nothing would be repaired" if same and "utilization" not in goals else None


def limit_words(policy: RunPolicy, planned: int) -> str:
    """Which limit cut a plan short, as far as that can be told: `limit perRound 10`."""
    limits = policy.limits
    if limits.per_round is not None and planned >= limits.per_round:
        return f"limit perRound {limits.per_round}"
    others = (("perNode", limits.per_node), ("perNamespace", limits.per_namespace))
    return f"limits {', '.join(f'{name} {n}' for name, n in others if n is not None)}"


def next_round(started: float, period: timedelta, read_seconds: float) -> float:
    """When the next round begins, by the clock that `started` is of."""
    return started + max(period.total_seconds(), READ_SHARE * read_seconds)


def left_alone(state: RunState, policy: str, now: datetime) -> tuple[Missed, ...]:
    """The workloads that are left alone now."""
    return tuple(
        each
        for each in state.missed
        if each.policy == policy and (each.until is None or each.until > now)
    )


def after_miss(
    state: RunState, workload: str, policy: str, cooldown: timedelta, now: datetime
) -> tuple[RunState, Missed]:
    """The state once a pod of the workload has not landed as promised.

    The first time it is left alone for the cooldown, from then on until the policy changes: that is
    what keeps planner from trying the same thing for ever.
    """
    before = next(
        (each for each in state.missed if (each.workload, each.policy) == (workload, policy)), None
    )
    times = 1 + (before.times if before else 0)
    entry = Missed(
        workload=workload, times=times, policy=policy, until=now + cooldown if times == 1 else None
    )
    others = tuple(e for e in state.missed if e.workload != workload and e.policy == policy)
    return state.model_copy(update={"missed": (*others, entry)}), entry


def suspension_words(entry: Missed, cooldown: timedelta) -> str:
    """`left alone until 14:05 (cooldown 1h)`."""
    if entry.until is None:
        return f"left alone until the policy changes (missed {count_of(entry.times, 'time')})"
    return f"left alone until {entry.until:%H:%M} (cooldown {duration_text(cooldown)})"
