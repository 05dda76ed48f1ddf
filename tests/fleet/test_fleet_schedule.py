"""Fleet's scheduler: the documentation's walk-through to the letter, and every other rule of it."""

from __future__ import annotations

from typing import Any

import pytest

from planner.fleet.rounds import Candidate
from planner.fleet.schedule import Picks, schedule
from planner.fleet.setting import Setting
from planner.sources.errors import SourceError
from tests.fleet.fleet_objects import (
    DOCUMENTED,
    affinity,
    agent,
    binding,
    by_region,
    decided,
    member,
    pick_n,
    preferred,
    scored,
    setting_of,
    spread,
)
from tests.objects import Json, merged

REGION = pick_n(2, spread("region"))


def picked(setting: Setting) -> tuple[str, ...]:
    return setting.names(schedule(setting).picked)


def in_order(setting: Setting) -> list[str]:
    return [setting.clusters[c].name for r in schedule(setting).rounds for c in r.picked]


def dropped(picks: Picks) -> dict[str, str]:
    return {each.name: each.reason for each in picks.dropped}


def shown(setting: Setting, candidate: Candidate) -> tuple[str, int | str]:
    name = setting.clusters[candidate.cluster].name
    return name, "refused" if candidate.refused_by else candidate.score.spread


def test_the_documented_walk_through_to_the_letter() -> None:
    setting = setting_of(REGION, DOCUMENTED)
    first, second = schedule(setting).rounds
    assert [shown(setting, each) for each in first.candidates] == [
        ("smartfish", -1),
        ("jumpingcat", -1),
        ("flyingpenguin", -1),
        ("bravelion", -1),
    ]
    assert setting.names(first.picked) == ("smartfish",)
    assert [shown(setting, each) for each in second.candidates] == [
        ("jumpingcat", 1),
        ("flyingpenguin", 1),
        ("bravelion", "refused"),
    ]
    assert setting.names(second.picked) == ("jumpingcat",)


def test_the_skews_of_the_walk_through_are_those_of_the_documentation() -> None:
    first, second = schedule(setting_of(REGION, DOCUMENTED)).rounds
    assert {each.steps[0][:2] for each in first.candidates if each.steps[0]} == {(0, 1)}
    steps = [each.steps[0] for each in second.candidates]
    assert [step and step[:2] for step in steps] == [(1, 0), (1, 0), (1, 2)]


def test_a_violated_soft_constraint_costs_a_thousand() -> None:
    members = by_region(elm="east", oak="east", ash="west")
    bound = [binding("elm")]
    setting = setting_of(pick_n(2, spread("region", 1, "ScheduleAnyway")), members, bound)
    (only,) = schedule(setting).rounds
    assert [shown(setting, each) for each in only.candidates] == [("ash", 1), ("oak", -1000)]


def test_scores_of_several_constraints_are_added_up() -> None:
    members = [
        member("elm", {"region": "east", "env": "prod"}),
        member("oak", {"region": "west", "env": "prod"}),
        member("fir", {"region": "west", "env": "test"}),
    ]
    policy = pick_n(2, spread("region", 2), spread("env", 3, "ScheduleAnyway"))
    setting = setting_of(policy, members, [binding("elm")])
    (only,) = schedule(setting).rounds
    assert [shown(setting, each) for each in only.candidates] == [("fir", 2), ("oak", 0)]


def test_one_violated_hard_constraint_is_enough_to_be_refused() -> None:
    members = [
        member("elm", {"region": "east", "env": "prod"}),
        member("oak", {"region": "west", "env": "prod"}),
        member("fir", {"region": "east", "env": "test"}),
    ]
    setting = setting_of(pick_n(2, spread("region"), spread("env")), members, [binding("elm")])
    assert picked(setting) == ("elm",)


