"""Dead-locks and impossible placements: told apart, explained, and repaired."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.fleet.conflict import minimal_conflict, most_under, rules_of
from planner.fleet.decision import decide
from planner.fleet.optimum import find_optimum, measure
from planner.fleet.repairs import find_repairs
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting
from tests.fleet.fleet_objects import (
    DOCUMENTED,
    GPU,
    affinity,
    agent,
    binding,
    by_region,
    decided,
    member,
    pick_n,
    preferred,
    spread,
)
from tests.fleet.small_fleets import fleets
from tests.objects import Json

GROWN = by_region(elm="east", oak="east", ash="west", fir="west", yew="north")


def test_two_empty_regions_are_a_dead_lock() -> None:
    found = decided(pick_n(4, spread("region")), GROWN, [binding("elm"), binding("oak")])
    assert found.verdict == "deadlock"
    assert found.headline == "dead-lock: Fleet stays at 2 of 4 clusters, though 4 can be picked"
    assert found.picked == ("elm", "oak")
    assert found.optimal is not None
    assert found.optimal.picked == ("elm", "fir", "oak", "yew")
    assert found.optimal.dropped == ()
    assert found.every_order_tried
    assert found.kube_scheduler_accepts == ("ash", "fir", "yew")
    assert found.condition is not None
    assert found.condition.reason == "SchedulingPolicyUnfulfilled"


def test_the_repairs_of_a_dead_lock_are_what_fleet_then_does() -> None:
    found = decided(pick_n(4, spread("region")), GROWN, [binding("elm"), binding("oak")])
    told = {repair.kind: repair for repair in found.repairs}
    raised = told["raiseMaxSkew"]
    assert raised.change is not None
    assert (raised.change.from_, raised.change.to) == ("1", "2")
    assert raised.picks == ("oak", "yew", "fir", "elm")
    assert raised.undoable
    assert raised.effect == "picks oak, yew, fir, elm: 2/1/1; then back to 1"
    assert told["scheduleAnyway"].picks == raised.picks
    assert told["evictBinding"].text == "evict elm"


def test_a_dead_lock_that_only_fewer_bindings_resolve_shows_what_is_given_up() -> None:
    members = by_region(ash="east", elm="east", fir="east", oak="west", yew="north")
    bound = [binding(name) for name in ("ash", "elm", "fir")]
    found = decided(pick_n(4, spread("region")), members, bound)
    assert (found.verdict, len(found.picked)) == ("deadlock", 3)
    assert found.optimal is not None
    assert len(found.optimal.picked) == 4
    assert len(found.optimal.dropped) == 1
    assert any("gives up" in sentence for sentence in found.narrative)


def test_greedy_gets_stuck_by_itself_though_another_order_works() -> None:
    """Two constraints: the first pick by name closes both its region and its environment."""
    places = {
        "yew": ("east", "prod"),
        "oak": ("east", "test"),
        "fir": ("west", "prod"),
    }
    members = [member(name, {"region": r, "env": e}) for name, (r, e) in places.items()]
    found = decided(pick_n(2, spread("region"), spread("env")), members)
    assert (found.verdict, found.picked) == ("deadlock", ("yew",))
    assert found.optimal is not None
    assert found.optimal.picked == ("fir", "oak")
    assert found.other_order == ("oak", "fir")
    assert found.every_order_tried is None
    assert "Fleet's own rule would allow all 2 in another order: oak, fir." in found.narrative


def test_more_clusters_than_the_fleet_has_are_impossible() -> None:
    found = decided(pick_n(6), DOCUMENTED)
    assert found.verdict == "impossible"
    assert found.headline == "impossible: crp wants 6 clusters, and the fleet has 4 clusters"
    assert [fact.kind for fact in found.conflicts[0].facts] == ["numberOfClusters"]
    told = {repair.kind: repair.text for repair in found.repairs}
    assert told == {"fewerClusters": "numberOfClusters 6 -> 4", "addCluster": "add 2 clusters"}


def test_an_empty_region_holds_all_others_down() -> None:
    members = [
        *by_region(ash="east", elm="east", fir="west", oak="west"),
        member("yew", {"region": "north"}, spec=GPU),
    ]
    found = decided(pick_n(4, spread("region")), members)
    assert found.headline == (
        "impossible: taints and region spread leave 2 of the 4 clusters that crp wants"
    )
    (conflict,) = found.conflicts
    assert conflict.minimal
    assert [fact.kind for fact in conflict.facts] == [
        "numberOfClusters",
        "taints",
        "topologySpread",
    ]
    assert conflict.facts[2].text == (
        "To pick per region: east 2, north 0, west 2. north can have 0, so every region can have "
        "at most 0 + maxSkew 1 = 1: 2 in all."
    )
    kinds = {repair.kind for repair in found.repairs}
    assert kinds == {
        "raiseMaxSkew",
        "scheduleAnyway",
        "labelCluster",
        "addToleration",
        "addCluster",
        "fewerClusters",
    }


def test_a_typo_in_a_label_makes_a_group_that_nothing_is_picked_from() -> None:
    members = [
        *by_region(ash="east", elm="east", fir="west"),
        member("yew", {"region": "wset"}, status=agent(joined="False")),
    ]
    found = decided(pick_n(3, spread("region")), members)
    labels = [repair for repair in found.repairs if repair.kind == "labelCluster"]
    assert labels[0].text == "label yew region=west"
    assert labels[0].command == "kubectl label membercluster yew region=west --overwrite"


def test_a_contradictory_affinity_leaves_nothing_and_says_so() -> None:
    never = {
        "labelSelector": {
            "matchExpressions": [
                {"key": "region", "operator": "In", "values": ["east"]},
                {"key": "region", "operator": "NotIn", "values": ["east"]},
            ]
        }
    }
    found = decided(pick_n(2, affinity=affinity([never])), DOCUMENTED)
    assert found.headline == (
        "impossible: required affinity leaves 0 of the 2 clusters that crp wants"
    )
    assert set(found.filtered) == {"bravelion", "flyingpenguin", "jumpingcat", "smartfish"}
    assert [repair.kind for repair in found.repairs] == ["relaxAffinity"]


def test_a_contradictory_affinity_of_pick_all_is_fulfilled_for_fleet_but_not_for_us() -> None:
    never = {"labelSelector": {"matchLabels": {"region": "moon"}}}
    policy = {"placementType": "PickAll", "affinity": affinity([never])}
    found = decided(policy, DOCUMENTED)
    assert found.headline == "impossible: no cluster passes the filters of crp"
    assert found.condition is not None
    assert found.condition.status == "True"
    assert "Fleet itself calls this fulfilled" in found.narrative[-1]


def test_an_affinity_that_labels_satisfy_proposes_the_label() -> None:
    east = {"labelSelector": {"matchLabels": {"tier": "gold"}}}
    members = [member("ash", {"tier": "gold"}), member("elm")]
    found = decided(pick_n(2, affinity=affinity([east])), members)
    assert "label elm tier=gold" in [repair.text for repair in found.repairs]


def test_unknown_names_of_pick_fixed_are_named() -> None:
    policy = {"placementType": "PickFixed", "clusterNames": ["smartfish", "smartfsh"]}
    found = decided(policy, DOCUMENTED)
    assert found.headline == (
        "impossible: 1 of the 2 clusters that crp names can't be picked: smartfsh"
    )
    assert found.picked == ("smartfish",)
    assert found.filtered == {"smartfsh": ('Specified cluster "smartfsh" is not found',)}


def test_a_constraint_broken_by_earlier_picks_is_told_though_enough_are_picked() -> None:
    found = decided(pick_n(2, spread("region")), GROWN, [binding("elm"), binding("oak")])
    assert found.verdict == "fulfilled"
    assert found.headline.endswith("A DoNotSchedule constraint is broken.")
    assert not found.constraints[0].holds
    assert found.differs


def test_a_better_affinity_is_told() -> None:
    """Fleet has smartfish and stays with it."""
    policy = pick_n(1, affinity=affinity(preferences=[preferred(50, system="critical")]))
    found = decided(policy, DOCUMENTED, [binding("smartfish")])
    assert found.headline == "crp picks 1 of 4 clusters: smartfish. There is a better choice."
    assert found.optimal is not None
    levels = {each.name: (each.fleet, each.value) for each in found.optimal.objectives}
    assert levels["affinity"] == (0, 50)
    assert levels["changes"] == (0, 1)


@given(fleets())
@settings(max_examples=80)
def test_every_repair_makes_fleet_pick_all_that_is_wanted(setting: Setting) -> None:
    for trial in find_repairs(setting):
        after = trial.proposal.after
        found = measure(after, schedule(after).picked)
        assert found.clusters == after.wanted
        assert found.excess == 0


@given(fleets())
@settings(max_examples=80)
def test_a_conflict_excludes_the_wanted_number_and_can_t_spare_any_rule(setting: Setting) -> None:
    if find_optimum(setting).measures.clusters == setting.wanted:
        return
    rules, minimal = minimal_conflict(setting)
    assert minimal
    assert set(rules) <= set(rules_of(setting))
    most = most_under(setting, rules)
    assert most is not None
    assert most < setting.wanted
    for rule in rules:
        assert most_under(setting, [each for each in rules if each != rule]) == setting.wanted


@given(fleets())
@settings(max_examples=80)
def test_verdicts_tell_fleet_s_failures_from_the_fleet_s(setting: Setting) -> None:
    found = decide(setting)
    possible = find_optimum(setting).measures.clusters
    picked = found.measures.clusters
    expected = {
        "fulfilled": picked == setting.wanted,
        "deadlock": picked < setting.wanted and possible > picked,
        "impossible": picked < setting.wanted and possible <= picked,
    }
    assert [verdict for verdict, holds in expected.items() if holds] == [found.verdict]


@given(st.permutations(GROWN))
@settings(max_examples=20)
def test_the_order_of_the_input_does_not_matter(members: list[Json]) -> None:
    policy, bound = pick_n(4, spread("region")), [binding("oak"), binding("elm")]
    assert decided(policy, members, bound) == decided(policy, GROWN, bound[::-1])


def test_what_a_cluster_lacks_for_the_affinity_is_told_term_by_term() -> None:
    cpu = "resources.kubernetes-fleet.io/available-cpu"
    nodes = "kubernetes-fleet.io/node-count"
    terms: list[Json] = [
        {
            "labelSelector": {
                "matchLabels": {"tier": "gold"},
                "matchExpressions": [{"key": "region", "operator": "In", "values": ["a", "b"]}],
            }
        },
        {
            "propertySelector": {
                "matchExpressions": [
                    {"name": cpu, "operator": "Ge", "values": ["4"]},
                    {"name": nodes, "operator": "Gt", "values": ["2"]},
                ]
            }
        },
    ]
    usage = {"resourceUsage": {"available": {"cpu": "3500m"}}}
    members = [member("ash", {"region": "east"}, status=usage)]
    found = decided(pick_n(1, affinity=affinity(terms)), members)
    assert found.lacking == {
        "ash": (
            "label tier is missing, not gold; label region is east, In (a, b) is asked",
            f"property {cpu} is 3500m, Ge 4 is asked; property {nodes} is not reported",
        )
    }


def test_a_repair_of_several_constraints_names_all_their_fields() -> None:
    members = [
        member("elm", {"region": "east", "env": "prod"}),
        member("oak", {"region": "east", "env": "prod"}),
        member("fir", {"region": "west", "env": "test"}, spec=GPU),
    ]
    found = decided(pick_n(2, spread("region"), spread("env")), members)
    (both,) = [each for each in found.repairs if len(each.fields) > 1]
    assert both.text == "region, env: ScheduleAnyway"
    assert both.field is None
    assert both.fields == (
        "spec.policy.topologySpreadConstraints[0].whenUnsatisfiable",
        "spec.policy.topologySpreadConstraints[1].whenUnsatisfiable",
    )
    assert all(each.field == each.fields[0] for each in found.repairs if len(each.fields) == 1)


def test_a_change_on_which_fleet_fails_is_no_repair() -> None:
    members = [member("yew"), member("a.b", spec=GPU)]
    kinds = {each.kind for each in decided(pick_n(2), members).repairs}
    assert kinds == {"addCluster", "fewerClusters"}
    named = [member("yew"), member("ash", spec=GPU)]
    assert "addToleration" in {each.kind for each in decided(pick_n(2), named).repairs}
