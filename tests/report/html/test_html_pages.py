from __future__ import annotations

from pathlib import Path

import pytest

from planner.cluster.owners import WorkloadRef
from planner.examples import example_path
from planner.report.html.map_view import ClusterMap, FleetMap
from planner.report.html.solve_page import headline
from planner.report.html.squares import COLOURS, marks
from planner.report.html.story import STAGES, plan_story
from planner.report.html.view import (
    CardSection,
    Conflict,
    Page,
    SpreadSection,
    TableSection,
)
from planner_models.plan import Plan, Step, Wave
from tests.objects import cluster_of, node, owned, pod
from tests.report.html.pages import evicted, example, explained, placed, planned, simulated, solved


@pytest.fixture(scope="module")
def outage() -> Page:
    return solved(example("zone-outage"))


def the_map(page: Page) -> ClusterMap:
    return next(section for section in page.sections if isinstance(section, ClusterMap))


def letters(page: Page, stage: int) -> dict[str, str]:
    """The pods of every zone at one stage, as the letters of their squares."""
    return {
        zone.name: "".join(
            sorted(square.mark.letter for tile in zone.tiles for square in tile.at(stage))
        )
        for zone in the_map(page).zones
    }


def test_the_first_lines_say_what_to_do_what_it_gives_and_what_is_wrong_now(outage: Page) -> None:
    assert outage.badge.text == "Optimal, proven"
    assert outage.headline == (
        "Move 12 running pods in 4 waves, and all 5 uneven workloads are spread as their rules ask."
    )
    assert outage.lead[0] == (
        "Now api, web, search, cart and auth have too many pods in eu-1a and eu-1b "
        "and too few in eu-1c for their spread rules."
    )
    assert [(fact.value, fact.label) for fact in outage.facts] == [
        ("12", "of 51 running pods move"),
        ("4", "waves, one by one"),
        ("5 → 0", "workloads are uneven"),
        ("27 → 0", "over the limit"),
    ]


def test_the_map_shows_every_pod_before_and_after_every_wave(outage: Page) -> None:
    before, after = letters(outage, 0), letters(outage, the_map(outage).last)
    assert [len(before[zone]) for zone in ("eu-1a", "eu-1b", "eu-1c")] == [26, 25, 0]
    assert after["eu-1c"] == "AAAACCSSUWWW"
    assert sorted("".join(before.values())) == sorted("".join(after.values()))


def test_a_slider_has_now_each_wave_and_after(outage: Page) -> None:
    steps = the_map(outage).steps
    assert [step.label for step in steps] == [
        "Now",
        "Wave 1",
        "Wave 2",
        "Wave 3",
        "Wave 4",
        "After",
    ]
    assert steps[2].text == "Wave 2 of 4: 2 moves, once api and web are ready again"


def test_a_tile_follows_the_use_of_its_node_wave_by_wave(outage: Page) -> None:
    tiles = {tile.name: tile for zone in the_map(outage).zones for tile in zone.tiles}
    assert (tiles["c2"].used[0], tiles["c2"].cpu[0]) == ("0/4", 0)
    assert tiles["c2"].cpu[-1] > 0
    assert tiles["b3"].used == ("2.6/4",) * 5


def test_spread_charts_have_the_counts_and_the_band_of_each_rule(outage: Page) -> None:
    section = next(each for each in outage.sections if isinstance(each, SpreadSection))
    api = next(chart for chart in section.charts if chart.title == "api")
    assert api.rule == "per zone, maxSkew 1"
    assert [(row.label, row.now.count) for row in api.rows] == [
        ("eu-1a", 6),
        ("eu-1b", 6),
        ("eu-1c", 0),
    ]
    assert [row.after.count for row in api.rows if row.after] == [4, 4, 4]
    assert (api.now.low, api.now.high, api.excess_now, api.excess_after) == (0, 1, 10, 0)
    assert section.steady, "rules over hosts hold throughout and are folded away"


def test_an_eviction_report_shows_where_kube_scheduler_puts_the_pods() -> None:
    page = evicted(example("zone-outage"))
    assert page.headline.startswith("Evict 12 pods in 4 waves;")
    assert letters(page, the_map(page).last)["eu-1c"] == "AAAACCSSUWWW"


