"""DefaultEvictor: who may be evicted, and who may not for what reason.

The first filter asks about the pod itself; the second one, right before an eviction, whether it can
find another node (`nodeFit`) and whether its namespace is selected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from planner.cluster import GONE, Cluster
from planner.cluster.topology import IntArray
from planner.descheduler.strategies.framework import View
from planner.descheduler.strategies.node_fit import NodeFit
from planner.descheduler.strategies.selector_text import parse_selector, selects
from planner.disruption.movability import MIRROR, PREFER_NO_EVICTION
from planner_models.descheduler_evictor import SYSTEM_CRITICAL_PRIORITY, DefaultEvictorArgs
from planner_models.pod import Pod
from planner_models.selectors import LabelSelector, selector_matches
from planner_models.workload import priority_values

EVICT = "descheduler.alpha.kubernetes.io/evict"
SOURCE = "kubernetes.io/config.source"

Check = Callable[[Pod], str | None]
"""Why the pod is protected, or None."""


class UnknownPriorityClassError(ValueError):
    """The policy's threshold names a PriorityClass that is not there; the descheduler stops."""

    def __init__(self, name: str) -> None:
        super().__init__(f"priorityThreshold names the PriorityClass {name}, which is not there")


class DefaultEvictor:
    """The guard of a profile's strategies, over one view."""

    def __init__(self, view: View, args: DefaultEvictorArgs, fit: NodeFit) -> None:
        self._view = view
        self._args = args
        self._fit = fit
        self._checks = tuple(self._all_checks())

    def filter(self, pod: Pod) -> bool:
        """Whether the pod may be evicted at all."""
        return self.protection(pod) is None

    def protection(self, pod: Pod) -> str | None:
        """What protects the pod. The annotation that asks for eviction overrules everything."""
        if EVICT in pod.annotations:
            return None
        if self._args.no_eviction_policy == "Mandatory" and PREFER_NO_EVICTION in pod.annotations:
            return "an annotation asks to leave it alone"
        for check in self._checks:
            reason = check(pod)
            if reason is not None:
                return reason
        return None

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Whether it may be evicted now."""
        if self._args.node_fit and not self._finds_another_node(pod):
            return False
        selector = self._args.namespace_label_selector
        if selector is None or selector.is_empty:
            return True
        labels = self._view.cluster.namespaces.get(pod.namespace)
        return labels is not None and selector.matches(labels)

    @cached_property
    def _finds_another_node(self) -> Callable[[Pod], bool]:
        """nodeFit, over the ready nodes of the evictor's own selector."""
        nodes = ready_nodes(self._view.cluster, self._args.node_selector)
        return self._fit.landing_on(nodes)

    def _all_checks(self) -> Iterator[Check]:
        yield _static
        yield lambda pod: "it is terminating" if self._view.is_terminating(pod) else None
        yield from self._protections()
        selector = self._args.label_selector
        if selector is not None and not selector.is_empty:
            yield lambda pod: None if selector.matches(pod.labels) else "labelSelector omits it"
        if self._args.min_replicas > 1:
            yield self._min_replicas
        if self._args.min_pod_age is not None:
            yield self._min_pod_age

    def _protections(self) -> Iterator[Check]:
        protections = self._args.protections
        if "SystemCriticalPods" in protections:
            yield self._priority(self._threshold())
        yield _failed_bare if "FailedBarePods" not in protections else _bare
        if "PodsWithLocalStorage" in protections:
            yield _local_storage
        if "DaemonSetPods" in protections:
            yield _daemon
        if "PodsWithPVC" in protections:
            yield self._claims
        if "PodsWithoutPDB" in protections:
            yield self._without_budget
        if "PodsWithResourceClaims" in protections:
            yield lambda pod: "it has resource claims" if pod.spec.resource_claims else None

    def _threshold(self) -> int:
        """Critical pods stay in any case; the threshold is off together with that protection."""
        given = self._args.priority_threshold
        if given is None:
            return SYSTEM_CRITICAL_PRIORITY
        if given.value is not None:
            return given.value
        if not given.name:
            return SYSTEM_CRITICAL_PRIORITY
        classes = priority_values(self._view.cluster.priority_classes)
        if given.name not in classes:
            raise UnknownPriorityClassError(given.name)
        return classes[given.name]

    @staticmethod
    def _priority(threshold: int) -> Check:
        limit = min(threshold, SYSTEM_CRITICAL_PRIORITY)

        def check(pod: Pod) -> str | None:
            priority = pod.spec.priority
            return None if priority is None or priority < limit else f"its priority is {priority}"

        return check

    def _claims(self, pod: Pod) -> str | None:
        claims = [v.persistent_volume_claim for v in pod.volumes if v.persistent_volume_claim]
        config = self._args.pod_protections.config
        listed = config.pods_with_pvc if config is not None else None
        protected = {each.name for each in listed.protected_storage_classes} if listed else set()
        if not protected:
            return "it has a volume claim" if claims else None
        for claim in claims:
            found = self._view.cluster.storage.claims.get(f"{pod.namespace}/{claim.claim_name}")
            storage_class = found.spec.storage_class_name if found is not None else None
            if not storage_class or storage_class in protected:
                return "it has a volume claim of a protected class"
        return None

    def _without_budget(self, pod: Pod) -> str | None:
        selectors = self._budget_selectors.get(pod.namespace, ())
        covered = any(selector_matches(selector, pod.labels) for selector in selectors)
        return None if covered else "it has no PodDisruptionBudget"

    @cached_property
    def _budget_selectors(self) -> Mapping[str, Sequence[LabelSelector | None]]:
        found: dict[str, list[LabelSelector | None]] = {}
        for budget in self._view.cluster.budgets:
            found.setdefault(budget.namespace, []).append(budget.spec.selector)
        return found

    def _min_replicas(self, pod: Pod) -> str | None:
        """Replicas are all pods with the same owner, finished and pending ones too."""
        if len(pod.owners) != 1:
            return None
        count = self._replicas[_owner_key(pod)[0]]
        return None if count >= self._args.min_replicas else f"its owner has {count} replicas"

    @cached_property
    def _replicas(self) -> Counter[tuple[str, ...]]:
        cluster = self._view.cluster
        pods = (*(cluster.pods[i] for i in _present(cluster)), *cluster.finished_pods)
        return Counter(key for pod in pods for key in _owner_key(pod))

    def _min_pod_age(self, pod: Pod) -> str | None:
        minimum = self._args.min_pod_age
        if minimum is None:
            return None
        old = pod.started is not None and self._view.now - pod.started >= minimum.total_seconds()
        return None if old else "it is younger than minPodAge"


