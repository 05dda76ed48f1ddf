"""The waves of a plan by the names of their pods, nodes and workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from planner.cluster import PENDING, Cluster
from planner.disruption.budgets import Allowances
from planner.documents.ready_pods import ReadyAfter
from planner.replay import Step
from planner.sequences.waves import Waves
from planner_models.plan import DownAtOnce, Wave
from planner_models.plan import Step as PlanStep


def wave_documents(cluster: Cluster, waves: Waves, allowances: Allowances) -> Iterator[Wave]:
    """Every wave with its steps by names, and what it waits for."""
    names = [node.name for node in cluster.nodes]
    before: set[str] = set()
    hopped: dict[int, int] = {}
    ready, node_of = ReadyAfter(cluster), cluster.node_of.copy()
    for wave in waves.waves:
        going, started = _going(cluster, wave), node_of.copy()
        for step in wave:
            if step.action in ("evict", "place", "move"):
                node_of[step.pod] = PENDING if step.action == "evict" else step.node
        yield Wave(
            steps=tuple(
                _step(cluster, names, step, step in waves.surging, hopped.get(step.pod))
                for step in wave
            ),
            waits_for=tuple(sorted(going & before)),
            ready=ready.wave((step.pod for step in wave if step.evicts), started, node_of),
            unbudgeted=tuple(_down(cluster, wave, waves.surging, allowances.budgeted)),
        )
        before = going
        hopped |= {step.pod: step.node for step in wave if step.temporary}


def _going(cluster: Cluster, wave: Sequence[Step]) -> set[str]:
    """The workloads that lose pods in a wave."""
    groups = {int(cluster.group_of[s.pod]) for s in wave if s.evicts}
    return {cluster.workloads[group].short for group in groups}


def _down(
    cluster: Cluster,
    wave: Sequence[Step],
    surging: Collection[Step],
    budgeted: Collection[int],
) -> Iterator[DownAtOnce]:
    """How many pods of workloads without a budget a wave takes down."""
    going = (step for step in wave if step.evicts and step not in surging)
    counts: Counter[str] = Counter()
    for group, pods in Counter(int(cluster.group_of[step.pod]) for step in going).items():
        if group not in budgeted:
            counts[cluster.workloads[group].short] += pods
    return (DownAtOnce(workload=name, pods=pods) for name, pods in sorted(counts.items()))


def _step(
    cluster: Cluster, names: Sequence[str], step: Step, surge: bool, hopped: int | None
) -> PlanStep:
    """A step by names; a pod that has hopped runs there by now, under a uid that nobody knows."""
    node = names[step.node]
    if step.action in ("cordon", "uncordon"):
        return PlanStep(action=step.action, node=node)
    pod = cluster.pods[step.pod].key
    uid = cluster.pods[step.pod].uid or None
    if step.action == "move":
        return PlanStep(
            action="move",
            pod=pod,
            uid=uid if hopped is None else None,
            from_=names[cluster.node_of[step.pod] if hopped is None else hopped],
            to=node,
            surge=surge or None,
            temporary=step.temporary or None,
        )
    return PlanStep(
        action=step.action, pod=pod, uid=uid if step.action == "evict" else None, node=node
    )
