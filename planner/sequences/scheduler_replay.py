"""What becomes of a plan if kube-scheduler, not the plan, chooses the nodes.

The plan's evictions are carried out wave by wave, and the scheduler places the replacements under
several tie seeds. It agrees if every workload ends with as many pods per zone as planned (or per
domain of the key that most pods spread over) and nobody waits who should not.

Where somebody could be driven off, how many seeds there are depends on the cluster alone: a plan
that is found in more time is not judged by more of them. With --preempt no plan is judged by them,
and short limits get few or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.spread import counted_key
from planner.cluster.topology import IntArray
from planner.replay.trial import Manner, Trial, WavePlan
from planner.replay.trial_work import USUAL_SEEDS
from planner.sequences.outcome import PlanOutcome
from planner.sequences.waves import Waves
from planner.solver.problem.problem import Problem

MOST_EVICTIONS = 200
"""With more evictions than this nothing is replayed for its counts alone."""
TIME_SHARE = 0.1
"""The part of the time limit that such replays get."""
SECONDS_PER_POD, SECONDS_PER_POD_AND_NODE = 5e-4, 2e-5
"""About what one replay takes at the most, for each pod without a node."""
LANDING_SECONDS, LANDING_NODE_SECONDS = 3e-4, 5e-8
"""About what a replay takes for each landing in it, and for each node beside that."""
PREEMPTION_SECONDS = 4e-5
"""About what it takes in each wave to see whom others could drive off, for each node."""
FEW_WAVES = 7
"""With more it takes longer in each: pods that find no node are tried again in all that follow."""
JUDGING_SECONDS = 1.2
"""For all replays that look for preemptions; where a single one takes longer, there is none."""
FEWEST_SEEDS = 2
"""One with evicted pods that are gone at once, and one in which they terminate slowly."""


@dataclass(frozen=True)
class ReplayedSeeds:
    """In how many of the tie seeds that were tried kube-scheduler ends with the plan's counts."""

    seeds: int
    agrees: int
    driven: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By pods that found no node, those that they drove off in some seed."""


def scheduler_replay(outcome: PlanOutcome) -> ReplayedSeeds | None:
    """None if nothing is evicted, or if that would take too long."""
    waves = departing(outcome.waves)
    pods = [pod for wave in waves for pod in wave.evictions]
    seeds = _seeds(outcome, len(pods)) if pods else 0
    if not seeds:
        return None
    trial = Trial(outcome.before, outcome.profile, outcome.allowances, pods)
    planned = _counts(outcome.before, outcome.after.node_of)
    agrees = 0
    driven: dict[int, set[int]] = {}
    for seed in range(seeds):
        run = trial.run(waves, manner(seed), unlimited=True)
        agrees += bool((_counts(outcome.before, run.node_of) == planned).all())
        for preemptor, victim in run.driven:
            driven.setdefault(preemptor, set()).add(victim)
    return ReplayedSeeds(seeds, agrees, {pod: frozenset(who) for pod, who in driven.items()})


def replayed_before(outcome: PlanOutcome, ends: Sequence[IntArray]) -> ReplayedSeeds:
    """The same from trials of the plan's waves that have been carried out, and drove nobody off."""
    planned = _counts(outcome.before, outcome.after.node_of)
    agrees = sum(bool((_counts(outcome.before, end) == planned).all()) for end in ends)
    return ReplayedSeeds(len(ends), agrees)


def manner(seed: int) -> Manner:
    """Evicted pods are gone at once, or terminate slowly, by turns."""
    return Manner(seed, terminating=seed % 2 == 1)


def may_drive_off(problem: Problem) -> bool:
    """Whether some pod that waits or may be moved is above one that runs, or will by then."""
    cluster = problem.cluster
    waiting = np.unique(cluster.group_of[cluster.pending]).tolist()
    running = np.unique(cluster.group_of[cluster.running]).tolist()
    moving = {*waiting, *(group for group, _ in problem.movable)}
    above = max((cluster.groups[group].priority for group in moving), default=0)
    return any(cluster.groups[group].priority < above for group in (*waiting, *running))


def judging_seeds(cluster: Cluster, evictions: int) -> int:
    """Seeds in which nobody may be driven off; about as many evictions get as many seeds."""
    landings = 1 << (len(cluster.pending) + evictions).bit_length()
    one = replay_seconds(cluster, landings)
    if one > JUDGING_SECONDS:
        return 0
    return max(FEWEST_SEEDS, min(USUAL_SEEDS, int(JUDGING_SECONDS / one)))


def replay_seconds(cluster: Cluster, landings: int) -> float:
    """About what one replay takes; counted, so that a plan repeats exactly."""
    return landings * (LANDING_SECONDS + LANDING_NODE_SECONDS * len(cluster.nodes))


def departing(waves: Waves) -> list[WavePlan]:
    """Who is evicted when, under which cordons; these are held until a wave lifts them.

    A pod that hops is evicted once, for nobody sends it anywhere.
    """
    found: list[WavePlan] = []
    seen: set[int] = set()
    cordoned: set[int] = set()
    for wave in waves.waves:
        cordoned |= {step.node for step in wave if step.action == "cordon"}
        cordoned -= {step.node for step in wave if step.action == "uncordon"}
        going = (step.pod for step in wave if step.evicts)
        pods = tuple(pod for pod in going if pod not in seen)
        found.append(WavePlan(pods, tuple(sorted(cordoned)), holds=bool(cordoned)))
        seen.update(pods)
    return found


def _seeds(outcome: PlanOutcome, evictions: int) -> int:
    if may_drive_off(outcome.problem):
        seeds = judging_seeds(outcome.before, evictions)
        chosen_by_them = not outcome.problem.options.preempt
        return seeds if chosen_by_them else min(seeds, _seeds_beside(outcome, evictions))
    return _affordable(outcome, evictions) if evictions <= MOST_EVICTIONS else 0


def _seeds_beside(outcome: PlanOutcome, evictions: int) -> int:
    """As many as part of the limit holds; the fewest that say anything may take twice as much."""
    share = TIME_SHARE * outcome.problem.options.time_limit
    one = replay_seconds(outcome.before, len(outcome.before.pending) + evictions)
    waves = len(outcome.waves.waves)
    each = len(outcome.before.nodes) * PREEMPTION_SECONDS * max(1.0, waves / FEW_WAVES)
    one += waves * each
    seeds = int(share / one)
    if seeds < FEWEST_SEEDS:
        seeds = FEWEST_SEEDS if FEWEST_SEEDS * one <= 2 * share else 0
    return seeds


def _affordable(outcome: PlanOutcome, evictions: int) -> int:
    """As many seeds as part of the limit holds; counted, so that a plan repeats exactly."""
    waiting = evictions + len(outcome.before.pending)
    one = waiting * (SECONDS_PER_POD + SECONDS_PER_POD_AND_NODE * len(outcome.before.nodes))
    return min(USUAL_SEEDS, int(TIME_SHARE * outcome.problem.options.time_limit / one))


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
