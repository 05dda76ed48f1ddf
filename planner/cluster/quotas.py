"""ResourceQuotas: how many more pods of a kind the API server would take in a namespace.

The quota admission plugin counts every pod that has not finished, whether it has a node or not.
What its controller has counted stands in the quota's status; pods that exist in the input alone
come on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from planner.cluster.snapshot import GONE, Cluster
from planner_models.pod import Pod, PodSpec
from planner_models.quantity import milli_value, whole_value
from planner_models.quota import ResourceQuota, Scope, ScopedSelectorRequirement
from planner_models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, container_limits

UNKNOWN_SCOPES: frozenset[Scope] = frozenset(
    ("Terminating", "NotTerminating", "VolumeAttributesClass")
)
"""Scopes by fields of a pod that planner does not read; such quotas are left out, and named."""


@dataclass(frozen=True)
class QuotaRoom:
    """A quota that lets only so many more pods in, and by which of its resources."""

    quota: str
    resource: str
    pods: int


class Quotas:
    """The quotas of a snapshot and what is used of them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._counted = tuple(quota for quota in cluster.quotas if not unknown_scopes(quota))

    def room(self, namespace: str, spec: PodSpec) -> QuotaRoom | None:
        """The tightest quota over new pods of this spec; None if no quota limits them."""
        rooms = [
            QuotaRoom(quota.key, resource, max(0, left) // amount)
            for quota in self._counted
            if quota.namespace == namespace and covers(quota, spec)
            for resource, amount, left in self._left(quota, usage(spec))
        ]
        return min(rooms, key=lambda each: each.pods, default=None)

    def exceeded(self, namespace: str, spec: PodSpec) -> str:
        """A quota of which more is used than it allows; pods of this spec can't be made anew."""
        return next(
            (
                quota.key
                for quota in self._counted
                if quota.namespace == namespace and covers(quota, spec)
                if any(left < 0 for _, _, left in self._left(quota, usage(spec)))
            ),
            "",
        )

    def _left(
        self, quota: ResourceQuota, asked: Mapping[str, int]
    ) -> Iterator[tuple[str, int, int]]:
        """(resource, what a pod takes of it, what is left) for all that the quota limits."""
        used = self._used[quota.key]
        for resource, hard in quota.spec.hard.items():
            if asked.get(resource):
                yield resource, asked[resource], in_units(resource, hard) - used[resource]

    @cached_property
    def _used(self) -> Mapping[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for quota in self._counted:
            stored = quota.status.used
            counted = Counter({name: in_units(name, nano) for name, nano in stored.items()})
            for pod in self._pods(quota):
                if not stored or pod.synthesised:
                    counted.update(usage(pod.spec))
            found[quota.key] = counted
        return found

    def _pods(self, quota: ResourceQuota) -> Iterable[Pod]:
        gone = (self._cluster.node_of == GONE).tolist()
        return (
            pod
            for pod, left in zip(self._cluster.pods, gone, strict=True)
            if not left and pod.namespace == quota.namespace and covers(quota, pod.spec)
        )


def in_units(resource: str, nano: int) -> int:
    """Thousandths of a core, whole units of everything else."""
    return milli_value(nano) if resource.rpartition(".")[2] == CPU else whole_value(nano)


def usage(spec: PodSpec) -> dict[str, int]:
    """What one pod takes from a quota, under all names that a quota may give it."""
    found = {"pods": 1, "count/pods": 1}
    for name, amount in spec.requests.items():
        found[f"requests.{name}"] = amount
        if name in (CPU, MEMORY, EPHEMERAL_STORAGE) or name.startswith("hugepages-"):
            found[name] = amount
    limits = {**container_limits(spec), **spec.resources.limits}
    for name, nano in limits.items():
        found[f"limits.{name}"] = in_units(name, nano + spec.overhead.get(name, 0))
    return found


def unknown_scopes(quota: ResourceQuota) -> frozenset[Scope]:
    """The scopes of a quota that planner can't judge."""
    selected = (each.scope_name for each in quota.spec.scope_selector.match_expressions)
    return UNKNOWN_SCOPES & {*quota.spec.scopes, *selected}


def covers(quota: ResourceQuota, spec: PodSpec) -> bool:
    """Whether all scopes of the quota hold for a pod."""
    plain = (ScopedSelectorRequirement(scope_name=scope) for scope in quota.spec.scopes)
    return all(
        _in_scope(each, spec) for each in (*plain, *quota.spec.scope_selector.match_expressions)
    )


def _in_scope(wanted: ScopedSelectorRequirement, spec: PodSpec) -> bool:
    match wanted.scope_name:
        case "BestEffort":
            return _best_effort(spec)
        case "NotBestEffort":
            return not _best_effort(spec)
        case "PriorityClass":
            return _selects(wanted, spec.priority_class_name)
        case _:
            return _reaches_other_namespaces(spec)


def _selects(wanted: ScopedSelectorRequirement, name: str) -> bool:
    match wanted.operator:
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
        case "In":
            return name in wanted.values
        case _:
            return name not in wanted.values


def _best_effort(spec: PodSpec) -> bool:
    """Nobody asks for CPU or memory: the BestEffort class of quality of service."""
    resources = (
        spec.resources,
        *(each.resources for each in (*spec.init_containers, *spec.containers)),
    )
    asked = (amounts for each in resources for amounts in (each.requests, each.limits))
    return not any(amounts.get(name) for amounts in asked for name in (CPU, MEMORY))


def _reaches_other_namespaces(spec: PodSpec) -> bool:
    kinds = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity)
    return any(
        term.namespaces or term.namespace_selector is not None
        for terms in kinds
        for term in (*terms.required, *(each.pod_affinity_term for each in terms.preferred))
    )
