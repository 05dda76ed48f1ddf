"""Fleet's placements: which member clusters receive a set of resources.

Group `placement.kubernetes-fleet.io`. A ClusterResourcePlacement is cluster-scoped, a
ResourcePlacement namespaced; their policies are the same. What Fleet's webhook refuses is refused.
The fields of a policy stand in the order of the API: its hash depends on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from planner_models.base import Count, FieldError, Int32, KubeModel
from planner_models.fleet_quantity import FleetQuantity, PropertyQuantity
from planner_models.fleet_rollout import RolloutStrategy
from planner_models.labels import NAME_LIMIT, check_dns_subdomain, check_label_key
from planner_models.member_cluster import CAPACITY_TYPES, RESOURCE_PREFIX
from planner_models.meta import KubeObject
from planner_models.selectors import LabelSelector
from planner_models.taints import Toleration

PlacementType = Literal["PickAll", "PickFixed", "PickN"]
PropertyOperator = Literal["Gt", "Ge", "Eq", "Ne", "Lt", "Le"]


def _check_property_name(name: str) -> str:
    """One or more names between slashes, of which the first may be a DNS subdomain."""
    if name.startswith(RESOURCE_PREFIX):
        capacity, dash, _ = name.removeprefix(RESOURCE_PREFIX).partition("-")
        if not dash or capacity not in CAPACITY_TYPES:
            kinds = ", ".join(CAPACITY_TYPES)
            raise ValueError(
                f'"{name}" is not a resource property: after the prefix comes one of {kinds}, '
                '"-" and a resource'
            )
        return check_label_key(name)
    prefix, *segments = name.split("/")
    if segments:
        _check_property_prefix(prefix)
    for segment in segments or [prefix]:
        check_label_key(segment)
    return name


def _check_property_prefix(prefix: str) -> None:
    try:
        check_dns_subdomain(prefix)
    except ValueError:
        check_label_key(prefix)


PropertyName = Annotated[str, AfterValidator(_check_property_name)]


class PropertyRequirement(KubeModel):
    """An observed property compared with one quantity."""

    name: PropertyName
    operator: PropertyOperator
    values: tuple[PropertyQuantity, ...]

    @field_validator("values")
    @classmethod
    def _exactly_one(
        cls, values: tuple[FleetQuantity, ...], info: ValidationInfo
    ) -> tuple[FleetQuantity, ...]:
        if len(values) != 1:
            raise ValueError(f"must be exactly one quantity with {info.data.get('operator')}")
        return values

    @property
    def wanted(self) -> FleetQuantity:
        """What an observed value is compared with."""
        return self.values[0]

    def holds(self, observed: FleetQuantity) -> bool:
        """Whether an observed value is as asked."""
        value, wanted = observed.exact, self.wanted.exact
        match self.operator:
            case "Gt":
                return value > wanted
            case "Ge":
                return value >= wanted
            case "Eq":
                return value == wanted
            case "Ne":
                return value != wanted
            case "Lt":
                return value < wanted
            case "Le":
                return value <= wanted


class PropertySelector(KubeModel):
    """Requirements on properties, all of which must hold."""

    match_expressions: tuple[PropertyRequirement, ...]

    @model_validator(mode="after")
    def _no_contradiction(self) -> Self:
        for place, later in enumerate(self.match_expressions):
            for earlier in self.match_expressions[:place]:
                if earlier.name == later.name and _exclude_each_other(earlier, later):
                    raise FieldError(
                        f"matchExpressions[{place}]",
                        f"{later.operator} {later.wanted.text} and {earlier.operator} "
                        f"{earlier.wanted.text} exclude each other, so no cluster can match",
                    )
        return self


def _exclude_each_other(one: PropertyRequirement, other: PropertyRequirement) -> bool:
    """Whether no value is as both ask; if any requirements contradict, two of them do."""
    for exact, rule in ((one, other), (other, one)):
        if exact.operator == "Eq":
            return not rule.holds(exact.wanted)
    for low, high in ((one, other), (other, one)):
        if low.operator in ("Gt", "Ge") and high.operator in ("Lt", "Le"):
            return not (low.holds(high.wanted) and high.holds(low.wanted))
    return False


class PropertySorter(KubeModel):
    """Spreads a weight over the clusters by a property's value."""

    name: PropertyName
    sort_order: Literal["Ascending", "Descending"]


class ClusterSelectorTerm(KubeModel):
    """Labels and properties asked of a cluster; an absent selector asks nothing."""

    label_selector: LabelSelector | None = None
    property_selector: PropertySelector | None = None
    property_sorter: PropertySorter | None = None


class RequiredClusterSelectorTerm(ClusterSelectorTerm):
    """A term of required affinity."""

    @model_validator(mode="after")
    def _no_sorter(self) -> Self:
        if self.property_sorter is not None:
            raise FieldError("propertySorter", "propertySorter is for preferred affinity only")
        return self


class PreferredClusterSelectorTerm(ClusterSelectorTerm):
    """A term of preferred affinity."""

    @model_validator(mode="after")
    def _no_property_selector(self) -> Self:
        if self.property_selector is not None:
            raise FieldError("propertySelector", "propertySelector is for required affinity only")
        return self


class ClusterSelector(KubeModel):
    """Terms of which one must hold; without any term every cluster is accepted."""

    cluster_selector_terms: tuple[RequiredClusterSelectorTerm, ...]


class PreferredClusterSelector(KubeModel):
    """A term and the score that a matching cluster gets for it."""

    weight: Annotated[Int32, Field(ge=-100, le=100)]
    preference: PreferredClusterSelectorTerm


class ClusterAffinity(KubeModel):
    """What clusters must have, and what they had better have."""

    required_during_scheduling_ignored_during_execution: ClusterSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredClusterSelector, ...] = ()


