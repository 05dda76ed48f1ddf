"""Prices of nodes per hour, from a file: by instance type, by label, or on pools.

    m7i.xlarge: 0.2016          nodes of this node.kubernetes.io/instance-type
    pool=gpu: 1.2               nodes with this label; it goes before the instance type

A Node with the annotation `planner/price` stands for all nodes of its instance type.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

import msgspec

from planner.sources.errors import SourceError
from planner.sources.read import RawDocument, Refused, read_paths
from planner_models.node import INSTANCE_TYPE, Node

PRICE = "planner/price"
FORM = "instance types or labels with a price per hour, such as m7i.xlarge: 0.2016"


def read_prices(file: str) -> dict[str, Decimal]:
    """What the file says, by instance type or `KEY=VALUE`."""
    found: dict[str, Decimal] = {}
    for document in read_paths([file], sys.stdin.buffer):
        if isinstance(document, Refused):
            raise document.error
        found.update(_priced(document))
    return found


def _priced(document: RawDocument) -> Iterator[tuple[str, Decimal]]:
    value = msgspec.json.decode(document.data)
    if not isinstance(value, dict):
        raise SourceError(f"{document.file} has no prices", help=FORM)
    if "kind" in value:
        for item in value.get("items", [value]):
            yield _on_pool(document, item)
        return
    for name, price in value.items():
        yield str(name), _decimal(document, str(name), price)


def _on_pool(document: RawDocument, item: Mapping[str, object]) -> tuple[str, Decimal]:
    metadata = item.get("metadata")
    told = metadata if isinstance(metadata, dict) else {}
    labels, annotations = told.get("labels") or {}, told.get("annotations") or {}
    name = f"Node {told.get('name', '')}"
    if item.get("kind") != "Node" or INSTANCE_TYPE not in labels or PRICE not in annotations:
        raise SourceError(
            f"{document.file}: {name} names no price",
            file=document.file,
            object=name,
            help=f"the annotation {PRICE} and the label {INSTANCE_TYPE}; or {FORM}",
        )
    field = f'metadata.annotations["{PRICE}"]'
    return str(labels[INSTANCE_TYPE]), _decimal(document, field, annotations[PRICE], name)


def _decimal(
    document: RawDocument, field: str, value: object, object_name: str | None = None
) -> Decimal:
    price = price_of(value)
    if price is None:
        raise SourceError(
            f"{document.file}: {value!r} is no price",
            file=document.file,
            line=document.line,
            object=object_name,
            field=field,
            help="a number above 0, such as 0.2016",
        )
    return price


def price_of(value: object) -> Decimal | None:
    """The price that a text or a number is, if it is one."""
    if isinstance(value, bool):
        return None
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        return None
    return price if price.is_finite() and price > 0 else None


def prices_of(nodes: Sequence[Node], prices: Mapping[str, Decimal], file: str) -> list[Decimal]:
    """The price of each node; one without is an error, for what it costs is not known."""
    return [_price_of_node(node, prices, file) for node in nodes]


def _price_of_node(node: Node, prices: Mapping[str, Decimal], file: str) -> Decimal:
    by_label = (prices[f"{k}={v}"] for k, v in sorted(node.labels.items()) if f"{k}={v}" in prices)
    kind = node.labels.get(INSTANCE_TYPE, "")
    price = next(by_label, prices.get(kind))
    if price is None:
        told = f"its {INSTANCE_TYPE} is {kind}" if kind else f"it has no label {INSTANCE_TYPE}"
        raise SourceError(f"{file} has no price for node {node.name}", help=f"{told}; {FORM}")
    return price
