"""New pods as the API server would store them: defaults, priorities and LimitRanges applied.

Pods with a uid, and new replicas that have their spec from one, are stored that way already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from planner.sources.defaulting import default_spec, label_keys, unknown_class, with_priority
from planner.sources.inventory import counted, name_some
from planner.sources.limit_ranges import LimitRanger, Refusal
from planner_models.limit_range import LimitRange
from planner_models.notice import Notice
from planner_models.pod import Pod, PodSpec
from planner_models.workload import PriorityClass

_SpecKey = tuple[int, str, tuple[tuple[str, str], ...]]
"""The identity of a spec, and what its stored form depends on: a namespace and some labels."""


class Admission:
    """What happens to pods when they are created, and what there is to say about it."""

    def __init__(
        self,
        classes: Mapping[str, PriorityClass],
        ranges: Iterable[LimitRange],
        stored: Iterable[PodSpec],
    ) -> None:
        self._classes = classes
        self._ranger = LimitRanger(ranges)
        self._stored = {id(spec) for spec in stored}
        self._specs: dict[_SpecKey, tuple[PodSpec, PodSpec, bool]] = {}
        """By identity of the original, which stands beside it: so it lives as long as its id is a
        key. Whether a LimitRange set requests comes last."""
        self._unknown_classes: dict[str, list[str]] = defaultdict(list)
        self._limited: list[str] = []
        self._refused: dict[str, list[Pod]] = defaultdict(list)

    def stored(self, pod: Pod) -> Pod:
        """The pod as the API server would store it."""
        if pod.stored or id(pod.spec) in self._stored:
            return pod
        if unknown_class(pod.spec, self._classes):
            self._unknown_classes[pod.spec.priority_class_name].append(pod.key)
        return msgspec.structs.replace(pod, spec=self._spec(pod))

    def refusal(self, pod: Pod) -> Refusal | None:
        """Why a stored pod would not even be created; one that has a node is there."""
        if pod.node_name or id(pod.spec) in self._stored or not self._limits(pod):
            return None
        return self._ranger.refusal(pod.namespace, pod.spec)

    def replicas(self, pods: Iterable[Pod]) -> Iterator[Pod]:
        """What controllers would get of the pods that they want."""
        for pod in map(self.stored, pods):
            refusal = self.refusal(pod)
            if refusal is None:
                yield pod
            else:
                self._refused[refusal.message].append(pod)

    def _spec(self, pod: Pod) -> PodSpec:
        """Defaulted specs are shared by replicas, as stored ones are."""
        values = tuple((k, pod.labels[k]) for k in label_keys(pod.spec) if k in pod.labels)
        namespace = pod.namespace if self._limits(pod) else ""
        key = (id(pod.spec), namespace, values)
        if key not in self._specs:
            own = with_priority(default_spec(pod.spec, pod.labels), self._classes)
            spec = self._ranger.defaulted(namespace, own)
            self._specs[key] = (pod.spec, spec, spec.requests != own.requests)
        _, spec, limited = self._specs[key]
        if limited:
            self._limited.append(pod.key)
        return spec

    def _limits(self, pod: Pod) -> bool:
        """Whether LimitRanges are still to come: a status tells of a pod that was admitted."""
        new = pod.phase == "Pending" and not pod.condition_kinds
        return new and self._ranger.covers(pod.namespace)

    def notices(self) -> Iterator[Notice]:
        """What a user may want to know about it."""
        for name, keys in sorted(self._unknown_classes.items()):
            text = f"PriorityClass {name} is not in the input; its pods count as priority 0"
            yield Notice(code="unknownPriorityClass", text=text, objects=name_some(keys))
        if self._limited:
            text = (
                f"{counted(len(self._limited), 'new pod')} with requests that a LimitRange of the "
                "namespace sets"
            )
            yield Notice(code="limitRange", text=text, objects=name_some(self._limited))
        for message, pods in sorted(self._refused.items()):
            text = f"{counted(len(pods), 'pod')} can't be made from templates: {message}"
            owners = name_some(_owner(pod) for pod in pods)
            yield Notice(code="refusedByLimitRange", text=text, objects=owners)


def _owner(pod: Pod) -> str:
    return pod.key if pod.owner is None else f"{pod.owner.kind} {pod.namespace}/{pod.owner.name}"
