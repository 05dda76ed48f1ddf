"""Which groups a selector matches, without looking at every group.

An index from (namespace, label, value) to groups answers selectors that ask for equality, which
nearly all do; the others look at every group of the namespaces in question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray
from planner_models.affinity import PodAffinityTerm
from planner_models.selectors import LabelSelector

K = TypeVar("K")


def _joined(before: Mapping[K, list[int]], more: Mapping[K, list[int]]) -> dict[K, list[int]]:
    """The first are left as they are."""
    return {**before, **{key: [*before.get(key, ()), *found] for key, found in more.items()}}


class GroupIndex:
    """Groups by namespace and by label."""

    def __init__(self, groups: Sequence[PodGroup], before: GroupIndex | None = None) -> None:
        """`before` is the index of the first of the groups, if there is one already."""
        self._groups = groups
        by_namespace: dict[str, list[int]] = defaultdict(list)
        by_label: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for group in groups[0 if before is None else len(before._groups) :]:
            by_namespace[group.namespace].append(group.index)
            for key, value in group.labels.items():
                by_label[(group.namespace, key, value)].append(group.index)
        self._by_namespace: Mapping[str, list[int]] = by_namespace
        self._by_label: Mapping[tuple[str, str, str], list[int]] = by_label
        if before is not None:
            self._by_namespace = _joined(before._by_namespace, by_namespace)
            self._by_label = _joined(before._by_label, by_label)

    @property
    def namespaces(self) -> Iterable[str]:
        """Namespaces that have pods."""
        return self._by_namespace.keys()

    def matching(self, selector: LabelSelector | None, namespaces: Iterable[str]) -> IntArray:
        """The groups of these namespaces that the selector matches; an absent one matches none."""
        if selector is None:
            return np.empty(0, np.int64)
        found = [
            i
            for namespace in namespaces
            for i in self._candidates(selector, namespace)
            if selector.matches(self._groups[i].labels)
        ]
        return np.array(sorted(found), np.int64)

    def _candidates(self, selector: LabelSelector, namespace: str) -> list[int]:
        shortest: list[int] | None = None
        for key, value in selector.match_labels.items():
            found = self._by_label.get((namespace, key, value), [])
            if shortest is None or len(found) < len(shortest):
                shortest = found
        if shortest is not None:
            return shortest
        for expression in selector.match_expressions:
            if expression.operator == "In":
                return [
                    i
                    for value in set(expression.values)
                    for i in self._by_label.get((namespace, expression.key, value), [])
                ]
        return self._by_namespace.get(namespace, [])


@dataclass(frozen=True)
class TermScope:
    """The namespaces a pod affinity term is about.

    Without `namespaces` and `namespaceSelector` these are the namespace of the pod that carries the
    term. An empty selector means all namespaces, whether the input lists them or not.
    """

    names: frozenset[str]
    selector: LabelSelector | None

    @classmethod
    def of(cls, term: PodAffinityTerm, namespace: str) -> TermScope:
        """The scope of a term carried by a pod of `namespace`."""
        if not term.namespaces and term.namespace_selector is None:
            return cls(frozenset((namespace,)), None)
        return cls(frozenset(term.namespaces), term.namespace_selector)

    def covers(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod of a namespace with these labels is meant."""
        return namespace in self.names or (
            self.selector is not None and self.selector.matches(labels)
        )

    def among(
        self, namespaces: Iterable[str], labels: Mapping[str, Mapping[str, str]]
    ) -> list[str]:
        """Those of `namespaces` that are meant; only listed ones can match a selector."""
        selector = self.selector
        if selector is None:
            return [name for name in namespaces if name in self.names]
        return [
            name
            for name in namespaces
            if selector.is_empty
            or name in self.names
            or (name in labels and selector.matches(labels[name]))
        ]
