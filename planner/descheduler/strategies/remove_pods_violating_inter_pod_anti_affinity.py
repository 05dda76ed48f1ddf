"""RemovePodsViolatingInterPodAntiAffinity: pods beside others that their anti-affinity is about.

Required terms of the pod itself count; `namespaceSelector` is not looked at. An evicted pod no
longer bothers the others, so of two that exclude each other one stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner.descheduler.strategies.limits import EvictionResult
from planner.descheduler.strategies.pod_order import by_priority
from planner_models.affinity import PodAffinityTerm
from planner_models.descheduler_args import ViolatedInterPodAntiAffinityArgs
from planner_models.pod import Pod
from planner_models.selectors import selector_matches


def deschedule(view: View, args: ViolatedInterPodAntiAffinityArgs, evictor: Evictor) -> None:
    """Node by node, low priorities first; unprotected or not, all selected pods are rivals."""
    selected = selecting(args.namespaces, args.label_selector)
    on_node = {node: [pod for pod in view.pods_on(node) if selected(pod)] for node in view.nodes}
    rivals = _Rivals(view, (pod for pods in on_node.values() for pod in pods))
    for pods in on_node.values():
        for pod in by_priority(pods):
            rival = rivals.of(pod)
            if rival is None or not evictor.evictable(pod):
                continue
            outcome = evictor.evict(pod, f"its anti-affinity excludes {rival.key}")
            if outcome is EvictionResult.EVICTED:
                rivals.remove(pod)
            elif outcome is EvictionResult.NODE_LIMIT:
                break
            elif outcome is EvictionResult.TOTAL_LIMIT:
                return


class _Rivals:
    """The pods that a term is about, by node and by domain, as long as they are not evicted."""

    def __init__(self, view: View, pods: Iterable[Pod]) -> None:
        self._view = view
        self._gone: set[Pod] = set()
        self._by_namespace: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods:
            self._by_namespace[pod.namespace].append(pod)
        self._places: dict[tuple[object, ...], dict[tuple[str, object], list[Pod]]] = {}

    def remove(self, pod: Pod) -> None:
        """The pod was evicted."""
        self._gone.add(pod)

    def of(self, pod: Pod) -> Pod | None:
        """Some pod in the same place that a term of this pod excludes.

        One of the same name, in whatever namespace, is taken for the pod itself.
        """
        for term in pod.spec.affinity.pod_anti_affinity.required:
            places = self._places_of(term, pod)
            for place in self._where(pod, term.topology_key):
                for rival in places.get(place, ()):
                    if rival.name != pod.name and rival not in self._gone:
                        return rival
        return None

    def _places_of(self, term: PodAffinityTerm, pod: Pod) -> dict[tuple[str, object], list[Pod]]:
        namespaces = tuple(dict.fromkeys(term.namespaces or (pod.namespace,)))
        key = (namespaces, term.label_selector, term.topology_key)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = defaultdict(list)
            for namespace in namespaces:
                for rival in self._by_namespace.get(namespace, ()):
                    if selector_matches(term.label_selector, rival.labels):
                        for place in self._where(rival, term.topology_key):
                            found[place].append(rival)
        return found

    def _where(self, pod: Pod, key: str) -> Iterable[tuple[str, object]]:
        """The same node is the same place even without the label."""
        yield "node", self._view.node_of(pod)
        domain = self._view.node(pod).labels.get(key)
        if domain is not None:
            yield "domain", domain
