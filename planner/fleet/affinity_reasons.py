"""What a cluster lacks for each required affinity term; Fleet says only that none matches."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.affinity import property_value
from planner_models.fleet import ClusterSelectorTerm, PlacementPolicy, PropertyRequirement
from planner_models.member_cluster import RESOURCE_PREFIX, MemberCluster
from planner_models.quantity import NANO, format_resource, milli_value, whole_value
from planner_models.selectors import LabelSelectorRequirement


def lacking(cluster: MemberCluster, policy: PlacementPolicy) -> tuple[str, ...]:
    """One text per term, with everything that the term asks and the cluster does not have."""
    return tuple("; ".join(_of_term(cluster, term)) for term in policy.required)


def _of_term(cluster: MemberCluster, term: ClusterSelectorTerm) -> Iterator[str]:
    labels = cluster.labels
    if term.label_selector is not None:
        for key, value in sorted(term.label_selector.match_labels.items()):
            if labels.get(key) != value:
                yield f"label {key} is {_label(labels, key)}, not {value}"
        for requirement in term.label_selector.match_expressions:
            if not requirement.matches(labels):
                yield f"label {requirement.key} is {_label(labels, requirement.key)}, " + _asked(
                    requirement
                )
    for wanted in term.property_selector.match_expressions if term.property_selector else ():
        observed = property_value(cluster, wanted.name)
        if observed is None:
            yield f"property {wanted.name} is not reported"
        elif not wanted.holds(observed):
            yield (
                f"property {wanted.name} is {_amount(wanted, observed)}, "
                f"{wanted.operator} {_amount(wanted, wanted.values[0])} is asked"
            )


def _label(labels: dict[str, str], key: str) -> str:
    return labels.get(key, "missing")


def _asked(requirement: LabelSelectorRequirement) -> str:
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    return f"{requirement.operator}{values} is asked"


def _amount(requirement: PropertyRequirement, nano: int) -> str:
    """Resources in their own units, everything else as a plain number."""
    name = requirement.name
    if name.startswith(RESOURCE_PREFIX):
        resource = name.removeprefix(RESOURCE_PREFIX).partition("-")[2]
        amount = milli_value(nano) if resource == "cpu" else whole_value(nano)
        return format_resource(resource, amount)
    whole, rest = divmod(nano, NANO)
    return str(nano / NANO) if rest else str(whole)
