"""What becomes of a plan if kube-scheduler, not the plan, chooses the nodes.

The plan's evictions are carried out wave by wave, and the scheduler places the replacements under
several tie seeds. It agrees if every workload ends with as many pods per zone as planned (or per
domain of the key that most pods spread over) and nobody waits who should not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.spread import counted_key
from planner.cluster.topology import IntArray
from planner.replay.trial import Manner, Trial, WavePlan
from planner.sequences.outcome import PlanOutcome

SEEDS = 20
MOST_EVICTIONS = 200
"""With more evictions than this nothing is replayed: it would take longer than the plan."""
TIME_SHARE = 0.1
"""The part of the time limit that replays get."""
SECONDS_PER_POD, SECONDS_PER_POD_AND_NODE = 5e-4, 2e-5
"""About what one replay takes for each pod without a node."""


@dataclass(frozen=True)
class ReplayedSeeds:
    """In how many of the tie seeds that were tried kube-scheduler ends with the plan's counts."""

    seeds: int
    agrees: int
    driven: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By pods that found no node, those that they drove off in some seed."""


def scheduler_replay(outcome: PlanOutcome, limit: float | None = None) -> ReplayedSeeds | None:
    """None if nothing is evicted, or if that would take longer than part of the time limit.

    Or than another `limit`, in which it is tried once at least.
    """
    waves = _evictions(outcome)
    pods = [pod for wave in waves for pod in wave.evictions]
    if not 0 < len(pods) <= MOST_EVICTIONS:
        return None
    part = TIME_SHARE * outcome.problem.options.time_limit
    seeds = _affordable(outcome, len(pods), part if limit is None else limit)
    seeds = max(seeds, 0 if limit is None else 1)
    if not seeds:
        return None
    trial = Trial(outcome.before, outcome.profile, outcome.allowances, pods)
    planned = _counts(outcome.before, outcome.after.node_of)
    agrees = 0
    driven: dict[int, set[int]] = {}
    for seed in range(seeds):
        manner = Manner(seed, terminating=seed % 2 == 1)
        run = trial.run(waves, manner, unlimited=True)
        agrees += bool((_counts(outcome.before, run.node_of) == planned).all())
        for preemptor, victim in run.driven:
            driven.setdefault(preemptor, set()).add(victim)
    return ReplayedSeeds(seeds, agrees, {pod: frozenset(who) for pod, who in driven.items()})


def _affordable(outcome: PlanOutcome, evictions: int, limit: float) -> int:
    """As many seeds as the limit holds; counted, so that a plan repeats exactly."""
    waiting = evictions + len(outcome.before.pending)
    one = waiting * (SECONDS_PER_POD + SECONDS_PER_POD_AND_NODE * len(outcome.before.nodes))
    return min(SEEDS, int(limit / one))


def _evictions(outcome: PlanOutcome) -> list[WavePlan]:
    """Who is evicted when; a pod that hops is evicted once, for nobody sends it anywhere."""
    found: list[WavePlan] = []
    seen: set[int] = set()
    for wave in outcome.waves.waves:
        going = (step.pod for step in wave if step.evicts)
        found.append(WavePlan(tuple(pod for pod in going if pod not in seen)))
        seen.update(found[-1].evictions)
    return found


def _counts(cluster: Cluster, node_of: IntArray) -> IntArray:
    """Pods by group and domain, in the last two columns those without a domain or a node."""
    key = counted_key(cluster)
    if key is None:
        domains, size = np.zeros(len(cluster.nodes), np.int64), 1
    else:
        topology = cluster.topology(key)
        domains, size = topology.domain_of, len(topology.domains)
    counts = np.zeros((len(cluster.groups), size + 2), np.int64)
    running, waiting = np.flatnonzero(node_of >= 0), np.flatnonzero(node_of == PENDING)
    places = domains[node_of[running]]
    np.add.at(counts, (cluster.group_of[running], np.where(places < 0, size, places)), 1)
    np.add.at(counts, (cluster.group_of[waiting], np.full(len(waiting), size + 1)), 1)
    return counts
