"""The waves of a plan by the names of their pods, nodes and workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from models.plan import DownAtOnce, Wave
from models.plan import Step as PlanStep
from planner.cluster import Cluster
from planner.planning.budgets import Allowances
from planner.planning.waves import Waves
from planner.verify import Step


def wave_documents(cluster: Cluster, waves: Waves, allowances: Allowances) -> Iterator[Wave]:
    """Every wave with its steps by names, and what it waits for."""
    before: set[str] = set()
    hopped: dict[int, int] = {}
    for wave in waves.waves:
        going = {_workload(cluster, step) for step in wave if step.action in ("evict", "move")}
        yield Wave(
            steps=tuple(
                _step(cluster, step, step in waves.surging, hopped.get(step.pod)) for step in wave
            ),
            waits_for=tuple(sorted(going & before)),
            unbudgeted=tuple(_down(cluster, wave, waves.surging, allowances.budgeted)),
        )
        before = going
        hopped |= {step.pod: step.node for step in wave if step.temporary}


def _workload(cluster: Cluster, step: Step) -> str:
    return cluster.workloads[int(cluster.group_of[step.pod])].short


def _down(
    cluster: Cluster,
    wave: Sequence[Step],
    surging: Collection[Step],
    budgeted: Collection[int],
) -> Iterator[DownAtOnce]:
    """How many pods of workloads without a budget a wave takes down."""
    going = (step for step in wave if step.action in ("evict", "move") and step not in surging)
    counts = Counter(
        _workload(cluster, step) for step in going if cluster.group_of[step.pod] not in budgeted
    )
    return (DownAtOnce(workload=name, pods=pods) for name, pods in sorted(counts.items()))


def _step(cluster: Cluster, step: Step, surge: bool, hopped: int | None) -> PlanStep:
    """A step by names; a pod that has hopped runs there by now, under a uid that nobody knows."""
    node = cluster.nodes[step.node].name
    if step.action in ("cordon", "uncordon"):
        return PlanStep(action=step.action, node=node)
    pod = cluster.pods[step.pod].key
    uid = cluster.pods[step.pod].uid or None
    if step.action == "move":
        return PlanStep(
            action="move",
            pod=pod,
            uid=uid if hopped is None else None,
            from_=cluster.nodes[cluster.node_of[step.pod] if hopped is None else hopped].name,
            to=node,
            surge=surge or None,
            temporary=step.temporary or None,
        )
    return PlanStep(
        action=step.action, pod=pod, uid=uid if step.action == "evict" else None, node=node
    )
