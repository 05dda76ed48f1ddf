"""What the descheduler would do: a row of a comparison, and its rounds one by one."""

from __future__ import annotations

import numpy as np

from planner.cluster import PENDING
from planner.descheduler.rounds import DeschedulerRounds, Loop, Round
from planner_models.evictions import (
    Baseline,
    DeschedulerEviction,
    DeschedulerRound,
    LikeDescheduler,
)


def baseline(strategy: str, aim: str, rounds: DeschedulerRounds) -> Baseline:
    """A row of the comparison with our own plan."""
    return Baseline(
        strategy=strategy,
        aim=aim,
        evictions=rounds.evictions,
        rounds=len(rounds.rounds),
        loops=rounds.loops,
        loop=_loop(rounds.loop),
        violations_after=rounds.violations_left,
        pending_after=int(np.count_nonzero(rounds.final.node_of == PENDING)),
        refused=len(rounds.rounds[0].refusals) if rounds.rounds else 0,
    )


def like_descheduler(policy: str, rounds: DeschedulerRounds) -> LikeDescheduler:
    """The rounds, one by one."""
    return LikeDescheduler(
        policy=policy,
        end=rounds.end,
        loop=_loop(rounds.loop),
        rounds=tuple(_round(each) for each in rounds.rounds),
    )


def _loop(loop: Loop | None) -> str | None:
    if loop is None:
        return None
    rounds = f"rounds {loop.first} to {loop.last} leave"
    if loop.first == loop.last:
        rounds = f"round {loop.first} leaves"
    return f"{rounds} the cluster as it was: {', '.join(loop.workloads)} in circles"


def _round(each: Round) -> DeschedulerRound:
    return DeschedulerRound(
        number=each.number,
        evictions=tuple(
            DeschedulerEviction(
                pod=evicted.pod,
                workload=evicted.workload,
                strategy=evicted.strategy,
                reason=evicted.reason,
                from_=evicted.source,
                target=evicted.target,
                comes_back=evicted.comes_back,
            )
            for evicted in each.evicted
        ),
        refused=len(each.refusals),
        waiting=each.waiting,
    )
