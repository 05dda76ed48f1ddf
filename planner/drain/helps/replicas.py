"""One replica more first, so that the budget lets one go; it starts with the nodes cordoned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.budget_status import recounted
from planner.drain.blocked import Obstacle
from planner.drain.find import Drain
from planner.drain.helps.carried_out import carried_out
from planner.explain.repairs.commands import scale_command
from planner.scenario.apply import apply_changes
from planner.scenario.changes import Scale
from planner.scenario.settle import settle
from planner.words import conjoined
from planner_models.diagnosis import Change, Repair
from planner_models.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet

COST = 40
SCALABLE = (Deployment, ReplicaSet, ReplicationController, StatefulSet)


def propose(drain: Drain, obstacles: Sequence[Obstacle]) -> Iterator[Repair]:
    """For every workload that its budget keeps, if there is nothing else."""
    if not obstacles or any(each.by not in ("budgetNever", "budgetNow") for each in obstacles):
        return
    wanted = _wanted(drain, obstacles)
    if wanted is None:
        return
    scaled = _scaled(drain, wanted)
    if scaled is None or carried_out(drain, scaled) is None:
        return
    new = range(len(drain.given.pods), len(scaled.pods))
    places = [scaled.nodes[int(scaled.node_of[pod])].name for pod in new]
    names = [f"{ref.name} to {replicas}" for ref, replicas in wanted.items()]
    where = "second pod" if set(wanted.values()) == {2} else "new pod"
    yield Repair(
        kind="scale",
        object=", ".join(ref.short for ref in wanted),
        field="spec.replicas",
        change=Change(to=next(iter(wanted.values()))) if len(wanted) == 1 else None,
        cost=COST,
        then_nodes=tuple(places),
        text=f"scale {conjoined(names)} first, then drain",
        then=f"{where}{'' if len(places) == 1 else 's'} on {conjoined(places)}",
        command=" && ".join(scale_command(ref, replicas) for ref, replicas in wanted.items()),
    )


def _wanted(drain: Drain, obstacles: Sequence[Obstacle]) -> dict[WorkloadRef, int] | None:
    """One more than there are, of each workload; None if one of them has no such number."""
    start, found = drain.start, dict[WorkloadRef, int]()
    for each in obstacles:
        ref = start.workloads[int(start.group_of[each.pods[0]])]
        replicas = start.owners.desired(ref)
        if replicas is None or not isinstance(start.owners.controllers.get(ref), SCALABLE):
            return None
        found[ref] = replicas + 1
    return found


def _scaled(drain: Drain, wanted: dict[WorkloadRef, int]) -> Cluster | None:
    """The cluster when the new pods run elsewhere; None if one of them finds no node."""
    changes = [Scale(ref, replicas) for ref, replicas in wanted.items()]
    changed = apply_changes(drain.aim.real, changes)
    ended = settle(changed, drain.profile).cluster
    if any(ended.node_of[pod] < 0 for pod in changed.made):
        return None
    return replace(ended, budgets=recounted(ended, changed.made), nodes=drain.given.nodes)