def test_clusters_without_the_key_always_pass_with_score_0() -> None:
    members = [*by_region(elm="east", oak="east", ash="west"), member("yew")]
    setting = setting_of(pick_n(3, spread("region")), members, [binding("elm")])
    first, second = schedule(setting).rounds
    assert [shown(setting, each) for each in first.candidates] == [
        ("ash", 1),
        ("yew", 0),
        ("oak", "refused"),
    ]
    # The counts are equal then: one more in a region would be uneven, one outside is not.
    assert shown(setting, second.candidates[0]) == ("yew", 0)


def test_a_key_that_no_cluster_has_changes_nothing() -> None:
    setting = setting_of(pick_n(2, spread("planet")), DOCUMENTED)
    assert in_order(setting) == ["smartfish", "jumpingcat"]


def test_a_key_with_one_value_refuses_nothing() -> None:
    members = by_region(ash="west", fir="west", yew="west")
    assert len(picked(setting_of(pick_n(3, spread("region")), members))) == 3


def test_spread_is_ranked_above_affinity_and_affinity_above_the_name() -> None:
    policy = pick_n(2, spread("region"), affinity=affinity(preferences=[preferred(100, gpu="yes")]))
    members = [
        member("ash", {"region": "east", "gpu": "yes"}),
        member("elm", {"region": "east", "gpu": "yes"}),
        member("fir", {"region": "west"}),
        member("yew", {"region": "east"}),
    ]
    assert in_order(setting_of(policy, members)) == ["elm", "fir"]


def test_without_constraints_the_whole_batch_is_picked_in_one_round() -> None:
    setting = setting_of(pick_n(3), DOCUMENTED)
    (only,) = schedule(setting).rounds
    assert setting.names(only.picked) == ("smartfish", "jumpingcat", "flyingpenguin")


def test_with_constraints_one_is_picked_per_round() -> None:
    rounds = schedule(setting_of(pick_n(4, spread("region")), DOCUMENTED)).rounds
    assert [len(each.picked) for each in rounds] == [1, 1, 1, 1]


def test_scheduling_ends_when_a_round_finds_nothing() -> None:
    members = by_region(elm="east", oak="east", fir="west")
    members[2]["spec"] = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    rounds = schedule(setting_of(pick_n(3, spread("region")), members)).rounds
    assert [len(each.picked) for each in rounds] == [1, 0]


def test_more_than_the_fleet_has_picks_what_there_is() -> None:
    assert len(picked(setting_of(pick_n(9), DOCUMENTED))) == 4


def test_zero_clusters_picks_none() -> None:
    assert picked(setting_of(pick_n(0), DOCUMENTED)) == ()


def test_current_bindings_stay_even_if_the_filters_would_refuse_them() -> None:
    gpu = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    members = [member("ash", spec=gpu), member("elm"), member("yew")]
    assert picked(setting_of(pick_n(2), members, [binding("ash")])) == ("ash", "yew")
    assert picked(setting_of({"placementType": "PickAll"}, members, [binding("ash")])) == (
        "ash",
        "elm",
        "yew",
    )


def test_enough_current_bindings_leave_nothing_to_do() -> None:
    picks = schedule(setting_of(REGION, DOCUMENTED, [binding("bravelion"), binding("smartfish")]))
    assert (picks.rounds, len(picks.picked)) == ((), 2)


@pytest.mark.parametrize(
    ("bindings", "number", "gone"),
    [
        ([binding("ash"), binding("elm"), binding("yew", "Scheduled")], 2, ["yew"]),
        ([binding("ash"), binding("elm"), binding("yew", "Scheduled")], 1, ["ash", "yew"]),
        (
            [
                binding("ash", clusterDecision=scored(1)),
                binding("elm", clusterDecision=scored(-1, 50)),
                binding("yew", clusterDecision=scored(-1)),
            ],
            2,
            ["yew"],
        ),
        (
            [
                binding("ash", clusterDecision=scored(-1)),
                binding("elm", clusterDecision=scored(-1)),
            ],
            1,
            ["ash"],
        ),
        ([binding("ash", clusterDecision=scored(-1000)), binding("elm")], 1, ["elm"]),
    ],
    ids=[
        "scheduled before bound",
        "then bound, the smallest name",
        "the lowest score: spread before affinity",
        "of equals the smallest name",
        "without a score first of all",
    ],
)
def test_scaling_down_drops(bindings: list[Json], number: int, gone: list[str]) -> None:
    members = [member(name) for name in ("ash", "elm", "fir", "yew")]
    picks = schedule(setting_of(pick_n(number), members, bindings))
    assert dropped(picks) == dict.fromkeys(gone, "scaledDown")


