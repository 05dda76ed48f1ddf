"""Pools as NodePools of Karpenter, with a table of instance types.

A NodePool names requirements about labels. Every instance type that meets them, in every zone and
capacity type in which it is offered, is a pool of its own; what `limits` allow is shared by all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from planner.errors import PlannerError
from planner.pools.allocatable import with_allocatable
from planner.pools.node_templates import check_annotations, check_room
from planner.pools.place import Place
from planner.pools.pool import Pool, SharedLimit
from planner.sources.prices import price_of
from planner.words import conjoined
from planner_models.instance_types import InstanceOffering, InstanceType, InstanceTypes
from planner_models.meta import ObjectMeta
from planner_models.node import INSTANCE_TYPE, ZONE, Node, NodeSpec, NodeStatus
from planner_models.node_pool import CAPACITY_TYPE, NODE_POOL, NodePool, NodePoolRequirement
from planner_models.resources import in_scheduler_units

ON_DEMAND = "on-demand"
NODES = "nodes"
ALIASES = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
}
"""Old names of labels, which Karpenter takes for the new ones."""
OF_OFFERINGS = frozenset({ZONE, CAPACITY_TYPE})


@dataclass(frozen=True)
class InstanceTable:
    """Instance types by name, and the files that describe them."""

    types: Mapping[str, InstanceType] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    sample_prices: frozenset[str] = frozenset()
    """Types whose prices are examples."""

    def place(self, name: str) -> Place:
        """Where the type stands."""
        return Place("InstanceTypes", name, self.files.get(name))

    def label_keys(self) -> frozenset[str]:
        """Labels about which requirements can choose."""
        return frozenset(
            {INSTANCE_TYPE, *OF_OFFERINGS}.union(*(each.labels for each in self.types.values()))
        )


def instance_table(found: Sequence[tuple[InstanceTypes, str]]) -> InstanceTable:
    """One table of all that were given; a type that stands in two of them is refused."""
    types: dict[str, InstanceType] = {}
    files: dict[str, str] = {}
    samples: set[str] = set()
    for table, file in found:
        for each in table.types:
            if each.name in types:
                raise PlannerError(
                    f"instance type {each.name} is there twice",
                    file=file,
                    object=f"InstanceTypes {each.name}",
                    help=f"the other one is in {files[each.name]}",
                )
            types[each.name], files[each.name] = each, file
            if table.sample_prices:
                samples.add(each.name)
    return InstanceTable(types, files, frozenset(samples))


def node_pool_pools(
    pool: NodePool, file: str | None, table: InstanceTable, nodes: Sequence[Node]
) -> Iterator[Pool]:
    """A pool for each instance type, capacity type and price."""
    yield from _Reader(pool, Place("NodePool", pool.name, file), table, nodes).pools()


class _Reader:
    def __init__(
        self, pool: NodePool, place: Place, table: InstanceTable, nodes: Sequence[Node]
    ) -> None:
        self._pool, self._place, self._table, self._nodes = pool, place, table, nodes
        spec = pool.spec.template.spec
        self._requirements = [
            each.replace(key=ALIASES.get(each.key, each.key)) for each in spec.requirements
        ]
        self._labels = {**pool.spec.template.metadata.labels, NODE_POOL: pool.name}

    def pools(self) -> Iterator[Pool]:
        self._check()
        chosen = [t for t in self._table.types.values() if self._meets(self._labels_of(t))]
        if not chosen:
            asked = "; ".join(str(each) for each in self._requirements)
            raise self._place.error(
                "allows none of the instance types in the table",
                field="spec.template.spec.requirements",
                advice=f"it asks for {asked or 'nothing'}",
            )
        remaining = self._remaining()
        found = [made for each in chosen for made in self._of_type(each, remaining)]
        if not found:
            raise self._place.error(
                "allows no zone and capacity type in which its instance types are offered",
                field="spec.template.spec.requirements",
                advice="zones that exist, as the nodes' labels spell them",
            )
        yield from found

    def _check(self) -> None:
        """Whether planner knows what every field that matters means."""
        place, spec = self._place, self._pool.spec
        check_annotations(place, self._pool.metadata.annotations, ())
        if not self._table.types:
            raise place.error(
                "names requirements, and no instance types are there to meet them",
                field="spec.template.spec.requirements",
                advice="a table of instance types: --pools types.yaml; or planner's own example, "
                "whose prices are samples: --pools sample-instance-types",
            )
        if spec.replicas is not None:
            raise place.error(
                "has a fixed number of nodes: Karpenter adds none for pods",
                field="spec.replicas",
                advice="leave the pool out",
            )
        known = self._table.label_keys()
        for i, each in enumerate(self._requirements):
            at = f"spec.template.spec.requirements[{i}]"
            if each.key == INSTANCE_TYPE and each.operator == "In":
                unknown = [name for name in each.values if name not in self._table.types]
                if unknown:
                    raise place.error(
                        f"allows instance types that the table lacks: {conjoined(unknown)}",
                        field=at,
                        advice="add them to the table, or take them out",
                    )
            elif each.key not in known and not self._told(each):
                raise place.error(
                    f"asks for {each}, which no instance type of the table tells",
                    field=at,
                    advice=f"labels: {{{each.key}: ...}} for the types of the table",
                )

    def _told(self, requirement: NodePoolRequirement) -> bool:
        """Whether the label of its nodes is known without the table: one value, or none."""
        if requirement.key in self._labels or requirement.operator in ("NotIn", "DoesNotExist"):
            return True
        return requirement.operator == "In" and len(requirement.values) == 1

    def _labels_of(self, kind: InstanceType) -> dict[str, str]:
        """What nodes of the type are labelled with, whatever the offering."""
        own = {
            each.key: each.values[0]
            for each in self._requirements
            if each.operator == "In" and len(each.values) == 1 and each.key not in OF_OFFERINGS
        }
        return {**own, **self._labels, **kind.labels, INSTANCE_TYPE: kind.name}

    def _meets(self, labels: Mapping[str, str], keys: frozenset[str] | None = None) -> bool:
        """Whether all requirements hold, about these keys or about all but those of offerings."""
        return all(
            each.matches(labels.get(each.key))
            for each in self._requirements
            if (each.key in keys if keys else each.key not in OF_OFFERINGS)
        )

    def _of_type(self, kind: InstanceType, remaining: Mapping[str, int]) -> Iterator[Pool]:
        for i, offering in enumerate(kind.offerings):
            capacity_type = {CAPACITY_TYPE: offering.capacity_type}
            if not self._meets(capacity_type, frozenset({CAPACITY_TYPE})):
                continue
            zones = tuple(
                zone
                for zone in offering.zones or self._zones()
                if self._meets({ZONE: zone}, frozenset({ZONE}))
            )
            if zones or not (offering.zones or self._zones()):
                yield self._made(kind, i, offering, zones, remaining)

    def _zones(self) -> tuple[str, ...]:
        """Where the table doesn't say it: the zones that are required, or those that are there."""
        for each in self._requirements:
            if each.key == ZONE and each.operator == "In":
                return each.values
        return tuple(sorted({node.labels[ZONE] for node in self._nodes if ZONE in node.labels}))

    def _made(
        self,
        kind: InstanceType,
        number: int,
        offering: InstanceOffering,
        zones: tuple[str, ...],
        remaining: Mapping[str, int],
    ) -> Pool:
        spot = "" if offering.capacity_type == ON_DEMAND else f"-{offering.capacity_type}"
        name = f"{self._pool.name}-{kind.name}{spot}"
        labels = {**self._labels_of(kind), CAPACITY_TYPE: offering.capacity_type}
        told = self._table.place(kind.name)
        template, remarks = with_allocatable(
            Node(
                metadata=ObjectMeta(name=name, labels=labels),
                spec=NodeSpec(taints=self._pool.spec.template.spec.taints),
                status=NodeStatus.defaults().replace(
                    capacity=kind.capacity, allocatable=kind.allocatable
                ),
            ),
            self._nodes,
        )
        check_room(told, template, "types[].allocatable")
        price_field = f"types[].offerings[{number}].price"
        shared = tuple(self._shared(kind, remaining))
        most = min((limit.most // limit.each for limit in shared if limit.each), default=None)
        return Pool(
            name,
            template,
            zones,
            _price(told, offering, price_field),
            most=None if most is None else max(0, most),
            shared=shared,
            remarks=(*remarks, *self._remarks(kind, most)),
            place=Place("InstanceTypes", kind.name, told.file),
            price_field=price_field,
        )

    def _remaining(self) -> dict[str, int]:
        """What the limits leave; nodes that are there count with their capacity."""
        there = [n for n in self._nodes if n.labels.get(NODE_POOL) == self._pool.name]
        limits = in_scheduler_units(self._pool.spec.limits)
        used = [in_scheduler_units(n.status.capacity) or n.allocatable for n in there]
        return {
            name: limit - (len(there) if name == NODES else sum(each.get(name, 0) for each in used))
            for name, limit in limits.items()
        }

    def _shared(self, kind: InstanceType, remaining: Mapping[str, int]) -> Iterator[SharedLimit]:
        has = in_scheduler_units(kind.capacity or kind.allocatable)
        for name, most in remaining.items():
            each = 1 if name == NODES else has.get(name, 0)
            yield SharedLimit(f"NodePool {self._pool.name} spec.limits.{name}", most, each)

    def _remarks(self, kind: InstanceType, most: int | None) -> Iterator[str]:
        spec = self._pool.spec
        if most is not None and most <= 0:
            yield f"the limits of NodePool {self._pool.name} leave no room for a node of this size"
        if kind.name in self._table.sample_prices:
            yield "these prices are samples, not offers: put your own into a table of the types"
        if spec.weight is not None:
            yield f"spec.weight of NodePool {self._pool.name} is not used: the cheapest nodes are"
        if spec.template.spec.kubelet:
            yield f"the kubelet settings of NodePool {self._pool.name} are not used"
        if any(each.min_values is not None for each in self._requirements):
            yield f"minValues of NodePool {self._pool.name} is not used: the cheapest nodes are"


def _price(told: Place, offering: InstanceOffering, at: str) -> Decimal | None:
    if offering.price is None:
        return None
    price = price_of(offering.price)
    if price is None:
        raise told.error(f'has the price "{offering.price}"', field=at, advice="a number above 0")
    return price
