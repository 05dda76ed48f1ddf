"""What kube-scheduler alone would reach: pods one by one, in queue order, moving nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from planner.cluster import Cluster
from planner.replay import total, violations
from planner.scheduler.profile import Profile
from planner.scheduler.simulate import simulate
from planner_models.plan import Comparison, PriorityCount


def compare(
    cluster: Cluster, pods: Iterable[int], profile: Profile, now: int, *, preempt: bool = False
) -> Comparison:
    """The outcome of the scheduler's own choices; ties go to the first node by name (seed 0).

    `now` is the excess that there is. Who would have to give way is looked for only with
    `preempt`, when victims really leave.
    """
    waiting = list(pods)
    if not waiting:
        return Comparison(placed=0, pending=0, excess=now)
    quiet = replace(profile, resolved=replace(profile.resolved, post_filter=()))
    run = simulate(cluster, (profile if preempt else quiet,), pods=waiting, preempt=preempt)
    placed = [result.pod for result in run.results if result.outcome == "scheduled"]
    pending = Counter(cluster.pods[pod].priority for pod in waiting)
    done = Counter(cluster.pods[pod].priority for pod in placed)
    return Comparison(
        placed=len(placed),
        pending=len(waiting),
        displaced=len(run.victims),
        excess=total(violations(run.final, profile)),
        by_priority=tuple(
            PriorityCount(priority=p, placed=done[p], pending=pending[p])
            for p in sorted(pending, reverse=True)
        ),
    )
