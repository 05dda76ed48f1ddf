"""What Kubernetes' controllers and kube-scheduler do by themselves after a change.

    changed = apply_changes(cluster, [LoseNodes(nodes, "unreachable")])
    settled = settle(changed, profile, seed=1)
    result = outcome(settled, profile)

`changes` has the changes as values. `apply_changes` makes them on a copy: nodes turn silent or into
ghosts, controllers make pods that wait, and `Changed` says what became of each lost pod and when.
`settle` lets kube-scheduler act until nothing happens any more, under one tie seed. `outcome`
compares before and after: running pods by workload and domain, who waits and why, limits, budgets.
`agreement` says how many outcomes of several seeds are the same, `timeline` when pods of silent
nodes are deleted, and `returned` what is left when lost nodes come back.

    run = roll_out(cluster, profile, WorkloadRef("default", "Deployment", "web"), seed=1)

A rollout of a Deployment, StatefulSet or DaemonSet goes as its controller makes it, until it is
complete or nothing changes any more; `rollout_of` keeps what runs under several seeds share.

Nothing here looks for a better way: that is up to those who ask. So it never meets the solver.
"""

from planner.scenario.apply import Changed, Departure, Fact, apply_changes
from planner.scenario.changes import (
    AddNodes,
    Apply,
    Change,
    Cordon,
    Evict,
    LoseNodes,
    Manner,
    RemovePods,
    Scale,
)
from planner.scenario.lost_pods import LostPod
from planner.scenario.outcome import (
    Outcome,
    Requested,
    Summary,
    WorkloadOutcome,
    agreement,
    outcome,
)
from planner.scenario.returned import returned
from planner.scenario.rollout import Rollout, roll_out, rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner.scenario.settle import Settled, settle
from planner.scenario.timeline import Moment, timeline
from planner.scenario.unreachable import ZoneOutage

__all__ = [
    "AddNodes",
    "Apply",
    "Change",
    "Changed",
    "Cordon",
    "Departure",
    "Evict",
    "Fact",
    "LoseNodes",
    "LostPod",
    "Manner",
    "Moment",
    "Outcome",
    "RemovePods",
    "Requested",
    "Rollout",
    "RolloutRun",
    "Scale",
    "Settled",
    "Summary",
    "WorkloadOutcome",
    "ZoneOutage",
    "agreement",
    "apply_changes",
    "outcome",
    "returned",
    "roll_out",
    "rollout_of",
    "settle",
    "timeline",
]
