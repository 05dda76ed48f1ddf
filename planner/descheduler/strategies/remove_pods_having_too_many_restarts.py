"""RemovePodsHavingTooManyRestarts: node by node, most restarts first."""

from __future__ import annotations

from collections.abc import Iterator

from planner.descheduler.strategies.framework import Evictor, View, selecting, states_of
from planner.descheduler.strategies.go_sort import go_sorted
from planner_models.descheduler_args import TooManyRestartsArgs
from planner_models.pod import Pod


def deschedule(view: View, args: TooManyRestartsArgs, evictor: Evictor) -> None:
    """Evict from the threshold on; restarts of init containers count on request."""
    selected = selecting(args.namespaces, args.label_selector)

    def too_many(node: int) -> Iterator[tuple[Pod, str]]:
        restarts = {
            pod: _restarts(pod, args)
            for pod in view.all_pods_on(node)
            if selected(pod) and _in_state(pod, args) and evictor.evictable(pod)
        }
        found = [pod for pod, count in restarts.items() if count >= args.pod_restart_threshold]
        for pod in go_sorted(found, lambda one, other: restarts[one] > restarts[other]):
            yield pod, f"{restarts[pod]} restarts"

    evictor.evict_by_node(too_many)


def _restarts(pod: Pod, args: TooManyRestartsArgs) -> int:
    return sum(state.restarts for state in states_of(pod, init=args.including_init_containers))


def _in_state(pod: Pod, args: TooManyRestartsArgs) -> bool:
    """The phase or the reason why a container waits is listed, if any is."""
    states: set[str | None] = set(args.states)
    containers = states_of(pod, init=args.including_init_containers)
    return not states or pod.phase in states or any(each.waiting in states for each in containers)
