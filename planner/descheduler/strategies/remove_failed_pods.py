"""RemoveFailedPods: pods in phase Failed, unless they are too young or failed for other reasons."""

from __future__ import annotations

from collections.abc import Iterator

from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner.descheduler.strategies.limits import Outcome
from planner_models.descheduler_args import RemoveFailedPodsArgs
from planner_models.pod import ContainerState, Pod


def deschedule(view: View, args: RemoveFailedPodsArgs, evictor: Evictor) -> None:
    """Node by node."""
    selected = selecting(args.namespaces, args.label_selector)
    for node in view.nodes:
        failed = (
            (pod, f"it has failed: {pod.reason}" if pod.reason else "it has failed")
            for pod in view.all_pods_on(node)
            if pod.phase == "Failed"
            and selected(pod)
            and evictor.evictable(pod)
            and _meant(pod, view.now, args)
        )
        if evictor.evict_each(failed) is Outcome.TOTAL_LIMIT:
            return


def _meant(pod: Pod, now: int, args: RemoveFailedPodsArgs) -> bool:
    if pod.created is not None and now - pod.created < args.min_pod_lifetime_seconds:
        return False
    if any(owner.kind in args.exclude_owner_kinds for owner in pod.owners):
        return False
    containers = list(_containers(pod, args))
    if args.reasons:
        reasons = {pod.reason}
        for state in containers:
            reasons |= {state.waiting or "", state.terminated or ""}
        if not (reasons - {""}) & set(args.reasons):
            return False
    codes = {state.exit_code for state in containers if state.exit_code is not None}
    return not args.exit_codes or bool(codes & set(args.exit_codes))


def _containers(pod: Pod, args: RemoveFailedPodsArgs) -> Iterator[ContainerState]:
    for state in pod.container_states:
        if state.kind == "main" or (state.kind == "init" and args.including_init_containers):
            yield state
