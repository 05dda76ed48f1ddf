"""The steps that make room as a document, with what kube-scheduler's own choices make of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.diagnosis import Move, Rearrangement, RearrangementStep
from models.plan import Step as PlanStep
from models.plan import Wave
from planner.cluster import Cluster
from planner.explain.outcome import outcome_of
from planner.explain.rearrange import Room, equally_good, landing_nodes
from planner.explain.subject import Subject
from planner.verify.steps import Step

MANY_PODS = 5000
"""From here on budgets are not asked."""
SIBLINGS = 12
"""So many pods of a group are tried in the place of the one that is evicted."""


def rearranged(subject: Subject, room: Room) -> Rearrangement | None:
    """The steps as a document, with what else would do."""
    if room.steps is None:
        return None
    cluster = subject.cluster
    landing = landing_nodes(subject, room.steps)
    steps = tuple(
        _step(subject, step, room, landing.get(i, [])) for i, step in enumerate(room.steps)
    )
    evicted = {step.pod: step.node for step in room.steps if step.action == "evict"}
    landed = {step.pod: step.node for step in room.steps if step.action == "place"}
    moves = tuple(
        Move(
            pod=cluster.pods[pod].key,
            from_=cluster.nodes[node].name,
            to=cluster.nodes[landed[pod]].name,
        )
        for pod, node in evicted.items()
    )
    checked, cordon = _own_choice(subject, room.steps)
    if cordon and room.evictions == 1:
        origin = next(step.node for step in steps if step.action == "evict")
        steps = (
            RearrangementStep(action="cordon", node=origin, note=cordon),
            *steps,
            RearrangementStep(action="uncordon", node=origin),
        )
    waves, beyond = _waves(subject, room.steps)
    return Rearrangement(
        evictions=room.evictions,
        fewest=room.fewest,
        steps=steps,
        moves=moves,
        waves=waves,
        beyond_budgets=beyond,
        checked=checked,
    )


def _waves(subject: Subject, steps: Sequence[Step]) -> tuple[tuple[Wave, ...], tuple[str, ...]]:
    """By what budgets allow at once; in a large cluster the steps stay one wave."""
    cluster = subject.cluster
    if len(cluster.pods) > MANY_PODS:
        return (Wave(steps=tuple(_plan_step(cluster, step) for step in steps)),), ()
    from planner.planning.budgets import allowances
    from planner.planning.waves import plan_waves

    found = plan_waves(cluster, steps, allowances(cluster), subject.profile)
    waves = tuple(
        Wave(steps=tuple(_plan_step(cluster, step) for step in wave)) for wave in found.waves
    )
    return waves, found.beyond


def _plan_step(cluster: Cluster, step: Step) -> PlanStep:
    """As `planner solve` writes it."""
    pod, node = cluster.pods[step.pod], cluster.nodes[step.node].name
    if step.action == "move":
        origin = cluster.nodes[int(cluster.node_of[step.pod])].name
        return PlanStep(action="move", pod=pod.key, uid=pod.uid or None, from_=origin, to=node)
    uid = (pod.uid or None) if step.action == "evict" else None
    return PlanStep(action=step.action, pod=pod.key, uid=uid, node=node)


def _own_choice(subject: Subject, steps: Sequence[Step]) -> tuple[str, str]:
    """What kube-scheduler's ties lead to, and the remark for a cordon if that makes it certain."""
    free = outcome_of(subject, steps, cordon=False)
    if free is None:
        return "", ""
    if free.good == free.total:
        every = "every tie" if free.complete else f"{free.total} ways to land"
        return f"Checked with kube-scheduler's own choice, either pod first, {every}: all run.", ""
    kept = outcome_of(subject, steps, cordon=True)
    share = f"{free.total - free.good} of {free.total} ways to land leave a pod pending"
    if kept is None or not kept.certain:
        return f"kube-scheduler chooses the nodes: {share}.", ""
    note = f"or kube-scheduler may put the pod straight back: {share}"
    return "Checked with kube-scheduler's own choice: with the cordon every tie ends well.", note


def _step(subject: Subject, step: Step, room: Room, landing: Sequence[int]) -> RearrangementStep:
    cluster = subject.cluster
    mask = np.zeros(subject.places.total, np.bool_)
    mask[list(landing)] = True
    return RearrangementStep(
        action="evict" if step.action == "evict" else "place",
        pod=cluster.pods[step.pod].key,
        node=cluster.nodes[step.node].name,
        any_of=subject.places.listed(mask) if landing else "",
        note=_alternatives(subject, step, room) if step.action == "evict" else "",
    )


def _alternatives(subject: Subject, step: Step, room: Room) -> str:
    """`any of the 5 batch pods would do`, tried one by one where they are few."""
    cluster = subject.cluster
    placed = [s for s in room.steps or () if s.action == "place"]
    if room.evictions != 1 or len(placed) != 2:
        return ""
    group = cluster.group_of[step.pod]
    mates = np.flatnonzero((cluster.group_of == group) & (cluster.node_of >= 0)).tolist()
    if not 1 < len(mates) <= SIBLINGS:
        return ""
    good = list(equally_good(subject, room.steps or (), mates))
    name = cluster.workloads[int(group)].name
    return f"any of the {len(mates)} {name} pods would do" if len(good) == len(mates) else ""
