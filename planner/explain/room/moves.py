"""The steps that make room as a document, with what kube-scheduler's own choices make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from planner.cluster import Cluster
from planner.explain.room.rearrange import Room
from planner.explain.room.trials import Trial
from planner.explain.situation.landings import landings_after
from planner.explain.situation.subject import Subject
from planner.explain.situation.trial_state import feasible_nodes, trial_state
from planner.replay.steps import Step
from planner_models.diagnosis import Move, Rearrangement, RearrangementStep
from planner_models.plan import Step as PlanStep
from planner_models.plan import Wave

MANY_PODS = 5000
"""From here on budgets are not asked."""
SIBLINGS = 12
"""So many pods of a group are tried in the place of the one that is evicted."""


def rearranged(
    subject: Subject, room: Room, landing: Mapping[int, Sequence[int]], *, brief: bool = False
) -> Rearrangement | None:
    """The steps as a document, with what else would do unless it is to be brief."""
    if room.steps is None:
        return None
    cluster = subject.cluster
    steps = tuple(
        _step(subject, step, room, landing.get(i, []), brief=brief)
        for i, step in enumerate(room.steps)
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
    checked, cordon = ("", "") if brief else _own_choice(subject, room.steps)
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
        at_least=room.at_least,
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
    from planner.disruption.budgets import allowances
    from planner.sequences.waves import plan_waves

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
    free = landings_after(subject, steps, cordon=False)
    if free is None:
        return "", ""
    if free.good == free.total:
        every = "every tie" if free.complete else f"{free.total} ways to land"
        return f"Checked with kube-scheduler's own choice, either pod first, {every}: all run.", ""
    kept = landings_after(subject, steps, cordon=True)
    share = f"{free.total - free.good} of {free.total} ways to land leave a pod pending"
    if kept is None or not kept.certain:
        return f"kube-scheduler chooses the nodes: {share}.", ""
    note = f"or kube-scheduler may put the pod straight back: {share}"
    return "Checked with kube-scheduler's own choice: with the cordon every tie ends well.", note


def _step(
    subject: Subject, step: Step, room: Room, landing: Sequence[int], *, brief: bool
) -> RearrangementStep:
    cluster = subject.cluster
    return RearrangementStep(
        action="evict" if step.action == "evict" else "place",
        pod=cluster.pods[step.pod].key,
        node=cluster.nodes[step.node].name,
        returns_as=_successor(cluster, step) if step.action == "place" else "",
        any_of=subject.nodes.listed(subject.nodes.mask(landing)) if landing else "",
        note=_alternatives(subject, step, room) if step.action == "evict" and not brief else "",
    )


def _successor(cluster: Cluster, step: Step) -> str:
    """Pods of a StatefulSet come back under their own name, others under a new one."""
    if cluster.node_of[step.pod] < 0:
        return ""
    name = cluster.pods[step.pod].name
    kind = cluster.workloads[int(cluster.group_of[step.pod])].kind
    return name if kind in ("StatefulSet", "Pod") else f"{name.rpartition('-')[0]}-<new>"


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
    trial = Trial(subject)
    if any(trial.without(pod) is None for pod in mates):
        return ""
    return f"any of the {len(mates)} {cluster.workloads[int(group)].name} pods would do"


def landing_nodes(subject: Subject, steps: Sequence[Step]) -> dict[int, list[int]]:
    """For each landing of the steps, by its position: every node that takes the pod then."""
    state, scheduler = trial_state(subject)
    found: dict[int, list[int]] = {}
    for position, step in enumerate(steps):
        if step.action == "evict":
            state.remove(step.pod)
        else:
            found[position] = feasible_nodes(scheduler, step.pod)
            state.place(step.pod, step.node)
    return found
