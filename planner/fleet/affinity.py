"""ClusterAffinity: required terms filter clusters, preferred terms score them.

Required terms are ORed; within a term, labels and properties are ANDed, and a property that the
cluster does not report matches nothing. A preferred term gives its whole weight, or with a sorter
the part of it that the property's value has between the least and the largest value of the fleet:
(value - min) / (max - min), from the other end if ascending, rounded half away from zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from planner.sources.errors import SourceError
from planner_models.fleet import ClusterSelectorTerm, PlacementPolicy, PreferredClusterSelector
from planner_models.member_cluster import RESOURCE_PREFIX, MemberCluster
from planner_models.quantity import NANO, parse_quantity

NAME = "ClusterAffinity"
NO_TERM = "cluster does not match with any of the required cluster affinity terms"


def property_value(cluster: MemberCluster, name: str) -> int | None:
    """An observed property in nano-units; None where the cluster does not report it."""
    if cluster.status is None:
        return None
    if name.startswith(RESOURCE_PREFIX):
        capacity, _, resource = name.removeprefix(RESOURCE_PREFIX).partition("-")
        usage = cluster.status.resource_usage
        amounts = {
            "total": usage.capacity,
            "allocatable": usage.allocatable,
            "available": usage.available,
        }
        return amounts[capacity].get(resource)
    found = cluster.status.properties.get(name)
    if found is None:
        return None
    try:
        return parse_quantity(found.value)
    except ValueError as error:
        raise SourceError(
            f"{error}, so no placement can select or sort clusters by it",
            object=f"MemberCluster {cluster.name}",
            field=f"status.properties[{name}].value",
        ) from error


def matches_term(cluster: MemberCluster, term: ClusterSelectorTerm) -> bool:
    """Whether the cluster has the labels and properties that one term asks for."""
    if term.label_selector is not None and not term.label_selector.matches(cluster.labels):
        return False
    asked = term.property_selector.match_expressions if term.property_selector else ()
    for requirement in asked:
        observed = property_value(cluster, requirement.name)
        if observed is None or not requirement.holds(observed):
            return False
    return True


def matches_required(cluster: MemberCluster, policy: PlacementPolicy) -> bool:
    """Whether any required term holds; without terms every cluster will do."""
    terms = policy.required
    return not terms or any(matches_term(cluster, term) for term in terms)


def affinity_scores(clusters: Sequence[MemberCluster], policy: PlacementPolicy) -> list[int]:
    """The score of every cluster: the weights of the preferred terms it matches, added up."""
    scores = [0] * len(clusters)
    for preferred in policy.preferred:
        if preferred.weight:
            for index, score in enumerate(_term_scores(clusters, preferred)):
                scores[index] += score
    return scores


def _term_scores(
    clusters: Sequence[MemberCluster], preferred: PreferredClusterSelector
) -> Iterable[int]:
    term, weight = preferred.preference, preferred.weight
    selector = term.label_selector
    matched = [selector is None or selector.matches(cluster.labels) for cluster in clusters]
    sorter = term.property_sorter
    if sorter is None:
        return [weight if hit else 0 for hit in matched]
    # The extremes are those of the whole fleet, of clusters that the selector excludes, too.
    values = [property_value(cluster, sorter.name) for cluster in clusters]
    known = [value for value in values if value is not None]
    if not known or min(known) == max(known):
        return [0] * len(clusters)
    least, most, ascending = min(known), max(known), sorter.sort_order == "Ascending"
    return [
        _interpolated(value, least, most, weight, ascending) if hit and value is not None else 0
        for hit, value in zip(matched, values, strict=True)
    ]


def _interpolated(value: int, least: int, most: int, weight: int, ascending: bool) -> int:
    """In the floating point that Fleet uses, so that halves fall where they do there."""
    low, high = least / NANO, most / NANO
    if low == high:
        return 0
    part = (value / NANO - low) / (high - low)
    share = (1 - part if ascending else part) * float(weight)
    return int(Decimal(share).to_integral_value(ROUND_HALF_UP))
