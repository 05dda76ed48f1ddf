"""Groups of interchangeable pods.

Replicas of a workload are the same to every rule of the scheduler, so everything downstream works
on groups and counts. Two pods are interchangeable if they have the same namespace, spec, owner and
volumes, and agree in every label that some selector in the cluster can see: kube-scheduler writes
the zone into the labels of bound pods (KEP 4742), and StatefulSets a unique name, but where no
selector asks for these keys they tell nobody apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.owners import Owners
from planner.cluster.topology import IntArray
from planner_models.affinity import PodAffinity
from planner_models.meta import OwnerReference
from planner_models.pod import Pod, PodSpec
from planner_models.policy import PodDisruptionBudget
from planner_models.selectors import LabelSelector
from planner_models.volume import Volume
from planner_models.workload import ReplicaSet, ReplicationController, Service, StatefulSet


@dataclass(frozen=True, eq=False)
class PodGroup:
    """Interchangeable pods. `labels` are those that selectors can see."""

    index: int
    namespace: str
    labels: Mapping[str, str]
    spec: PodSpec
    owner: OwnerReference | None
    volumes: tuple[Volume, ...]
    example: Pod
    node_name: str = ""
    """`spec.nodeName` where it is still to be honoured: pods in a snapshot are bound or free."""

    @property
    def priority(self) -> int:
        """`spec.priority`, absent 0."""
        return self.spec.priority or 0


def spec_selectors(spec: PodSpec) -> Iterable[LabelSelector]:
    """Every pod selector in a spec."""
    for constraint in spec.topology_spread_constraints:
        if constraint.label_selector is not None:
            yield constraint.label_selector
    affinity = spec.affinity
    yield from _affinity_selectors(affinity.pod_affinity)
    yield from _affinity_selectors(affinity.pod_anti_affinity)


def _affinity_selectors(terms: PodAffinity) -> Iterable[LabelSelector]:
    for term in (*terms.required, *(w.pod_affinity_term for w in terms.preferred)):
        if term.label_selector is not None:
            yield term.label_selector


def visible_keys(specs: Iterable[PodSpec], selectors: Iterable[LabelSelector]) -> frozenset[str]:
    """The label keys of pods that anything in the cluster looks at."""
    keys: set[str] = set()
    for spec in specs:
        for constraint in spec.topology_spread_constraints:
            keys.update(constraint.match_label_keys)
        for selector in spec_selectors(spec):
            keys.update(selector.keys())
    for selector in selectors:
        keys.update(selector.keys())
    return frozenset(keys)


def _volume_key(pod: Pod, texts: dict[int, str]) -> tuple[str, ...]:
    """The volumes by their text, found once each; an ephemeral one's claim is the pod's own."""
    key = []
    for volume in pod.volumes:
        text = texts.get(id(volume))
        if text is None:
            text = texts[id(volume)] = str(volume)
        key.append(text if volume.ephemeral is None else pod.name)
    return tuple(key)


def other_selectors(
    services: Iterable[Service], owners: Owners, budgets: Iterable[PodDisruptionBudget]
) -> Iterable[LabelSelector]:
    """Selectors outside of pods that tell pods apart."""
    for service in services:
        yield LabelSelector(match_labels=service.spec.selector)
    for owner in owners.controllers.values():
        if isinstance(owner, ReplicationController):
            yield LabelSelector(match_labels=owner.spec.selector)
        elif isinstance(owner, ReplicaSet | StatefulSet) and owner.spec.selector is not None:
            yield owner.spec.selector
    for budget in budgets:
        if budget.spec.selector is not None:
            yield budget.spec.selector


GroupKeys = Mapping[tuple[object, ...], int]


def keys_of(groups: Sequence[PodGroup]) -> GroupKeys:
    """What tells these groups apart, and their indexes."""
    volumes: dict[int, str] = {}
    return {
        _key(group.example, tuple(sorted(group.labels.items())), group.spec, volumes): group.index
        for group in groups
    }


def group_pods(
    pods: Sequence[Pod],
    keys: frozenset[str],
    known: Sequence[PodGroup] = (),
    known_keys: GroupKeys | None = None,
) -> tuple[tuple[PodGroup, ...], IntArray]:
    """The `known` groups, then others in order of their first pod; and the group of each pod.

    `known_keys` are those of the known groups, for whoever has them already.
    """
    groups: list[PodGroup] = list(known)
    volumes: dict[int, str] = {}
    index = dict(keys_of(known) if known_keys is None else known_keys)
    group_of = np.empty(len(pods), np.int64)
    seen: dict[int, tuple[tuple[str, str], ...]] = {}
    quick: dict[tuple[object, ...], int] = {}
    for i, pod in enumerate(pods):
        # Replicas mostly share the very objects; only where nothing is the pod's own.
        same = (pod.namespace, id(pod.labels), id(pod.spec), id(pod.owner))
        shared = pod.owner is not None and not pod.volumes
        if shared and (known_as := quick.get(same)) is not None:
            group_of[i] = known_as
            continue
        labels = seen.get(id(pod.labels))
        if labels is None:
            labels = tuple(sorted((k, v) for k, v in pod.labels.items() if k in keys))
            seen[id(pod.labels)] = labels
        key = _key(pod, labels, pod.spec, volumes)
        found = index.get(key)
        if found is None:
            found = index[key] = len(groups)
            groups.append(
                PodGroup(found, pod.namespace, dict(labels), pod.spec, pod.owner, pod.volumes, pod)
            )
        group_of[i] = found
        if shared:
            quick[same] = found
    return tuple(groups), group_of


def _key(
    pod: Pod, labels: tuple[tuple[str, str], ...], spec: PodSpec, volumes: dict[int, str]
) -> tuple[object, ...]:
    """Equal for pods that nothing tells apart."""
    owner = (pod.owner.kind, pod.owner.name) if pod.owner else pod.name
    return (pod.namespace, labels, id(spec), owner, _volume_key(pod, volumes))
