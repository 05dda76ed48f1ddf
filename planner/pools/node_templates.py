"""Pools as Node objects: templates of nodes that could be added.

A template has labels, taints and allocatable as the kubelet would report them, and annotations:
`planner/price` per hour, `planner/min` and `planner/max` nodes to add in each zone, and
`planner/zones`, without which the template's own zone counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from planner.pools.allocatable import with_allocatable
from planner.pools.place import Place
from planner.pools.pool import Pool, checked
from planner.sources.prices import PRICE, price_of
from planner.words import conjoined
from planner_models.node import ZONE, Node
from planner_models.resources import PODS

PREFIX = "planner/"
LEAST, MOST, ZONES = (f"{PREFIX}{name}" for name in ("min", "max", "zones"))
KNOWN = (PRICE, LEAST, MOST, ZONES)


def read_pools(
    nodes: Iterable[Node], files: Mapping[str, str] = MappingProxyType({})
) -> tuple[Pool, ...]:
    """The pools that these templates describe; `files` has the file of each, by its name."""
    return checked([node_template(node, files.get(node.name), ()) for node in nodes])


def node_template(node: Node, file: str | None, nodes: Sequence[Node]) -> Pool:
    """The pool that a template describes; the cluster's nodes tell what it leaves out."""
    place, annotations = Place("Node", node.name, file), node.metadata.annotations
    check_annotations(place, annotations, KNOWN)
    template, remarks = with_allocatable(node, nodes)
    check_room(place, template)
    least, most = count_of(place, annotations, LEAST), count_of(place, annotations, MOST)
    if most == 0:
        raise place.error("may have no nodes", MOST, advice="raise it, or leave the pool out")
    if most is not None and (least or 0) > most:
        raise place.error(f"needs at least {least} nodes and at most {most}", LEAST)
    kept = {key: text for key, text in annotations.items() if key not in KNOWN}
    return Pool(
        node.name,
        template.replace(metadata=node.metadata.replace(annotations=kept)),
        _zones(place, node),
        price_in(place, annotations),
        least or 0,
        most,
        remarks=remarks,
        place=place,
    )


def check_annotations(place: Place, annotations: Mapping[str, str], known: Sequence[str]) -> None:
    """Refuse annotations of planner's own that mean nothing here."""
    for key in annotations:
        if key.startswith(PREFIX) and key not in known:
            raise place.error(
                f"has an annotation that planner does not know: {key}",
                key,
                advice=f"it knows {conjoined(known)}",
            )


def check_room(place: Place, template: Node, field: str = "status.allocatable") -> None:
    """Refuse templates on which no pod could ever run."""
    if not any(template.allocatable.values()):
        raise place.error(
            "offers nothing: its template has no allocatable",
            field=field,
            advice="what `kubectl get node -o yaml` shows of such a node",
        )
    if not template.allocatable.get(PODS):
        raise place.error(
            "takes no pods", field=f"{field}.pods", advice="the kubelet's default is 110"
        )


def price_in(place: Place, annotations: Mapping[str, str]) -> Decimal | None:
    """The price that the annotations name."""
    text = annotations.get(PRICE)
    if text is None:
        return None
    price = price_of(text)
    if price is None:
        raise place.error(f'has the price "{text}"', PRICE, advice="a number above 0: 0.1785")
    return price


def count_of(place: Place, annotations: Mapping[str, str], key: str) -> int | None:
    """A number of nodes."""
    text = annotations.get(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise place.error(f'has {key} "{text}"', key, advice="a whole number, 0 or more")
    return int(text)


def _zones(place: Place, node: Node) -> tuple[str, ...]:
    text = node.metadata.annotations.get(ZONES)
    if text is None:
        own = node.labels.get(ZONE)
        return () if own is None else (own,)
    zones = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if not all(zones):
        raise place.error("has a zone without a name", ZONES, advice="such as eu-1a,eu-1b")
    return zones
