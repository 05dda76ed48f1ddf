"""The optimum and Fleet's scheduler against naive twins on small fleets."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings

from planner.fleet.optimum import Measures, find_optimum, measure, most_clusters
from planner.fleet.reach import best_order
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import OUTSIDE, skew
from tests.fleet.fleet_objects import (
    affinity,
    binding,
    by_region,
    member,
    pick_n,
    preferred,
    setting_of,
    spread,
)
from tests.fleet.small_fleets import fleets

PREFERENCES = [preferred(10, tier="gold"), preferred(-5, tier="tin")]


def fresh(setting: Setting) -> Setting:
    """The same without any binding."""
    return Setting(setting.placement, setting.clusters, type(setting.bindings)(), setting.now)


def brute_force(setting: Setting) -> Measures:
    """The best of all choices that keep every hard constraint."""
    choices = (
        choice
        for size in range(min(setting.wanted, len(setting.candidates)) + 1)
        for choice in combinations(setting.candidates, size)
    )
    legal = [found for choice in choices if (found := measure(setting, choice)).excess == 0]
    return min(legal, key=lambda found: found.rank)


def naive_score(setting: Setting, chosen: set[int], cluster: int) -> int | None:
    """The spread score from the skews before and after; None if a hard constraint refuses."""
    score = 0
    for topology in setting.topologies:
        if topology.domain_of[cluster] == OUTSIDE:
            continue
        before = skew(topology.counts(chosen))
        after = skew(topology.counts({*chosen, cluster}))
        if len(topology.domains) == 1:
            after = before + 1
        if after <= topology.constraint.max_skew:
            score -= after - before
        elif topology.constraint.hard:
            return None
        else:
            score -= 1000
    return score


def naive_schedule(setting: Setting) -> set[int]:
    """Fleet's rule from its definition, recounted for every cluster."""
    chosen, former = set(setting.current), set(setting.former)
    while len(chosen) < setting.wanted:
        ranked = [
            (score, setting.affinity[cluster], cluster in former, cluster)
            for cluster, refused in enumerate(setting.refusals)
            if cluster not in chosen
            and not refused
            and (score := naive_score(setting, chosen, cluster)) is not None
        ]
        if not ranked:
            break
        if setting.topologies:
            former = set()
        chosen.add(max(ranked)[-1])
    return chosen


@given(fleets())
@settings(max_examples=150)
def test_the_optimum_equals_brute_force(setting: Setting) -> None:
    found = find_optimum(setting, schedule(setting).picked)
    assert found.proven
    assert found.measures == measure(setting, found.picked)
    assert found.measures.rank == brute_force(setting).rank


@given(fleets())
@settings(max_examples=150)
def test_the_optimum_is_never_worse_than_fleet_at_the_first_level_that_differs(
    setting: Setting,
) -> None:
    picked = schedule(setting).picked
    assert find_optimum(setting, picked).measures.rank <= measure(setting, picked).rank


@given(fleets())
@settings(max_examples=200)
def test_fleet_alone_never_breaks_a_hard_constraint(setting: Setting) -> None:
    anew = fresh(setting)
    assert measure(anew, schedule(anew).picked).excess == 0


@given(fleets())
@settings(max_examples=200)
def test_no_pick_breaks_a_hard_constraint_whatever_was_picked_before(setting: Setting) -> None:
    for cycle in schedule(setting).rounds:
        for candidate in cycle.chosen:
            for topology in setting.topologies:
                inside = topology.domain_of[candidate.cluster] != OUTSIDE
                if inside and topology.constraint.hard:
                    assert topology.excess({*cycle.before, candidate.cluster}) == 0


@given(fleets())
@settings(max_examples=200)
def test_fleet_picks_what_its_rule_says_when_recounted_for_every_cluster(setting: Setting) -> None:
    picks = schedule(setting)
    if picks.rounds:
        assert set(picks.picked) == naive_schedule(setting)


@given(fleets())
@settings(max_examples=100)
def test_the_best_order_of_picks_is_between_fleet_and_the_optimum(setting: Setting) -> None:
    anew = fresh(setting)
    reach = best_order(anew)
    assert reach.complete
    assert len(schedule(anew).picked) <= len(reach.order)
    assert len(reach.order) <= find_optimum(anew).measures.clusters


@given(fleets())
@settings(max_examples=60)
def test_the_most_clusters_are_those_of_the_optimum(setting: Setting) -> None:
    most = most_clusters(setting, setting.candidates, setting.topologies)
    assert most == find_optimum(setting).measures.clusters


def test_of_equal_choices_fleet_s_own_is_the_optimum() -> None:
    setting = setting_of(pick_n(2, spread("region")), by_region(ash="east", elm="east", fir="west"))
    picked = schedule(setting).picked
    assert find_optimum(setting, picked).picked == picked


def test_of_equal_clusters_the_optimum_takes_the_last_by_name_as_fleet_does() -> None:
    setting = setting_of(pick_n(1), [member("ash"), member("yew"), member("elm")])
    assert setting.names(find_optimum(setting).picked) == ("yew",)


def test_affinity_comes_before_keeping_bindings() -> None:
    members = [member("ash"), member("elm", {"tier": "gold"})]
    policy = pick_n(1, affinity=affinity(preferences=PREFERENCES))
    setting = setting_of(policy, members, [binding("ash")])
    found = find_optimum(setting)
    assert setting.names(found.picked) == ("elm",)
    assert found.measures.changes == 1


def test_without_preferences_bindings_are_kept() -> None:
    setting = setting_of(pick_n(1), [member("ash"), member("elm")], [binding("ash")])
    assert setting.names(find_optimum(setting).picked) == ("ash",)


def test_no_time_at_all_still_gives_a_legal_choice_without_proof() -> None:
    setting = setting_of(pick_n(2, spread("region")), by_region(ash="east", elm="east", fir="west"))
    found = find_optimum(setting, (), time_limit=0.0)
    assert found.measures.excess == 0
    assert not found.proven or found.measures.clusters == 2
