"""What the API server does to a pod when it is created.

Pods from a cluster (they have a uid) went through this already. Manifests and templates have not,
so the same defaults are applied here: requests from limits, pod-level requests, ports under
hostNetwork, matchLabelKeys merged into selectors, priority from its class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from planner.sources.errors import SourceError
from planner_models.affinity import PREFERRED, REQUIRED, Affinity, PodAffinity, PodAffinityTerm
from planner_models.labels import LabelKey
from planner_models.pod import DEFAULT_SCHEDULER, Container, PodSpec
from planner_models.resources import (
    CPU,
    MEMORY,
    ResourceRequirements,
    container_limits,
    container_requests,
    is_pod_level,
)
from planner_models.selectors import LabelSelector, with_match_label_keys, with_mismatch_label_keys
from planner_models.topology_spread import TopologySpreadConstraint
from planner_models.volume import PersistentVolumeClaim, StorageClass
from planner_models.workload import SYSTEM_PRIORITY_CLASSES, PriorityClass


@dataclass(frozen=True)
class SharedKey:
    """A key in both matchLabelKeys and labelSelector; `field` is where, inside the pod's spec."""

    key: str
    field: str

    def at(self, file: str, object_name: str, prefix: str) -> SourceError:
        """The error about the object that has it."""
        message = f"{self.key} is in both matchLabelKeys and labelSelector"
        return SourceError(message, file=file, object=object_name, field=f"{prefix}.{self.field}")


def default_spec(spec: PodSpec, labels: Mapping[str, str]) -> PodSpec:
    """The spec as the API server would store it for a pod with these labels."""
    containers = tuple(_default_container(c, spec.host_network) for c in spec.containers)
    inits = tuple(_default_container(c, spec.host_network) for c in spec.init_containers)
    defaulted = spec.replace(
        containers=containers,
        init_containers=inits,
        affinity=_merge_affinity(spec.affinity, labels),
        topology_spread_constraints=tuple(
            _merge_spread(constraint, labels) for constraint in spec.topology_spread_constraints
        ),
        scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER,
    )
    return defaulted.replace(resources=_pod_level(defaulted))


def shared_key(spec: PodSpec) -> SharedKey | None:
    """The first key in both matchLabelKeys and labelSelector, which a new object may not have.

    Stored pods do have such keys: the API server has merged them into the selector.
    """
    for field, keys, selector in _label_keys(spec):
        if selector is None:
            continue
        for index, key in enumerate(keys):
            if key in selector.keys():  # noqa: SIM118  # a selector, not a mapping
                return SharedKey(key, f"{field}[{index}]")
    return None


def label_keys(spec: PodSpec) -> tuple[str, ...]:
    """The labels of the pod that its stored spec depends on: matchLabelKeys, mismatchLabelKeys."""
    return tuple(sorted({key for _, keys, _ in _label_keys(spec) for key in keys}))


def _label_keys(
    spec: PodSpec,
) -> Iterator[tuple[str, tuple[LabelKey, ...], LabelSelector | None]]:
    """Every list of label keys in a spec, with its place and the selector it adds to."""
    for index, constraint in enumerate(spec.topology_spread_constraints):
        field = f"topologySpreadConstraints[{index}].matchLabelKeys"
        yield field, constraint.match_label_keys, constraint.label_selector
    affinity = spec.affinity
    for name, terms in (
        ("podAffinity", affinity.pod_affinity),
        ("podAntiAffinity", affinity.pod_anti_affinity),
    ):
        for place, term in _terms(terms):
            field = f"affinity.{name}.{place}"
            yield f"{field}.matchLabelKeys", term.match_label_keys, term.label_selector
            yield f"{field}.mismatchLabelKeys", term.mismatch_label_keys, None


def _terms(terms: PodAffinity) -> Iterator[tuple[str, PodAffinityTerm]]:
    for index, term in enumerate(terms.required):
        yield f"{REQUIRED}[{index}]", term
    for index, weighted in enumerate(terms.preferred):
        yield f"{PREFERRED}[{index}].podAffinityTerm", weighted.pod_affinity_term


