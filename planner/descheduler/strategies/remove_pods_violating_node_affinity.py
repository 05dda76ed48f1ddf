"""RemovePodsViolatingNodeAffinity: pods whose node affinity asks for another node.

Only pods that would fit somewhere are evicted, their own node included. A nodeSelector without
node affinity is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner.descheduler.strategies.node_fit import NodeFit
from planner_models.affinity import REQUIRED
from planner_models.descheduler_args import ViolatedNodeAffinityArgs
from planner_models.node import Node
from planner_models.pod import Pod

Verdict = Callable[[Pod, int], str | None]
"""Why the pod should leave its node, or None."""


def deschedule(view: View, args: ViolatedNodeAffinityArgs, evictor: Evictor) -> None:
    """Required and preferred rules in the order of the arguments; a pod may be named for both."""
    selected = selecting(args.namespaces, args.label_selector)
    fit = NodeFit(view)

    def misplaced(verdict: Verdict, node: int) -> Iterator[tuple[Pod, str]]:
        for pod in view.pods_on(node):
            if selected(pod) and evictor.evictable(pod):
                reason = verdict(pod, node)
                if reason is not None and fit.fits_any(pod, view.node_array):
                    yield pod, reason

    for rule in args.node_affinity_type:
        verdict = _required(fit) if rule == REQUIRED else _preferred(view)
        evictor.evict_by_node(partial(misplaced, verdict))


def _required(fit: NodeFit) -> Verdict:
    def verdict(pod: Pod, node: int) -> str | None:
        required = pod.spec.affinity.node_affinity.required
        if required is None or fit.matches_affinity(pod)[node]:
            return None
        return "its required node affinity does not match its node"

    return verdict


def _preferred(view: View) -> Verdict:
    nodes = view.cluster.nodes
    known: dict[int, int] = {}

    def verdict(pod: Pod, node: int) -> str | None:
        if not pod.spec.affinity.node_affinity.preferred:
            return None
        here, best = _weight(pod, nodes[node]), known.get(id(pod.spec))
        if best is None:
            best = known[id(pod.spec)] = max(_weight(pod, nodes[n]) for n in view.nodes)
        return f"its node has {here} of {best} points of preference" if best > here else None

    return verdict


def _weight(pod: Pod, node: Node) -> int:
    """The weights of the preferred terms that a node matches; an empty term matches none."""
    return sum(
        term.weight
        for term in pod.spec.affinity.node_affinity.preferred
        if term.preference.matches(node.labels, node.name)
    )
