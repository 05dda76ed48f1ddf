"""RemoveFailedPods: pods in phase Failed, unless they are too young or failed for other reasons."""

from __future__ import annotations

from collections.abc import Iterator

from planner.descheduler.strategies.framework import Evictor, View, selecting, states_of
from planner_models.descheduler_args import RemoveFailedPodsArgs
from planner_models.pod import Pod


def deschedule(view: View, args: RemoveFailedPodsArgs, evictor: Evictor) -> None:
    """Node by node."""
    selected = selecting(args.namespaces, args.label_selector)

    def failed(node: int) -> Iterator[tuple[Pod, str]]:
        for pod in view.all_pods_on(node):
            meant = pod.phase == "Failed" and selected(pod) and _meant(pod, view.now, args)
            if meant and evictor.evictable(pod):
                yield pod, f"it has failed: {pod.reason}" if pod.reason else "it has failed"

    evictor.evict_by_node(failed)


def _meant(pod: Pod, now: int, args: RemoveFailedPodsArgs) -> bool:
    if pod.created is not None and now - pod.created < args.min_pod_lifetime_seconds:
        return False
    if any(owner.kind in args.exclude_owner_kinds for owner in pod.owners):
        return False
    states = list(states_of(pod, init=args.including_init_containers))
    reasons = {pod.reason, *(s.waiting for s in states), *(s.terminated for s in states)}
    if args.reasons and not (reasons - {"", None}) & set(args.reasons):
        return False
    codes = {state.exit_code for state in states if state.exit_code is not None}
    return not args.exit_codes or bool(codes & set(args.exit_codes))
