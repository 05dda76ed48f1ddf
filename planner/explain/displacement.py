"""Who would lose the place to preemption. That is no verdict: it decides who waits."""

from __future__ import annotations

from dataclasses import dataclass

from planner.explain.repairs.preemption_policy import if_allowed
from planner.explain.situation.subject import Subject
from planner.scheduler.preemption import Preemption
from planner.words import count_of


@dataclass(frozen=True)
class Displacement:
    """The victims on the node that would be nominated; empty if there is none."""

    pods: tuple[str, ...] = ()
    text: str = ""
    loser: str = ""
    """The workload of the first victim."""


def displacement_by(subject: Subject, preemption: Preemption) -> Displacement:
    """Of this pod, also if only its own preemptionPolicy forbids it."""
    found = _preempting(subject, preemption)
    if found is None or found.nominated is None:
        return Displacement()
    cluster = subject.cluster
    victims = [cluster.pods[index] for index in found.victims]
    names = [f"{pod.name} (priority {pod.priority})" for pod in victims]
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    more = len(found.nominated_any_of) - 1
    other = f", or as many on {count_of(more, 'other node')}" if more else ""
    node = cluster.nodes[found.nominated].name
    lost = count_of(len(names), "pod")
    places = "its place" if len(names) == 1 else "their places"
    head = "Preemption makes room" if found is preemption else "With preemption there is room"
    group = cluster.group_of[found.victims[0]] if found.victims else 0
    return Displacement(
        pods=tuple(pod.key for pod in victims),
        text=f"{head} on {node}: {lost} would lose {places}, {listed}{other}.",
        loser=cluster.workloads[int(group)].name if victims else "",
    )


def _preempting(subject: Subject, preemption: Preemption) -> Preemption | None:
    if preemption.nominated is not None:
        return preemption
    if subject.record.spec.preemption_policy == "Never":
        return if_allowed(subject)
    return None
