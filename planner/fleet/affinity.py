"""ClusterAffinity: required terms filter clusters, preferred terms score them.

Required terms are ORed; within a term, labels and properties are ANDed, and a property that the
cluster does not report matches nothing. A preferred term gives its whole weight, or with a sorter
the part of it that the property's value has between the least and the largest value of the fleet:
(value - min) / (max - min), from the other end if ascending, rounded half away from zero.

A property that can't be read makes Fleet's cycle fail, but only if the cycle comes to look at it:
`require_readable` looks at what Fleet looks at. Everywhere else it counts as not reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from planner.sources.errors import SourceError
from planner_models.fleet import (
    ClusterSelectorTerm,
    PlacementPolicy,
    PreferredClusterSelector,
    PropertyRequirement,
)
from planner_models.fleet_quantity import FleetQuantity, parse_fleet_quantity
from planner_models.member_cluster import RESOURCE_PREFIX, MemberCluster
from planner_models.selectors import LabelSelectorRequirement

NAME = "ClusterAffinity"
NO_TERM = "cluster does not match with any of the required cluster affinity terms"

Read = Callable[[MemberCluster, str], FleetQuantity | None]
"""How a property is read; None where the cluster does not report it."""


def read_property(cluster: MemberCluster, name: str) -> FleetQuantity | None:
    """A property as Fleet reads it; SourceError where Fleet's cycle fails on it."""
    if name.startswith(RESOURCE_PREFIX):
        return _resource(cluster, name)
    found = cluster.status.properties.get(name) if cluster.status else None
    try:
        return None if found is None else parse_fleet_quantity(found.value)
    except ValueError as error:
        raise SourceError(
            f"{error}, so Fleet can't select or sort clusters by it, and picks none",
            object=f"MemberCluster {cluster.name}",
            field=f"status.properties[{name}].value",
        ) from error


def _resource(cluster: MemberCluster, name: str) -> FleetQuantity | None:
    """`total-cpu`, `available-memory`; Fleet has no way to name a resource with a dash."""
    capacity, _, resource = name.removeprefix(RESOURCE_PREFIX).partition("-")
    if "-" in resource:
        raise SourceError(
            f"Fleet can't read the property {name}, because the resource has a dash in its name, "
            "and picks no cluster"
        )
    if cluster.status is None:
        return None
    usage = cluster.status.resource_usage
    amounts = {
        "total": usage.capacity,
        "allocatable": usage.allocatable,
        "available": usage.available,
    }
    return amounts[capacity].get(resource)


def property_value(cluster: MemberCluster, name: str) -> FleetQuantity | None:
    """The same, where what can't be read counts as not reported."""
    try:
        return read_property(cluster, name)
    except SourceError:
        return None


def require_readable(clusters: Sequence[MemberCluster], policy: PlacementPolicy) -> None:
    """Raise where Fleet fails: it reads a term up to what does not match, and every sorter."""
    for cluster in clusters:
        matches_required(cluster, policy, read_property)
    sorters = (preferred.preference.property_sorter for preferred in policy.preferred)
    for sorter in filter(None, sorters):
        for cluster in clusters:
            read_property(cluster, sorter.name)


def matches_term(
    cluster: MemberCluster, term: ClusterSelectorTerm, read: Read = property_value
) -> bool:
    """Whether the cluster has the labels and properties that one term asks for."""
    if term.label_selector is not None and not term.label_selector.matches(cluster.labels):
        return False
    asked = term.property_selector.match_expressions if term.property_selector else ()
    for requirement in asked:
        observed = read(cluster, requirement.name)
        if observed is None or not requirement.holds(observed):
            return False
    return True


def matches_required(
    cluster: MemberCluster, policy: PlacementPolicy, read: Read = property_value
) -> bool:
    """Whether any required term holds; without terms every cluster will do."""
    terms = policy.required
    return not terms or any(matches_term(cluster, term, read) for term in terms)


class AffinityScores(NamedTuple):
    """Per cluster the weights of the preferred terms it matches, added up.

    Fleet's cycle fails when it scores one of the `failing` clusters.
    """

    scores: tuple[int, ...]
    failing: frozenset[int]


def affinity_scores(clusters: Sequence[MemberCluster], policy: PlacementPolicy) -> AffinityScores:
    """The scores of all clusters."""
    scores, failing = [0] * len(clusters), set()
    for preferred in policy.preferred:
        if preferred.weight:
            for index, score in enumerate(_term_scores(clusters, preferred)):
                scores[index] += score or 0
                if score is None:
                    failing.add(index)
    return AffinityScores(tuple(scores), frozenset(failing))


def _term_scores(
    clusters: Sequence[MemberCluster], preferred: PreferredClusterSelector
) -> Iterable[int | None]:
    term, weight = preferred.preference, preferred.weight
    selector = term.label_selector
    matched = [selector is None or selector.matches(cluster.labels) for cluster in clusters]
    sorter = term.property_sorter
    if sorter is None:
        return [weight if hit else 0 for hit in matched]
    # The extremes are those of the whole fleet, of clusters that the selector excludes, too.
    values = [property_value(cluster, sorter.name) for cluster in clusters]
    known = [value for value in values if value is not None]
    if not known:
        return [0] * len(clusters)
    least = min(known, key=lambda value: value.exact).approximate
    most = max(known, key=lambda value: value.exact).approximate
    ascending = sorter.sort_order == "Ascending"
    return [
        _interpolated(value.approximate, least, most, weight, ascending) if hit and value else 0
        for hit, value in zip(matched, values, strict=True)
    ]


def _interpolated(
    value: float, least: float, most: float, weight: int, ascending: bool
) -> int | None:
    """In the floating point that Fleet uses, so that halves fall where they do there.

    None where Fleet fails: of the same amount in two spellings one can lie beyond the extremes.
    """
    if math.isinf(least) or math.isinf(most) or not least <= value <= most:
        return None
    if least == most or math.isinf(most - least):
        return 0
    part = (value - least) / (most - least)
    share = (1 - part if ascending else part) * float(weight)
    return int(Decimal(share).to_integral_value(ROUND_HALF_UP))


def lacking(cluster: MemberCluster, policy: PlacementPolicy) -> tuple[str, ...]:
    """What a cluster lacks, one text per required term; Fleet says only that none matches."""
    return tuple("; ".join(_lacks(cluster, term)) for term in policy.required)


def _lacks(cluster: MemberCluster, term: ClusterSelectorTerm) -> Iterator[str]:
    labels = cluster.labels
    if term.label_selector is not None:
        for key, value in sorted(term.label_selector.match_labels.items()):
            if labels.get(key) != value:
                yield f"label {key} is {labels.get(key, 'missing')}, not {value}"
        for requirement in term.label_selector.match_expressions:
            if not requirement.matches(labels):
                yield _unmatched(requirement, labels)
    for wanted in term.property_selector.match_expressions if term.property_selector else ():
        observed = property_value(cluster, wanted.name)
        if observed is None:
            yield f"property {wanted.name} is not reported"
        elif not wanted.holds(observed):
            yield _too_far(wanted, observed)


def _unmatched(requirement: LabelSelectorRequirement, labels: dict[str, str]) -> str:
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    value = labels.get(requirement.key, "missing")
    return f"label {requirement.key} is {value}, {requirement.operator}{values} is asked"


def _too_far(wanted: PropertyRequirement, observed: FleetQuantity) -> str:
    return (
        f"property {wanted.name} is {observed.text}, {wanted.operator} {wanted.wanted.text} "
        "is asked"
    )
