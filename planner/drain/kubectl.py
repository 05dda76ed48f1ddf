"""What `kubectl drain` does with the same nodes: it never looks where pods go.

It cordons the nodes and asks for all evictions at once; what a budget refuses it retries every five
seconds, for ever. Meanwhile controllers make new pods, and kube-scheduler places those it can. It
ends when every pod is gone, or never: then the same pods are refused again and again.
Pods that it would not touch without further options make it stop before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.cluster import PENDING
from planner.disruption.budgets import Allowances
from planner.drain.leaving import Leaving
from planner.evictions.emptying import Emptying
from planner.replay.trial import Budgets, Manner, WavePlan
from planner.replay.trial_work import affordable

SEEDS = 3
"""So many say whether ties matter to the sentence about it, where there is time for them."""
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


def kubectl_runs(emptying: Emptying) -> tuple[KubectlRun, ...]:
    """One run for each of a few seeds, over all pods that it would evict."""
    seeds = affordable(len(emptying.pods), len(emptying.aim.real.nodes))
    return tuple(_run(emptying, seed) for seed in range(max(1, min(SEEDS, seeds))))


def _run(emptying: Emptying, seed: int) -> KubectlRun:
    evicted: list[list[int]] = []
    rounds = _rounds(emptying, evicted)
    node_of = emptying.trial.run(rounds, Manner(seed), unlimited=True).node_of
    gone = {pod for wave in evicted for pod in wave}
    before = emptying.aim.real.node_of
    waiting = np.flatnonzero((node_of == PENDING) & (before != PENDING)).tolist()
    hanging = tuple(pod for pod in emptying.pods if pod not in gone)
    return KubectlRun(tuple(sorted(gone)), tuple(waiting), hanging, len(evicted))


def _rounds(emptying: Emptying, evicted: list[list[int]]) -> Iterator[WavePlan]:
    """Whatever budgets allow goes, as pods are by then; `evicted` takes up each round."""
    budgets, left = emptying.budgets, list(emptying.pods)
    counting = Budgets(emptying.aim.real, budgets)
    while left:
        counting.begin(emptying.trial.node_of)
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