def test_scaling_up_keeps_what_is_picked() -> None:
    setting = setting_of(pick_n(3, spread("region")), DOCUMENTED, [binding("bravelion")])
    assert in_order(setting) == ["jumpingcat", "smartfish"]


def test_bindings_to_clusters_that_left_or_leave_are_given_up_and_replaced() -> None:
    leaving = member("elm", metadata={"deletionTimestamp": "2026-05-01T00:00:00Z"})
    members = [member("ash"), leaving, member("yew")]
    picks = schedule(setting_of(pick_n(2), members, [binding("elm"), binding("gone")]))
    assert dropped(picks) == {"elm": "leaving", "gone": "left"}
    assert len(picks.picked) == 2


def test_unscheduled_and_deleting_bindings_don_t_count() -> None:
    deleting = binding("elm")
    deleting["metadata"]["deletionTimestamp"] = "2026-05-01T00:00:00Z"
    bindings = [binding("ash", "Unscheduled"), deleting]
    members = [member("ash"), member("elm"), member("yew")]
    assert picked(setting_of(pick_n(1), members, bindings)) == ("yew",)


def older(cluster: str) -> Json:
    return binding(cluster, schedulingPolicySnapshotName="crp-0")


def newer(cluster: str) -> Json:
    return binding(cluster, schedulingPolicySnapshotName="crp-1")


def test_an_obsolete_binding_decides_between_equals_only() -> None:
    members = [member("ash"), member("elm"), member("fir"), member("yew")]
    setting = setting_of(pick_n(2), members, [older("ash"), newer("elm")])
    assert picked(setting) == ("ash", "elm")
    policy = pick_n(2, affinity=affinity(preferences=[preferred(1, gpu="yes")]))
    members[3] = member("yew", {"gpu": "yes"})
    setting = setting_of(policy, members, [older("ash"), newer("elm")])
    assert picked(setting) == ("elm", "yew")
    assert dropped(schedule(setting)) == {"ash": "newPolicy"}


def test_obsolete_bindings_are_preferred_in_the_first_round_only() -> None:
    """A cycle gives up those that it has not picked; with spread constraints it picks one."""
    members = by_region(ash="east", elm="west", oak="east", yew="west")
    bindings = [binding(each, schedulingPolicySnapshotName="crp-0") for each in ("ash", "elm")]
    setting = setting_of(pick_n(2, spread("region")), members, bindings)
    obsolete = Setting(
        setting.placement, setting.clusters, setting.bindings.under_another_policy(), 0
    )
    assert in_order(obsolete) == ["elm", "oak"]


def test_obsolete_bindings_don_t_count_for_the_skew() -> None:
    members = by_region(ash="east", elm="east", oak="west")
    bindings = [older("ash"), newer("elm")]
    (only,) = schedule(setting_of(pick_n(2, spread("region")), members, bindings)).rounds
    assert only.counts == ((1, 0),)


def test_enough_current_bindings_give_obsolete_ones_up_at_once() -> None:
    members = [member("ash"), member("elm")]
    picks = schedule(setting_of(pick_n(1), members, [older("ash"), newer("elm")]))
    assert dropped(picks) == {"ash": "newPolicy"}


def fixed(*names: str) -> Json:
    return {"placementType": "PickFixed", "clusterNames": list(names)}


def test_pick_all_takes_every_cluster_that_passes() -> None:
    gpu: Json = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    members = [member("ash"), member("elm", spec=gpu), member("yew")]
    assert picked(setting_of(None, members)) == ("ash", "yew")
    tolerant: dict[str, Any] = {
        "placementType": "PickAll",
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
    }
    assert picked(setting_of(tolerant, members)) == ("ash", "elm", "yew")