def test_a_conflict_is_drawn_as_what_each_rule_leaves_and_nothing_that_both_leave() -> None:
    page = explained(example("docs-conflicting-constraints"), ["default/mypod"])
    assert (page.badge.text, page.badge.tone) == ("Impossible", "bad")
    assert page.headline == "Zone spread and node spread leave no node for pod/mypod."
    conflict = next(each for each in page.sections if isinstance(each, Conflict))
    assert conflict.columns == (("zoneA", "node1"), ("zoneA", "node2"), ("zoneB", "node3"))
    assert [(rule.name, rule.leaves) for rule in conflict.rules] == [
        ("zone spread", "node3"),
        ("node spread", "node2"),
    ]
    assert conflict.together is not None
    assert conflict.together.leaves == "no node"
    assert [(row.removed, row.left) for row in conflict.funnel] == [(2, 1), (1, 0)]


def test_repairs_are_cards_with_a_text_to_copy() -> None:
    page = explained(example("docs-conflicting-constraints"), ["default/mypod"])
    cards = next(each for each in page.sections if isinstance(each, CardSection)).cards
    delete = next(card for card in cards if card.text == "delete pod4 or pod5")
    assert delete.then == "then node3 takes it"
    pod4, pod5 = (f"kubectl -n default delete pod {name}" for name in ("pod4", "pod5"))
    assert delete.code.splitlines() == [
        f"{pod4} --dry-run=server && {pod4}",
        f"# or: {pod5} --dry-run=server && {pod5}",
    ]


def test_a_simulation_has_a_row_and_a_step_for_every_pod_of_the_queue() -> None:
    waiting = [pod(f"web-{i}", metadata=owned("ReplicaSet", "web")) for i in range(3)]
    page = simulated(cluster_of(node("n1"), node("n2"), *waiting))
    assert page.headline == "3 waiting pods all find a node."
    table = next(each for each in page.sections if isinstance(each, TableSection))
    assert [row.cells[1:4] for row in table.rows] == [
        ("web-0", "scheduled", "n1"),
        ("web-1", "scheduled", "n2"),
        ("web-2", "scheduled", "n1"),
    ]
    assert len(the_map(page).steps) == 5


def test_a_fleet_is_drawn_by_region_with_the_round_that_picked_each_cluster() -> None:
    page = placed(str(example_path("fleet-walkthrough")))
    fleet = next(each for each in page.sections if isinstance(each, FleetMap))
    outcomes = {m.name: (m.outcome, m.step) for region in fleet.regions for m in region.members}
    assert [region.name for region in fleet.regions] == ["east", "west"]
    assert outcomes["smartfish"] == ("picked in round 1", 1)
    assert outcomes["jumpingcat"] == ("picked in round 2", 2)
    assert outcomes["bravelion"] == ("refused", None)
    assert [step.label for step in fleet.steps] == ["Before", "Round 1", "Round 2", "After"]


def test_nothing_to_do_is_said_in_the_headline() -> None:
    page = solved(cluster_of(node("n1"), pod("web-0", "n1")))
    assert page.headline == "Nothing to do: every rule holds."
    assert the_map(page).steps == ()


def test_a_pod_that_stays_pending_is_below_the_zones() -> None:
    big = pod("big", spec={"containers": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}]})
    page = simulated(cluster_of(node("n1"), big))
    assert page.headline == "The one waiting pod finds no node and stays pending."
    assert [square.text for square in the_map(page).waiting] == ["default/big"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop", "Place 2 waiting pods; 4 pods still can't run."),
        ("shop-relax", "Place 5 waiting pods; 2 rules are broken for that; 1 pod still can't run."),
    ],
)
def test_a_headline_does_not_hide_what_stays_undone(name: str, expected: str) -> None:
    text = (Path(__file__).parents[2] / "data" / "plans" / f"{name}.json").read_text()
    assert headline(Plan.model_validate_json(text), 0, 0) == expected


def test_workloads_keep_their_colour_from_report_to_report_and_share_none_while_nine_suffice() -> (
    None
):
    refs = [WorkloadRef("default", "Deployment", f"app-{i}") for i in range(COLOURS)]
    together = marks(refs)
    assert len({mark.colour for mark in together.values()}) == COLOURS
    assert len({mark.letter for mark in together.values()}) == COLOURS
    assert marks(refs[:1])[refs[0]] == together[refs[0]]


def test_more_waves_than_anybody_steps_through_end_in_one_stage() -> None:
    cluster = cluster_of(node("n1"), node("n2"), pod("web-0", "n1"))
    there, back = (
        Wave(steps=(Step.model_validate({"action": "move", "pod": "default/web-0", "to": name}),))
        for name in ("n2", "n1")
    )
    waves = (there, back) * STAGES
    plan = planned(cluster).model_copy(update={"waves": waves})
    story = plan_story(cluster, plan)
    assert len(story.stages) == STAGES
    assert story.stages[-1].text == f"The other {STAGES + 1} steps"
