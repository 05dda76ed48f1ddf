"""Node pools: templates with prices and limits, and everything that they can't mean."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner.errors import PlannerError
from planner.pools import Pool, offers_of, read_pools
from planner_models.node import HOSTNAME, ZONE, Node
from tests.objects import Json, inventory_of
from tests.pools.templates import pool


def pools(*templates: Json) -> tuple[Pool, ...]:
    nodes = inventory_of(*templates).nodes
    return read_pools(nodes, {node.name: "pools.yaml" for node in nodes})


def test_a_template_says_price_limits_and_zones() -> None:
    (found,) = pools(pool("small", price="0.1", zones="a, b", min="1", max="3"))
    assert found.price == Decimal("0.1")
    assert (found.zones, found.least, found.most) == (("a", "b"), 1, 3)


def test_every_zone_of_a_pool_is_an_offer_whose_nodes_have_that_zone_and_no_hostname() -> None:
    template = pool("small", zones="a,b", price="0.1")
    template["metadata"]["labels"] = {HOSTNAME: "old", ZONE: "z", "disk": "ssd"}
    offers = offers_of(pools(template), "price")
    assert [offer.template.labels for offer in offers] == [
        {"disk": "ssd", ZONE: "a"},
        {"disk": "ssd", ZONE: "b"},
    ]
    assert all("planner/price" not in each.template.metadata.annotations for each in offers)


def test_without_zones_the_zone_of_the_template_counts() -> None:
    template = pool("small")
    template["metadata"]["labels"] = {ZONE: "z"}
    (offer,) = offers_of(pools(template), "nodes")
    assert offer.zone == "z"


@pytest.mark.parametrize(
    ("objective", "costs"), [("price", [8925, 17850]), ("nodes", [1, 1]), ("cpu", [2000, 4000])]
)
def test_costs_are_whole_numbers(objective: str, costs: list[int]) -> None:
    given = pools(pool("s", price="0.08925"), pool("l", cpu="4", price="0.1785"))
    assert [offer.cost for offer in offers_of(given, objective)] == costs  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message", "place"),
    [
        ({"max": "0"}, "pool small may have no nodes", 'metadata.annotations["planner/max"]'),
        ({"min": "3", "max": "2"}, "pool small needs at least 3 nodes and at most 2", "min"),
        ({"price": "cheap"}, 'pool small has the price "cheap"', "planner/price"),
        ({"price": "0"}, 'pool small has the price "0"', "planner/price"),
        ({"price": "NaN"}, 'pool small has the price "NaN"', "planner/price"),
        ({"max": "-1"}, 'pool small has planner/max "-1"', "planner/max"),
        ({"zones": "a,,b"}, "pool small has a zone without a name", "planner/zones"),
        ({"zone": "a"}, "an annotation that planner does not know: planner/zone", "planner/zone"),
    ],
)
def test_what_a_pool_can_not_mean_is_refused_with_its_place(
    changes: dict[str, str], message: str, place: str
) -> None:
    with pytest.raises(PlannerError) as raised:
        pools(pool("small", **changes))
    assert message in raised.value.message
    assert place in (raised.value.field or "")
    assert (raised.value.file, raised.value.object) == ("pools.yaml", "Node small")


def test_a_template_without_allocatable_is_refused() -> None:
    empty = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "small"}}
    with pytest.raises(PlannerError, match="offers nothing"):
        pools(empty)


def test_a_template_that_takes_no_pods_is_refused() -> None:
    template = pool("small")
    del template["status"]["allocatable"]["pods"]
    with pytest.raises(PlannerError, match="takes no pods"):
        pools(template)


def test_a_pool_without_price_among_priced_ones_is_refused() -> None:
    with pytest.raises(PlannerError) as raised:
        pools(pool("dear", price="1"), pool("c7i.large"))
    assert raised.value.render() == (
        "error: pool c7i.large has no price, and others have\n"
        '  --> pools.yaml: Node c7i.large metadata.annotations["planner/price"]\n'
        "help: price every pool, or none (then CPU is what is saved)"
    )


def test_no_pools_are_refused() -> None:
    with pytest.raises(PlannerError, match="which nodes could be added"):
        read_pools(())


def test_templates_are_nodes() -> None:
    (found,) = pools(pool("small"))
    assert isinstance(found.template, Node)
