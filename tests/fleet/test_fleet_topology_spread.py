"""The skew rule against its definition, for every small spread."""

from __future__ import annotations

from itertools import product

import pytest

from planner.fleet.topology_spread import (
    OUTSIDE,
    Topology,
    kube_scheduler_accepts,
    least_skew_alone,
    most_alone,
    one_more,
    skew,
    topologies,
)
from planner_models.fleet import ClusterSpreadConstraint
from tests.fleet.fleet_objects import by_region, member, pick_n, setting_of, spread

COUNTS = [counts for size in range(1, 5) for counts in product(range(5), repeat=size)]


def defined_skew(counts: tuple[int, ...]) -> int:
    """The documentation: the most in a group minus the least."""
    return max(counts) - min(counts)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_one_more_changes_the_skew_as_its_definition_says(size: int) -> None:
    for counts in product(range(5), repeat=size):
        for domain, max_skew in product(range(size), (1, 2, 3)):
            after = list(counts)
            after[domain] += 1
            step = one_more(counts, domain, max_skew)
            assert step.before == defined_skew(counts)
            assert step.after == defined_skew(tuple(after)), (counts, domain)
            assert step.violates == (defined_skew(tuple(after)) > max_skew)


def test_a_single_group_counts_as_one_more_uneven_but_is_never_refused() -> None:
    for count, max_skew in product(range(5), (1, 2, 3)):
        step = one_more((count,), 0, max_skew)
        assert (step.before, step.after, step.violates) == (0, 1, False)


def test_what_fleet_accepts_kube_scheduler_accepts_too() -> None:
    for counts in COUNTS:
        for domain, max_skew in product(range(len(counts)), (1, 2, 3)):
            if not one_more(counts, domain, max_skew).violates:
                assert kube_scheduler_accepts(counts, domain, max_skew), (counts, domain)


def test_two_empty_groups_are_refused_where_kube_scheduler_accepts_both() -> None:
    counts = (2, 0, 0)
    assert [one_more(counts, domain, 1).violates for domain in range(3)] == [True, True, True]
    assert [kube_scheduler_accepts(counts, d, 1) for d in range(3)] == [False, True, True]


@pytest.mark.parametrize(
    ("counts", "domain", "change"),
    [
        ((0, 0), 0, 1),
        ((1, 0), 0, 1),
        ((1, 0), 1, -1),
        ((2, 0, 0), 1, 0),
        ((2, 1, 0), 1, 0),
        ((2, 1, 0), 2, -1),
        ((3, 3, 1), 1, 1),
    ],
)
def test_the_change_is_one_up_one_down_or_none(
    counts: tuple[int, ...], domain: int, change: int
) -> None:
    assert one_more(counts, domain, 9).change == change


def test_domains_are_those_of_all_members_and_clusters_without_the_label_are_outside() -> None:
    tainted = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    members = [
        *by_region(ash="west", elm="east"),
        member("yew", {"region": "north"}, spec=tainted),
        member("oak", {"zone": "1"}),
    ]
    setting = setting_of(pick_n(2, spread("region")), members)
    (found,) = setting.topologies
    assert found.domains == ("east", "north", "west")
    assert found.domain_of == (2, 0, OUTSIDE, 1)
    assert found.counts([0, 2, 3]) == (0, 1, 1)


def topology(domain_of: tuple[int, ...], domains: int, max_skew: int) -> Topology:
    constraint = ClusterSpreadConstraint(topology_key="region", max_skew=max_skew)
    return Topology(0, constraint, tuple(map(str, range(domains))), domain_of)


@pytest.mark.parametrize("max_skew", [1, 2])
def test_the_closed_forms_are_those_of_all_choices(max_skew: int) -> None:
    for sizes in product(range(4), range(4), range(3), range(2)):
        *inside, outside = sizes
        domain_of = tuple(
            domain for domain, size in [*enumerate(inside), (OUTSIDE, outside)] for _ in range(size)
        )
        found = topology(domain_of, 3, max_skew)
        every = range(len(domain_of))
        choices = [
            (sum(counts) + free, skew(counts))
            for counts in product(*(range(size + 1) for size in inside))
            for free in range(outside + 1)
        ]
        allowed = [number for number, apart in choices if apart <= max_skew]
        assert most_alone(found, every) == max(allowed)
        for number in {number for number, _ in choices}:
            least = min(apart for total, apart in choices if total == number)
            assert least_skew_alone(found, every, number) == least


def test_without_any_label_there_is_nothing_to_spread() -> None:
    (found,) = topologies([], [ClusterSpreadConstraint(topology_key="region")])
    assert (found.domains, found.splits, found.excess([])) == ((), False, 0)