def ready_nodes(cluster: Cluster, selector: str | None = None) -> IntArray:
    """The nodes that the descheduler works on: ready ones, cordoned or not, that are selected."""
    requirements = parse_selector(selector or "")
    found = [
        i
        for i, node in enumerate(cluster.nodes)
        if node.ready and selects(requirements, node.labels)
    ]
    return np.array(found, np.int64)


def _present(cluster: Cluster) -> list[int]:
    return np.flatnonzero(cluster.node_of != GONE).tolist()


def _owner_key(pod: Pod) -> tuple[tuple[str, ...], ...]:
    """Owners by uid; those of manifests have none yet and go by name."""
    return tuple(
        (owner.uid,) if owner.uid else (pod.namespace, owner.kind, owner.name)
        for owner in pod.owners
    )


def _static(pod: Pod) -> str | None:
    static = MIRROR in pod.annotations or pod.annotations.get(SOURCE, "api") != "api"
    return "it is a static pod of its node" if static else None


def _bare(pod: Pod) -> str | None:
    return None if pod.owners else "it has no owner"


def _failed_bare(pod: Pod) -> str | None:
    return None if pod.owners or pod.phase == "Failed" else "it has no owner and has not failed"


def _local_storage(pod: Pod) -> str | None:
    return "it has local storage" if any(volume.local for volume in pod.volumes) else None


def _daemon(pod: Pod) -> str | None:
    return "a DaemonSet runs it" if any(owner.kind == "DaemonSet" for owner in pod.owners) else None