def with_priority(spec: PodSpec, classes: Mapping[str, PriorityClass]) -> PodSpec:
    """Priority and preemption policy as the Priority admission plugin sets them.

    A class that is not in the input leaves the spec as it is; see `unknown_class`.
    """
    if spec.priority is not None:
        return spec
    name = spec.priority_class_name
    if name in SYSTEM_PRIORITY_CLASSES:
        return spec.replace(priority=SYSTEM_PRIORITY_CLASSES[name])
    found = classes.get(name) if name else _global_default(classes.values())
    if found is None:
        return spec
    return spec.replace(
        priority=found.value,
        preemption_policy=spec.preemption_policy or found.preemption_policy,
        priority_class_name=found.name,
    )


def unknown_class(spec: PodSpec, classes: Mapping[str, PriorityClass]) -> bool:
    """Whether the pod's priority is not known, because its class is not in the input."""
    name = spec.priority_class_name
    return (
        spec.priority is None
        and bool(name)
        and name not in classes
        and name not in SYSTEM_PRIORITY_CLASSES
    )


def with_default_class(
    claims: Iterable[PersistentVolumeClaim], classes: Iterable[StorageClass]
) -> tuple[PersistentVolumeClaim, ...]:
    """New claims that name no class with the default one, as DefaultStorageClass sets it.

    Of several default classes the newest counts, then the first by name.
    """
    defaults = sorted(
        (each for each in classes if each.default),
        key=lambda each: (-(each.metadata.creation_timestamp or 0), each.name),
    )
    if not defaults:
        return tuple(claims)
    return tuple(
        claim
        if claim.metadata.uid or claim.storage_class is not None
        else claim.replace(spec=claim.spec.replace(storage_class_name=defaults[0].name))
        for claim in claims
    )


def _global_default(classes: Iterable[PriorityClass]) -> PriorityClass | None:
    """Of several global defaults the one with the lowest value, as the admission plugin picks."""
    defaults = sorted((c for c in classes if c.global_default), key=lambda c: (c.value, c.name))
    return defaults[0] if defaults else None


def _default_container(container: Container, host_network: bool) -> Container:
    resources = container.resources
    if resources.limits:
        resources = resources.replace(requests={**resources.limits, **resources.requests})
    made = container.replace(resources=resources)
    return made.on_host_network() if host_network else made


def _pod_level(spec: PodSpec) -> ResourceRequirements:
    """Pod-level requests, completed from the containers and from pod-level limits (KEP 2837).

    Only where the pod sets a limit at pod level. Huge pages first take their pod-level limit from
    the containers' limits; cpu and memory take the containers' requests before their own limit.
    """
    own = spec.resources
    if not own.requests and not own.limits:
        return own
    limits = dict(own.limits)
    for name, amount in container_limits(spec).items():
        if name.startswith("hugepages-") and name not in own.requests:
            limits.setdefault(name, amount)
    requests = dict(own.requests)
    if limits:
        wanted = {n: a for n, a in container_requests(spec).items() if n in (CPU, MEMORY)}
        for name, amount in (wanted | {n: a for n, a in limits.items() if n not in wanted}).items():
            if is_pod_level(name):
                requests.setdefault(name, amount)
    return own.replace(requests=requests, limits=limits)


def _merge_spread(
    constraint: TopologySpreadConstraint, labels: Mapping[str, str]
) -> TopologySpreadConstraint:
    if not constraint.match_label_keys or constraint.label_selector is None:
        return constraint
    merged = with_match_label_keys(constraint.label_selector, constraint.match_label_keys, labels)
    return constraint.replace(label_selector=merged)


def _merge_affinity(affinity: Affinity, labels: Mapping[str, str]) -> Affinity:
    return affinity.replace(
        pod_affinity=_merge_terms(affinity.pod_affinity, labels),
        pod_anti_affinity=_merge_terms(affinity.pod_anti_affinity, labels),
    )


def _merge_terms(terms: PodAffinity, labels: Mapping[str, str]) -> PodAffinity:
    return terms.replace(
        required=tuple(_merge_term(term, labels) for term in terms.required),
        preferred=tuple(
            weighted.replace(pod_affinity_term=_merge_term(weighted.pod_affinity_term, labels))
            for weighted in terms.preferred
        ),
    )


def _merge_term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    if not (term.match_label_keys or term.mismatch_label_keys) or term.label_selector is None:
        return term
    merged = with_match_label_keys(term.label_selector, term.match_label_keys, labels)
    merged = with_mismatch_label_keys(merged, term.mismatch_label_keys, labels)
    return term.replace(label_selector=merged)
