"""Affinity terms by the labels they ask for: which running pods have a rule about an incoming one?

Nearly every term asks for a label's value. Looking such terms up by the incoming pod's own labels
leaves few to try, where a cluster has thousands of groups with rules about other pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from planner.cluster.groups import PodGroup
from planner.cluster.matching import TermScope
from planner_models.affinity import PodAffinityTerm
from planner_models.selectors import LabelSelector


@dataclass(frozen=True, eq=False)
class CarriedTerm:
    """A term of the pods of `owner`; `weight` is absent where it is required, negative if apart."""

    owner: int
    term: PodAffinityTerm
    apart: bool
    weight: int | None
    scope: TermScope


class CarriedTerms:
    """The terms of all groups."""

    def __init__(self, terms: Iterable[tuple[CarriedTerm, ...]]) -> None:
        self._by_label: dict[tuple[str, str], list[CarriedTerm]] = defaultdict(list)
        self._others: list[CarriedTerm] = []
        for each in filter(None, terms):
            for carried in each:
                self._add(carried)

    def _add(self, carried: CarriedTerm) -> None:
        selector = carried.term.label_selector
        if selector is None:
            return
        asked = _asked(selector)
        for pair in asked:
            self._by_label[pair].append(carried)
        if not asked:
            self._others.append(carried)

    def about(self, group: PodGroup, namespace: Mapping[str, str]) -> Iterator[CarriedTerm]:
        """The terms that select the pods of a group, whose namespace has these labels."""
        candidates = [self._others]
        candidates += [self._by_label[p] for p in group.labels.items() if p in self._by_label]
        for found in candidates:
            for carried in found:
                selector = carried.term.label_selector
                if (
                    selector is not None
                    and selector.matches(group.labels)
                    and carried.scope.covers(group.namespace, namespace)
                ):
                    yield carried


def _asked(selector: LabelSelector) -> list[tuple[str, str]]:
    """Label values of which a selected pod has exactly one; none if the selector asks for none."""
    for pair in selector.match_labels.items():
        return [pair]
    for expression in selector.match_expressions:
        if expression.operator == "In":
            return [(expression.key, value) for value in sorted(set(expression.values))]
    return []


def terms_of(group: PodGroup) -> tuple[CarriedTerm, ...]:
    """The terms that the pods of a group have."""
    return tuple(_terms(group))


def _terms(group: PodGroup) -> Iterator[CarriedTerm]:
    affinity = group.spec.affinity
    for apart, terms in ((False, affinity.pod_affinity), (True, affinity.pod_anti_affinity)):
        for term in terms.required:
            scope = TermScope.of(term, group.namespace)
            yield CarriedTerm(group.index, term, apart, None, scope)
        for weighted in terms.preferred:
            scope = TermScope.of(weighted.pod_affinity_term, group.namespace)
            weight = -weighted.weight if apart else weighted.weight
            yield CarriedTerm(group.index, weighted.pod_affinity_term, apart, weight, scope)
