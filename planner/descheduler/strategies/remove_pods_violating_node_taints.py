"""RemovePodsViolatingNodeTaints: pods on nodes with a taint that they don't tolerate.

NoSchedule taints count, on request PreferNoSchedule ones too; NoExecute is the node controller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner_models.descheduler_args import ViolatedNodeTaintsArgs
from planner_models.pod import Pod
from planner_models.taints import Taint, TaintEffect, first_untolerated


def deschedule(view: View, args: ViolatedNodeTaintsArgs, evictor: Evictor) -> None:
    """Node by node."""
    selected = selecting(args.namespaces, args.label_selector)
    effects: set[TaintEffect] = {"NoSchedule"}
    if args.include_prefer_no_schedule:
        effects.add("PreferNoSchedule")
    counts = _counting(args)

    def intolerant(node: int) -> Iterator[tuple[Pod, str]]:
        taints = [taint for taint in view.cluster.nodes[node].spec.taints if counts(taint)]
        for pod in view.pods_on(node):
            taint = first_untolerated(taints, pod.spec.tolerations, effects)
            if taint is not None and selected(pod) and evictor.evictable(pod):
                yield pod, f"it does not tolerate {taint}"

    evictor.evict_by_node(intolerant)


def _counting(args: ViolatedNodeTaintsArgs) -> Callable[[Taint], bool]:
    """Taints named by `key` or `key=value`; a list of included ones that is empty includes none."""
    everything = "included_taints" not in args.model_fields_set

    def counts(taint: Taint) -> bool:
        names = {taint.key, f"{taint.key}={taint.value}" if taint.value else taint.key}
        if names & set(args.excluded_taints):
            return False
        return everything or bool(names & set(args.included_taints))

    return counts