class PlacementAffinity(KubeModel):
    """`spec.policy.affinity`; cluster affinity is all there is."""

    cluster_affinity: ClusterAffinity | None = None


class ClusterSpreadConstraint(KubeModel):
    """How far the largest and the smallest group of clusters may be apart."""

    max_skew: Int32 = 1
    topology_key: str
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = "DoNotSchedule"

    @property
    def hard(self) -> bool:
        """Whether Fleet refuses clusters that would break the constraint."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @model_validator(mode="after")
    def _at_least_one(self) -> Self:
        if self.max_skew < 1:
            raise FieldError("maxSkew", f"maxSkew is {self.max_skew}; it must be at least 1")
        return self


class ClusterToleration(Toleration):
    """A taint of member clusters that a placement puts up with."""

    effect: Literal["", "NoSchedule"] = ""


def _check_cluster_name(name: str) -> str:
    check_dns_subdomain(name)
    _check_length(name)
    return name


def _check_length(name: str) -> None:
    if len(name) > NAME_LIMIT:
        raise ValueError(f"{name} has {len(name)} characters; Fleet allows at most {NAME_LIMIT}")


ClusterName = Annotated[str, AfterValidator(_check_cluster_name)]

_ONLY_FOR = {
    "clusterNames": ("PickFixed",),
    "numberOfClusters": ("PickN",),
    "affinity": ("PickAll", "PickN"),
    "topologySpreadConstraints": ("PickN",),
    "tolerations": ("PickAll", "PickN"),
}


class PlacementPolicy(KubeModel):
    """Which clusters are picked; without a policy all are."""

    placement_type: PlacementType = "PickAll"
    cluster_names: tuple[ClusterName, ...] = ()
    number_of_clusters: Count | None = None
    affinity: PlacementAffinity | None = None
    topology_spread_constraints: tuple[ClusterSpreadConstraint, ...] = ()
    tolerations: tuple[ClusterToleration, ...] = ()

    @property
    def cluster_affinity(self) -> ClusterAffinity:
        """`affinity.clusterAffinity`; an empty one where it is absent, which asks for the same."""
        found = self.affinity.cluster_affinity if self.affinity else None
        return found or ClusterAffinity.defaults()

    @property
    def required(self) -> tuple[ClusterSelectorTerm, ...]:
        """The terms of which a cluster must match one; none means all are accepted."""
        found = self.cluster_affinity.required_during_scheduling_ignored_during_execution
        return found.cluster_selector_terms if found else ()

    @property
    def preferred(self) -> tuple[PreferredClusterSelector, ...]:
        """The terms that give a cluster its affinity score."""
        return self.cluster_affinity.preferred_during_scheduling_ignored_during_execution

    @model_validator(mode="after")
    def _as_the_webhook_validates(self) -> Self:
        for field in self._given():
            types = _ONLY_FOR[field]
            if self.placement_type not in types:
                raise FieldError(field, f"{field} is for {' and '.join(types)} only")
        if self.placement_type == "PickN" and self.number_of_clusters is None:
            raise FieldError("numberOfClusters", "PickN needs numberOfClusters")
        if self.placement_type == "PickAll" and self.preferred:
            raise FieldError("affinity", "preferred affinity is for PickN only")
        twice = _first_twice(self.cluster_names)
        if twice is not None:
            raise FieldError(f"clusterNames[{twice}]", "the cluster is named a second time")
        twice = _first_twice(self.tolerations)
        if twice is not None:
            raise FieldError(f"tolerations[{twice}]", "the toleration is given a second time")
        return self

    def _given(self) -> Iterable[str]:
        """Of affinity and tolerations even empty ones are refused where they have no place."""
        given = {
            "clusterNames": bool(self.cluster_names),
            "numberOfClusters": self.number_of_clusters is not None,
            "affinity": self.affinity is not None,
            "topologySpreadConstraints": bool(self.topology_spread_constraints),
            "tolerations": "tolerations" in self.model_fields_set,
        }
        return [field for field, present in given.items() if present]


def _first_twice(items: Sequence[object]) -> int | None:
    return next((i for i, item in enumerate(items) if item in items[:i]), None)


class PlacementSpec(KubeModel):
    """On which clusters and how; which resources are placed is not looked at."""

    policy: PlacementPolicy = PlacementPolicy.defaults()
    strategy: RolloutStrategy = RolloutStrategy.defaults()


class PlacementCondition(KubeModel):
    """A condition of a placement's status."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class PerClusterStatus(KubeModel):
    """What Fleet reports of one cluster, picked or not."""

    cluster_name: str = ""
    conditions: tuple[PlacementCondition, ...] = ()

    @property
    def scheduled(self) -> bool:
        """Whether the cluster is picked."""
        return any(each.type == "Scheduled" and each.status == "True" for each in self.conditions)


class PlacementStatus(KubeModel):
    """What Fleet reports of a placement."""

    conditions: tuple[PlacementCondition, ...] = ()
    placement_statuses: tuple[PerClusterStatus, ...] = ()


class Placement(KubeObject):
    """What both kinds of placement have in common."""

    spec: PlacementSpec = PlacementSpec.defaults()
    status: PlacementStatus = PlacementStatus.defaults()

    @property
    def policy(self) -> PlacementPolicy:
        """`spec.policy`."""
        return self.spec.policy

    @model_validator(mode="after")
    def _name_fits_a_label(self) -> Self:
        if len(self.name) > NAME_LIMIT:
            raise FieldError("metadata.name", f"Fleet allows at most {NAME_LIMIT} characters")
        return self


class ClusterResourcePlacement(Placement):
    """Places cluster-scoped resources and whole namespaces."""


class ResourcePlacement(Placement):
    """Places resources of its own namespace, on clusters that have it."""