def test_pick_fixed_takes_the_named_ones_whatever_their_taints() -> None:
    gpu: Json = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    members = [member("ash"), member("elm", spec=gpu), member("yew")]
    assert picked(setting_of(fixed("elm", "ash"), members)) == ("ash", "elm")


def test_pick_fixed_says_which_names_are_unknown_or_not_eligible() -> None:
    leaving = member("elm", metadata={"deletionTimestamp": "2026-05-01T00:00:00Z"})
    picks = schedule(setting_of(fixed("ash", "elm", "oka"), [member("ash"), leaving]))
    assert picks.missing == (
        (
            "elm",
            'Cluster "elm" is not eligible for resource placement yet: cluster has left the fleet',
        ),
        ("oka", 'Specified cluster "oka" is not found'),
    )
    assert len(picks.picked) == 1


def test_pick_fixed_gives_up_clusters_that_are_no_longer_named() -> None:
    picks = schedule(setting_of(fixed("ash"), [member("ash"), member("elm")], [binding("elm")]))
    assert dropped(picks) == {"elm": "newPolicy"}


def test_pick_fixed_counts_the_eligible_clusters_and_keeps_the_others() -> None:
    silent = member("ash", status=agent(joined="False"))
    members = [silent, member("elm"), member("yew")]
    found = decided(fixed("ash", "elm"), members, [binding("ash")])
    assert found.picked == ("ash", "elm")
    assert found.condition is not None
    assert "found 1 cluster(s) instead" in found.condition.message


def test_pick_fixed_without_names_does_nothing() -> None:
    found = decided(fixed(), [member("ash")])
    assert (found.picked, found.condition) == ((), None)


def again(given: Json, suffix: str = "2", **spec: Any) -> Json:
    """Another binding of the same cluster."""
    name = f"{given['metadata']['name']}-{suffix}"
    return merged(given, {"metadata": {"name": name}, "spec": spec})


def test_fleet_counts_bindings_not_clusters() -> None:
    members = [member("ash"), member("elm"), member("yew")]
    picks = schedule(setting_of(pick_n(2), members, [binding("ash"), again(binding("ash"))]))
    assert (len(picks.picked), picks.found) == (1, 2)


def test_a_round_that_revives_two_bindings_is_the_last() -> None:
    members = by_region(ash="east", elm="west", oak="north", yew="south")
    unscheduled = again(older("ash"), state="Unscheduled")
    noted = {"kubernetes-fleet.io/previous-binding-state": "Bound"}
    unscheduled["metadata"]["annotations"] = noted
    policy = pick_n(4, spread("region", 4))
    bindings = [older("ash"), unscheduled, newer("elm")]
    picks = schedule(setting_of(policy, members, bindings))
    assert [len(each.picked) for each in picks.rounds] == [1]
    found = decided(policy, members, bindings)
    assert found.narrative[0].startswith("In round 1 Fleet revives several bindings of ash.")


def test_fleet_fails_to_revive_a_binding_that_does_not_say_what_it_was() -> None:
    bindings = [binding("ash", "Unscheduled")]
    with pytest.raises(SourceError, match="does not say what it was before"):
        schedule(setting_of(pick_n(1), [member("ash")], bindings))
    assert picked(setting_of(pick_n(1), [member("ash"), member("yew")], bindings)) == ("yew",)


@pytest.mark.parametrize("policy", [pick_n(2), {"placementType": "PickAll"}, fixed("a.b")])
def test_fleet_fails_to_bind_a_cluster_with_a_dot_in_its_name(policy: Json) -> None:
    with pytest.raises(SourceError, match=r"can't make a binding for cluster a\.b"):
        schedule(setting_of(policy, [member("a.b"), member("yew")]))


def test_a_dot_beyond_what_a_binding_s_name_takes_is_no_matter() -> None:
    name = f"{'a' * 27}.b"
    assert picked(setting_of(pick_n(1), [member(name)])) == (name,)
