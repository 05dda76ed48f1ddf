"""RemovePodsHavingTooManyRestarts: node by node, most restarts first."""

from __future__ import annotations

from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner.descheduler.strategies.go_sort import go_sorted
from planner.descheduler.strategies.limits import Outcome
from planner_models.descheduler_args import TooManyRestartsArgs
from planner_models.pod import Pod


def deschedule(view: View, args: TooManyRestartsArgs, evictor: Evictor) -> None:
    """Evict from the threshold on; restarts of init containers count on request."""
    selected = selecting(args.namespaces, args.label_selector)

    def too_many(pod: Pod) -> bool:
        return _restarts(pod, args) >= args.pod_restart_threshold and _in_state(pod, args)

    for node in view.nodes:
        found = [
            pod
            for pod in view.all_pods_on(node)
            if selected(pod) and evictor.evictable(pod) and too_many(pod)
        ]
        ordered = go_sorted(found, lambda one, two: _restarts(one, args) > _restarts(two, args))
        reasons = ((pod, f"{_restarts(pod, args)} restarts") for pod in ordered)
        if evictor.evict_each(reasons) is Outcome.TOTAL_LIMIT:
            return


def _restarts(pod: Pod, args: TooManyRestartsArgs) -> int:
    return sum(
        state.restarts
        for state in pod.container_states
        if state.kind == "main" or (state.kind == "init" and args.including_init_containers)
    )


def _in_state(pod: Pod, args: TooManyRestartsArgs) -> bool:
    """The phase or the reason why a container waits is listed, if any is."""
    states: set[str] = set(args.states)
    return (
        not states
        or pod.phase in states
        or any(
            state.waiting in states
            for state in pod.container_states
            if state.kind == "main" or (state.kind == "init" and args.including_init_containers)
        )
    )
