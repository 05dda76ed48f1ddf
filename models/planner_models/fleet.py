"""Fleet's placements: which member clusters receive a set of resources.

Group `placement.kubernetes-fleet.io`. A ClusterResourcePlacement is cluster-scoped, a
ResourcePlacement namespaced; their policies are the same. What Fleet's webhook refuses is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from planner_models.base import Count, FieldError, Int32, KubeModel
from planner_models.labels import LabelKey, check_dns_subdomain, check_label_key
from planner_models.member_cluster import CAPACITY_TYPES, RESOURCE_PREFIX
from planner_models.meta import KubeObject
from planner_models.quantity import Quantity
from planner_models.selectors import LabelSelector
from planner_models.taints import Toleration

PlacementType = Literal["PickAll", "PickFixed", "PickN"]
PropertyOperator = Literal["Gt", "Ge", "Eq", "Ne", "Lt", "Le"]


def _check_property_name(name: str) -> str:
    check_label_key(name)
    if name.startswith(RESOURCE_PREFIX):
        capacity, dash, resource = name.removeprefix(RESOURCE_PREFIX).partition("-")
        if not dash or not resource or capacity not in CAPACITY_TYPES:
            kinds = ", ".join(CAPACITY_TYPES)
            raise ValueError(
                f'"{name}" is not a resource property: after the prefix comes one of {kinds}, '
                '"-" and a resource'
            )
    return name


PropertyName = Annotated[str, AfterValidator(_check_property_name)]


class PropertyRequirement(KubeModel):
    """An observed property compared with one quantity."""

    name: PropertyName
    operator: PropertyOperator
    values: tuple[Quantity, ...]

    @field_validator("values")
    @classmethod
    def _exactly_one(cls, values: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        if len(values) != 1:
            raise ValueError(f"must be exactly one quantity with {info.data.get('operator')}")
        return values

    def holds(self, observed: int) -> bool:
        """Whether an observed value, in nano-units, is as asked."""
        wanted = self.values[0]
        match self.operator:
            case "Gt":
                return observed > wanted
            case "Ge":
                return observed >= wanted
            case "Eq":
                return observed == wanted
            case "Ne":
                return observed != wanted
            case "Lt":
                return observed < wanted
            case "Le":
                return observed <= wanted


class PropertySelector(KubeModel):
    """Requirements on properties, all of which must hold."""

    match_expressions: tuple[PropertyRequirement, ...]


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

    cluster_affinity: ClusterAffinity = ClusterAffinity.defaults()


class ClusterSpreadConstraint(KubeModel):
    """How far the largest and the smallest group of clusters may be apart."""

    topology_key: LabelKey
    max_skew: Int32 = 1
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


ClusterName = Annotated[str, AfterValidator(check_dns_subdomain)]

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
    affinity: PlacementAffinity = PlacementAffinity.defaults()
    topology_spread_constraints: tuple[ClusterSpreadConstraint, ...] = ()
    tolerations: tuple[ClusterToleration, ...] = ()

    @property
    def required(self) -> tuple[ClusterSelectorTerm, ...]:
        """The terms of which a cluster must match one; none means all are accepted."""
        selector = self.affinity.cluster_affinity
        found = selector.required_during_scheduling_ignored_during_execution
        return found.cluster_selector_terms if found else ()

    @property
    def preferred(self) -> tuple[PreferredClusterSelector, ...]:
        """The terms that give a cluster its affinity score."""
        return self.affinity.cluster_affinity.preferred_during_scheduling_ignored_during_execution

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
        return self

    def _given(self) -> Iterable[str]:
        given = {
            "clusterNames": bool(self.cluster_names),
            "numberOfClusters": self.number_of_clusters is not None,
            "affinity": bool(self.required or self.preferred),
            "topologySpreadConstraints": bool(self.topology_spread_constraints),
            "tolerations": bool(self.tolerations),
        }
        return [field for field, present in given.items() if present]

    @property
    def rules(self) -> PlacementPolicy:
        """The policy as Fleet hashes it: another number of clusters is no other policy."""
        return self.replace(number_of_clusters=None)


def _first_twice(names: tuple[str, ...]) -> int | None:
    return next((i for i, name in enumerate(names) if name in names[:i]), None)


class PlacementSpec(KubeModel):
    """The policy; which resources are placed does not matter to the choice of clusters."""

    policy: PlacementPolicy = PlacementPolicy.defaults()


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


class ClusterResourcePlacement(Placement):
    """Places cluster-scoped resources and whole namespaces."""


class ResourcePlacement(Placement):
    """Places resources of its own namespace, on clusters that have it."""
