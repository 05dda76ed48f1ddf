"""What `kubectl drain` does with the same nodes: it never looks where pods go.

It cordons the nodes and asks for all evictions at once; what a budget refuses it retries every five
seconds, for ever. Meanwhile controllers make new pods, and kube-scheduler places those it can. It
ends when every pod is gone, or never: then the same pods are refused again and again.
Pods that it would not touch without further options make it stop before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import PENDING
from planner.disruption.budgets import Allowances
from planner.drain.leaving import Leaving
from planner.evictions.goals import Aim
from planner.replay.trial import Budgets, Manner, Trial, WavePlan
from planner.scheduler.profile import Profile

SEEDS = 3
"""So many say whether ties matter to the sentence about it."""
REFUSED = {
    "noController": "pods that declare no controller (--force)",
    "localStorage": "pods with local storage (--delete-emptydir-data)",
}


@dataclass(frozen=True, eq=False)
class KubectlRun:
    """How one run ends: who was evicted, who of them waits, and whom it retries for ever."""

    evicted: tuple[int, ...]
    pending: tuple[int, ...]
    hanging: tuple[int, ...]
    rounds: int


def refuses(leaving: Leaving) -> str:
    """What `kubectl drain` complains about before it evicts anything; empty if nothing."""
    kinds = {stay.kind for stay in leaving.kept.values()}
    return " and ".join(text for kind, text in REFUSED.items() if kind in kinds)


def kubectl_runs(
    aim: Aim, profile: Profile, budgets: Allowances, pods: Sequence[int]
) -> tuple[KubectlRun, ...]:
    """One run for each of a few seeds, over the pods that it would evict."""
    trial = Trial(aim.real, profile, budgets, pods)
    return tuple(_run(aim, trial, budgets, pods, seed) for seed in range(SEEDS))


def _run(aim: Aim, trial: Trial, budgets: Allowances, pods: Sequence[int], seed: int) -> KubectlRun:
    evicted: list[list[int]] = []
    rounds = _rounds(aim, trial, budgets, pods, evicted)
    node_of = trial.run(rounds, Manner(seed), unlimited=True).node_of
    gone = {pod for wave in evicted for pod in wave}
    waiting = np.flatnonzero((node_of == PENDING) & (aim.real.node_of != PENDING)).tolist()
    hanging = tuple(pod for pod in pods if pod not in gone)
    return KubectlRun(tuple(sorted(gone)), tuple(waiting), hanging, len(evicted))


def _rounds(
    aim: Aim, trial: Trial, budgets: Allowances, pods: Sequence[int], evicted: list[list[int]]
) -> Iterator[WavePlan]:
    """Whatever budgets allow goes, as pods are by then; `evicted` takes up each round."""
    counting, left = Budgets(aim.real, budgets), list(pods)
    while left:
        counting.begin(trial.node_of)
        allowed = {pod: _evictable(budgets, pod) and counting.take(pod) for pod in left}
        wave = [pod for pod in left if allowed[pod]]
        if not wave:
            return
        evicted.append(wave)
        left = [pod for pod in left if not allowed[pod]]
        yield WavePlan(tuple(wave))


def _evictable(budgets: Allowances, pod: int) -> bool:
    """Under two budgets the Eviction API answers with an error, always."""
    return int(budgets.group_of[pod]) not in budgets.contested
