"""Node pools: nodes that could be added, with prices and limits, and offers in each zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from planner.errors import UsageError
from planner.pools.place import Place, annotation_field
from planner.sources.prices import PRICE
from planner_models.node import HOSTNAME, ZONE, Node
from planner_models.resources import CPU

Objective = Literal["price", "nodes", "cpu"]
NOWHERE = Place("Node", "")
PRICE_ANNOTATION = annotation_field(PRICE)


@dataclass(frozen=True)
class SharedLimit:
    """What all nodes of several pools may add up to, and what a node of this pool adds."""

    name: str
    """The same for all pools that share it."""
    most: int
    each: int


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
    shared: tuple[SharedLimit, ...] = ()
    remarks: tuple[str, ...] = ()
    """What the reader of an answer has to know about it."""
    place: Place = NOWHERE
    price_field: str = PRICE_ANNOTATION
    """Where its price stands, or would stand."""


@dataclass(frozen=True)
class Offer:
    """One pool in one zone; `cost` is what a node adds to the objective, in whole units."""

    pool: Pool
    zone: str
    template: Node
    cost: int


def checked(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """The pools, if something can be said about them together."""
    if not pools:
        raise UsageError(
            "scale-up needs pools: which nodes could be added?",
            help="`pools=pools.yaml`: Node objects as templates",
        )
    unpriced = [pool for pool in pools if pool.price is None]
    if unpriced and len(unpriced) < len(pools):
        raise unpriced[0].place.error(
            "has no price, and others have",
            field=unpriced[0].price_field,
            advice="price every pool, or none (then CPU is what is saved)",
        )
    if all(pool.most == 0 for pool in pools):
        raise pools[0].place.error(
            "may have no more nodes, nor may any other",
            advice="raise the limits of a pool",
        )
    return tuple(pools)


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
        if pool.most != 0
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
        )
    )
