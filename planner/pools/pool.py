"""Node pools: Node objects as templates of nodes that could be added, with prices and limits.

A template has labels, taints and allocatable as the kubelet would report them, and annotations:
`planner/price` per hour, `planner/min` and `planner/max` nodes to add in each zone, and
`planner/zones`, without which the template's own zone counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Literal

from planner.errors import PlannerError, UsageError
from planner.words import conjoined
from planner_models.node import HOSTNAME, ZONE, Node
from planner_models.resources import CPU, PODS

Objective = Literal["price", "nodes", "cpu"]
PREFIX = "planner/"
PRICE, LEAST, MOST, ZONES = (f"{PREFIX}{name}" for name in ("price", "min", "max", "zones"))
KNOWN = (PRICE, LEAST, MOST, ZONES)


@dataclass(frozen=True)
class Pool:
    """Nodes that could be added, all alike; `least` and `most` count in each zone."""

    name: str
    template: Node
    zones: tuple[str, ...]
    """Empty if its nodes have no zone."""
    price: Decimal | None = None
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Offer:
    """One pool in one zone; `cost` is what a node adds to the objective, in whole units."""

    pool: Pool
    zone: str
    template: Node
    cost: int


def read_pools(
    nodes: Iterable[Node], files: Mapping[str, str] = MappingProxyType({})
) -> tuple[Pool, ...]:
    """The pools that these templates describe; `files` has the file of each, by its name."""
    pools = tuple(_Template(node, files.get(node.name)).pool() for node in nodes)
    if not pools:
        raise UsageError(
            "scale-up needs pools: which nodes could be added?",
            help="`pools=pools.yaml`: Node objects as templates",
        )
    unpriced = [pool for pool in pools if pool.price is None]
    if unpriced and len(unpriced) < len(pools):
        raise _Template(unpriced[0].template, files.get(unpriced[0].name)).error(
            "has no price, and others have",
            PRICE,
            advice="price every pool, or none (then CPU is what is saved)",
        )
    return pools


def objective_of(pools: Sequence[Pool], asked: Objective | None) -> Objective:
    """What is saved: the price if it is known, else CPU."""
    priced = all(pool.price is not None for pool in pools)
    if asked == "price" and not priced:
        raise UsageError(
            "`objective=price`: the pools have no prices",
            help=f"annotate the templates with {PRICE}, or save cpu or nodes",
        )
    return asked or ("price" if priced else "cpu")


def offers_of(pools: Sequence[Pool], objective: Objective) -> tuple[Offer, ...]:
    """Every pool in each of its zones, with whole numbers for what one node costs."""
    unit = unit_of(pools, objective)
    return tuple(
        Offer(pool, zone, _in_zone(pool, zone), _cost(pool, objective, unit))
        for pool in pools
        for zone in pool.zones or ("",)
    )


def unit_of(pools: Sequence[Pool], objective: Objective) -> Decimal:
    """What a cost of 1 is: a node, a milli-core, or the power of ten that makes prices whole."""
    if objective != "price":
        return Decimal(1) if objective == "nodes" else Decimal("0.001")
    exponents = [pool.price.normalize().as_tuple().exponent for pool in pools if pool.price]
    return Decimal(1).scaleb(min([0, *(e for e in exponents if isinstance(e, int))]))


def _cost(pool: Pool, objective: Objective, unit: Decimal) -> int:
    if objective == "price":
        assert pool.price is not None
        return int(pool.price / unit)
    return 1 if objective == "nodes" else max(1, pool.template.allocatable.get(CPU, 0))


def _in_zone(pool: Pool, zone: str) -> Node:
    """The template of nodes in one zone; names and hostnames come with each node."""
    meta = pool.template.metadata
    labels = {key: value for key, value in meta.labels.items() if key not in (HOSTNAME, ZONE)}
    return pool.template.replace(
        metadata=meta.replace(
            name=f"{pool.name}-{zone}" if zone else pool.name,
            uid="",
            labels=labels | ({ZONE: zone} if zone else {}),
            annotations={k: v for k, v in meta.annotations.items() if k not in KNOWN},
        )
    )


class _Template:
    """One Node object, and what its annotations say."""

    def __init__(self, node: Node, file: str | None) -> None:
        self._node = node
        self._file = file

    def pool(self) -> Pool:
        """The pool; whatever can't be meant is refused."""
        node, annotations = self._node, self._node.metadata.annotations
        for key in annotations:
            if key.startswith(PREFIX) and key not in KNOWN:
                raise self.error(
                    f"has an annotation that planner does not know: {key}",
                    key,
                    advice=f"it knows {conjoined(KNOWN)}",
                )
        if not any(node.allocatable.values()):
            raise self.error(
                "offers nothing: its template has no allocatable",
                field="status.allocatable",
                advice="what `kubectl get node -o yaml` shows of such a node",
            )
        if not node.allocatable.get(PODS):
            raise self.error(
                "takes no pods",
                field="status.allocatable.pods",
                advice="the kubelet's default is 110",
            )
        least, most = self._count(LEAST), self._count(MOST)
        if most == 0:
            raise self.error("may have no nodes", MOST, advice="raise it, or leave the pool out")
        if most is not None and (least or 0) > most:
            raise self.error(f"needs at least {least} nodes and at most {most}", LEAST)
        return Pool(node.name, node, self._zones(), self._price(), least or 0, most)

    def _zones(self) -> tuple[str, ...]:
        text = self._node.metadata.annotations.get(ZONES)
        if text is None:
            own = self._node.labels.get(ZONE)
            return () if own is None else (own,)
        zones = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
        if not all(zones):
            raise self.error("has a zone without a name", ZONES, advice="such as eu-1a,eu-1b")
        return zones

    def _price(self) -> Decimal | None:
        text = self._node.metadata.annotations.get(PRICE)
        if text is None:
            return None
        try:
            price = Decimal(text)
        except InvalidOperation:
            price = Decimal(-1)
        if not price.is_finite() or price <= 0:
            raise self.error(f'has the price "{text}"', PRICE, advice="a number above 0: 0.1785")
        return price

    def _count(self, key: str) -> int | None:
        text = self._node.metadata.annotations.get(key)
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal()):
            raise self.error(f'has {key} "{text}"', key, advice="a whole number, 0 or more")
        return int(text)

    def error(
        self, what: str, annotation: str = "", *, field: str = "", advice: str | None = None
    ) -> PlannerError:
        """What is wrong with the pool, and where that stands."""
        place = f'metadata.annotations["{annotation}"]' if annotation else field
        name = self._node.name
        return PlannerError(
            f"pool {name} {what}", file=self._file, object=f"Node {name}", field=place, help=advice
        )
