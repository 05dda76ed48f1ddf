"""What the descheduler would do under a policy, as the same document as our own plans."""

from __future__ import annotations

from planner.cluster import Cluster
from planner.descheduler.baselines import SPREAD, default_policy
from planner.descheduler.rounds import DeschedulerRounds, run_rounds
from planner.documents.descheduler import baseline, like_descheduler
from planner.documents.eviction_plan import situation
from planner.evictions.suggestion import Suggestion
from planner.replay.violations import violations
from planner_models.descheduler_policy import DeschedulerPolicy
from planner_models.evictions import (
    Baseline,
    Convergence,
    EvictionOptions,
    EvictionPlan,
    PlannedEviction,
)

USUAL = (
    SPREAD,
    "RemovePodsViolatingNodeAffinity",
    "RemovePodsViolatingNodeTaints",
    "RemovePodsViolatingInterPodAntiAffinity",
)
"""Strategies that are about hard rules: what runs if no policy says otherwise."""


def descheduler_plan(
    cluster: Cluster, policy: DeschedulerPolicy | None, name: str, ours: Suggestion
) -> EvictionPlan:
    """Its rounds with kube-scheduler placing the replacements, beside our plan's numbers."""
    profile = ours.profile
    rounds = run_rounds(cluster, policy or default_policy(*USUAL), (profile,))
    settled = rounds.end == "settled"
    return EvictionPlan(
        way="descheduler",
        options=EvictionOptions(goals=("spread",), seeds=1),
        evictions=tuple(_evictions(cluster, rounds)),
        converges=settled,
        checked_seeds=1,
        convergence=Convergence(seeds=1, gone=int(settled), terminating=0),
        before=situation(cluster, violations(cluster, profile)),
        after=situation(rounds.final, rounds.violations),
        baselines=(_planner(ours), baseline(name, "as the policy says", rounds)),
        like_descheduler=like_descheduler(name, rounds),
        nodes=len(cluster.nodes),
        pods=len(cluster.pods),
        notices=cluster.notices,
    )


def _evictions(cluster: Cluster, rounds: DeschedulerRounds) -> list[PlannedEviction]:
    uids = {pod.key: pod.uid for pod in cluster.pods}
    return [
        PlannedEviction(
            pod=evicted.pod,
            uid=uids.get(evicted.pod, "") if each.number == 1 else "",
            workload=evicted.workload,
            node=evicted.source,
            wave=each.number,
            rule=evicted.strategy,
            reason=evicted.reason,
            expected_nodes=() if evicted.target is None else (evicted.target,),
        )
        for each in rounds.rounds
        for evicted in each.evicted
    ]


def _planner(ours: Suggestion) -> Baseline:
    after = situation(ours.after, ours.remaining)
    return Baseline(
        strategy="planner",
        aim=", ".join(ours.options.goals),
        evictions=ours.evictions,
        rounds=len(ours.tried.waves),
        loops=False,
        violations_after=after.excess,
        pending_after=after.pending,
    )
