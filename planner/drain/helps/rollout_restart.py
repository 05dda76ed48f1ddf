"""`kubectl rollout restart` while the nodes are cordoned: a rollout asks no budget.

A Deployment with room for a surge starts the new pod elsewhere before the old one goes. Assumed:
pods that have a node become ready.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.drain.blocked import Obstacle
from planner.drain.find import Drain
from planner.drain.helps.carried_out import carried_out
from planner.errors import PlannerError
from planner.replay.trial import Manner
from planner.scenario.rollout import rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner.words import conjoined, count_of, named_or_counted
from planner_models.diagnosis import Repair

COST = 10
SEEDS = 3
MOST = 5
"""So many workloads are restarted one after the other."""
KINDS = ("budgetNever", "budgetNow", "severalBudgets", "rule", "ruleBehindBudget")


def propose(drain: Drain, obstacles: Sequence[Obstacle]) -> Iterator[Repair]:
    """Restart every workload that is kept, if all of them can be, and drain the rest."""
    if not obstacles or any(each.by not in KINDS for each in obstacles):
        return
    start = drain.start
    refs = list(
        dict.fromkeys(start.workloads[int(start.group_of[each.pods[0]])] for each in obstacles)
    )
    if len(refs) > MOST:
        return
    runs = _restarted(drain, refs)
    if runs is None or carried_out(drain, runs[-1].ended) is None:
        return
    nodes = named_or_counted([start.nodes[node].name for node in drain.options.nodes], "node")
    restarts = [f"kubectl -n {ref.namespace} rollout restart {ref.short}" for ref in refs]
    down = max(run.most_down for run in runs)
    yield Repair(
        kind="rolloutRestart",
        object=", ".join(ref.short for ref in refs),
        cost=COST,
        restarts=sum(run.of for run in runs),
        text=f"with {nodes} cordoned: kubectl rollout restart {' '.join(r.short for r in refs)}",
        then=_then(runs),
        notes=("nothing is down" if not down else f"{count_of(down, 'pod')} down at most",),
        command=" && ".join(restarts),
    )


def _restarted(drain: Drain, refs: Sequence[WorkloadRef]) -> list[RolloutRun] | None:
    """The rollouts of seed 0, one after the other; None if one does not end under every seed."""
    cluster: Cluster = drain.start
    runs: list[RolloutRun] = []
    for ref in refs:
        try:
            rollout = rollout_of(cluster, drain.profile, ref)
        except PlannerError:  # nothing that can be restarted
            return None
        tried = [rollout.run(Manner(seed), drain.options.nodes) for seed in range(SEEDS)]
        if not all(run.complete for run in tried):
            return None
        runs.append(tried[0])
        cluster = tried[0].ended
    return runs


def _then(runs: Sequence[RolloutRun]) -> str:
    """Where the new pods start; a few are named."""
    nodes = {
        run.ended.nodes[int(node)].name
        for run in runs
        for node in np.unique(run.ended.node_of[list(run.updated)]).tolist()
    }
    pods = sum(run.of for run in runs)
    if pods == 1:
        return f"the new pod starts on {conjoined(sorted(nodes))} before the old one goes"
    return f"{pods} pods start anew on {named_or_counted(sorted(nodes), 'node')}"
