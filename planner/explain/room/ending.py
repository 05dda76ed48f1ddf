"""Pods on their way out: they hold room until their containers have ended.

kube-scheduler counts a pod with a deletionTimestamp until it is gone, and tries waiting pods again
then. Nobody has to evict anything for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster import GONE
from planner.disruption.movability import answers
from planner.explain.situation.subject import Subject
from planner.explain.situation.trial_state import trial_state
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.words import NAMED, conjoined, count_of


def leaving(subject: Subject) -> list[int]:
    """Terminating pods that still hold room."""
    state = subject.state
    found: list[int] = np.flatnonzero(state.terminating & (state.node_of >= 0)).tolist()
    return found


def leaving_soon(subject: Subject) -> list[int]:
    """Those of them on nodes whose kubelet ends them."""
    nodes, node_of = subject.cluster.nodes, subject.state.node_of
    return [pod for pod in leaving(subject) if answers(nodes[int(node_of[pod])])]


def ending_first(
    subject: Subject, pods: Sequence[int], terminating: Sequence[int]
) -> tuple[int, ...]:
    """Those after whose end all these pods find a node; none of them can be spared.

    Empty if nothing terminates, or if that is not enough.
    """
    if not terminating:
        return ()
    state, scheduler = trial_state(subject, (*pods, *terminating))
    nodes = {pod: int(state.node_of[pod]) for pod in terminating}
    for pod in terminating:
        state.remove(pod, to=GONE)
    if not _all_placed(state, scheduler, pods):
        return ()
    needed = []
    for pod in terminating:
        state.place(pod, nodes[pod])
        if not _all_placed(state, scheduler, pods):
            state.remove(pod, to=GONE)
            needed.append(pod)
    return tuple(needed)


def _all_placed(state: SchedulingState, scheduler: Scheduler, pods: Sequence[int]) -> bool:
    """One after the other, by kube-scheduler's own choice; nothing stays placed."""
    landed: list[int] = []
    for pod in pods:
        best = scheduler.evaluate(pod).best
        if not len(best):
            break
        state.place(pod, int(best[0]))
        landed.append(pod)
    for pod in landed:
        state.remove(pod)
    return len(landed) == len(pods)


def named(subject: Subject, pods: Sequence[int]) -> str:
    """`pod/x and pod/y`, or their number if they are many."""
    if len(pods) > NAMED:
        return count_of(len(pods), "terminating pod")
    return conjoined([f"pod/{subject.cluster.pods[pod].name}" for pod in pods])


def waiting_sentence(subject: Subject, pods: Sequence[int], evictions_then: int = 0) -> str:
    """What has to end, whether that is enough, and whether somebody is there to end it."""
    cluster = subject.cluster
    verb, whose, they = ("is", "its", "it has") if len(pods) == 1 else ("are", "their", "they have")
    text = f"{named(subject, pods)} {verb} terminating: "
    if evictions_then:
        few = count_of(evictions_then, "eviction makes", "evictions make")
        return f"{text}{whose} room alone is not enough, but once {they} ended {few} it so."
    text += f"no eviction is needed, {whose} room is free as soon as the containers have ended."
    at = sorted({int(subject.state.node_of[pod]) for pod in pods})
    silent = [cluster.nodes[node].name for node in at if not answers(cluster.nodes[node])]
    if not silent:
        return text
    be = "is" if len(silent) == 1 else "are"
    return (
        f"{text} But {conjoined(silent)} {be} not ready, so nobody ends pods there: they stay "
        "until the node is back, or until its Node object is deleted."
    )
