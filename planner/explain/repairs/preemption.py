"""Who would lose the place to preemption, and preemptionPolicy as a change that allows it.

Preemption is no verdict: it decides who waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from planner.explain.repairs.proposal import Case
from planner.explain.situation.subject import Subject
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.preemption import Preemption, preempt
from planner.words import count_of
from planner_models.diagnosis import Change as FieldChange
from planner_models.diagnosis import Repair


def preempting(case: Case) -> Iterator[Repair]:
    """Tried with the pod's policy changed; those who would lose their place are named."""
    subject = case.subject
    if subject.record.spec.preemption_policy != "Never":
        return
    found = if_allowed(subject)
    if found is None or found.nominated is None:
        return
    node = subject.cluster.nodes[found.nominated].name
    lost = count_of(len(found.victims), "pod")
    names = {
        subject.cluster.workloads[int(subject.cluster.group_of[v])].name for v in found.victims
    }
    kind = f"{len(found.victims)} {next(iter(names))} pod" if len(names) == 1 else lost
    plural = "s" if len(names) == 1 and len(found.victims) > 1 else ""
    holder, text, note = _whose_policy(case)
    yield Repair(
        kind="preemptionPolicy",
        object=holder,
        field="preemptionPolicy",
        change=FieldChange(from_="Never", to="PreemptLowerPriority"),
        cost=case.costs["preemptionPolicy"],
        restarts=case.restarts,
        then_nodes=tuple(subject.cluster.nodes[n].name for n in found.nominated_any_of),
        text=text,
        then=f"then {node}",
        notes=(f"{kind}{plural} left pending", note),
    )


def _whose_policy(case: Case) -> tuple[str, str, str]:
    """The object, what to change, and what that takes.

    Admission sets a pod's policy from its PriorityClass and refuses pods that say otherwise; the
    class itself can't be changed, only made anew.
    """
    subject = case.subject
    change = "preemptionPolicy Never -> PreemptLowerPriority"
    name = subject.record.spec.priority_class_name
    if not name:
        text = f"{subject.short}: a PriorityClass with preemptionPolicy PreemptLowerPriority"
        return case.owner, text, case.rollout
    note = f"make {name} anew or use another class, then make {subject.short}'s pods anew"
    return f"priorityclass/{name}", f"PriorityClass {name}: {change}", note


def if_allowed(subject: Subject) -> Preemption | None:
    """What PostFilter would decide if the pod's policy were the usual one."""
    spec = subject.record.spec.replace(preemption_policy="PreemptLowerPriority")
    pods = list(subject.cluster.pods)
    pods[subject.pod] = msgspec.structs.replace(subject.record, spec=spec)
    state = SchedulingState(replace(subject.cluster, pods=tuple(pods)))
    scheduler = Scheduler(state, subject.profile)
    return preempt(scheduler, scheduler.evaluate(subject.pod))


@dataclass(frozen=True)
class Displacement:
    """The victims on the node that would be nominated; empty if there is none."""

    pods: tuple[int, ...] = ()
    text: str = ""
    loser: str = ""
    """The workload of the first victim."""


def displacement_by(subject: Subject, preemption: Preemption) -> Displacement:
    """Of this pod, also if only its own preemptionPolicy forbids it."""
    found = _preempting(subject, preemption)
    if found is None or found.nominated is None:
        return Displacement()
    cluster = subject.cluster
    lost_pods = tuple(pod for pod in found.victims if not subject.state.terminating[pod])
    if not lost_pods:
        return Displacement()
    victims = [cluster.pods[index] for index in lost_pods]
    names = [f"{pod.name} (priority {pod.priority})" for pod in victims]
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    more = len(found.nominated_any_of) - 1
    other = f", or as many on {count_of(more, 'other node')}" if more else ""
    node = cluster.nodes[found.nominated].name
    lost = count_of(len(names), "pod")
    places = "its place" if len(names) == 1 else "their places"
    head = "Preemption makes room" if found is preemption else "With preemption there is room"
    loser = cluster.workloads[int(cluster.group_of[lost_pods[0]])].name
    text = f"{head} on {node}: {lost} would lose {places}, {listed}{other}."
    return Displacement(lost_pods, text, loser)


def _preempting(subject: Subject, preemption: Preemption) -> Preemption | None:
    if preemption.nominated is not None:
        return preemption
    if subject.record.spec.preemption_policy == "Never":
        return if_allowed(subject)
    return None
