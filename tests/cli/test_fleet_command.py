from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import app
from planner.documents.fleet import decide_placements
from planner_models.fleet_decision import FleetDecision, FleetDecisionList
from tests.fleet.fleet_objects import (
    DOCUMENTED,
    GPU,
    agent,
    binding,
    by_region,
    member,
    pick_n,
    placement,
    spread,
)
from tests.objects import merged, node


class Command:
    """`planner fleet` on a fleet in a file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def file(self, *objects: Any) -> str:
        path = self.folder / "fleet.json"
        path.write_text(json.dumps({"kind": "List", "items": objects}))
        return str(path)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = app.main(["fleet", *arguments])
        said = self._capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)


def test_a_fulfilled_placement_is_exit_code_0(fleet: Command) -> None:
    code, out, err = fleet("--example", "fleet-walkthrough")
    assert (code, err) == (0, "")
    assert out.startswith(
        "crp picks 2 of 4 clusters: smartfish, jumpingcat. Optimal too.\n\nROUND  CLUSTER"
    )


def test_a_dead_lock_is_exit_code_3(fleet: Command) -> None:
    code, out, _ = fleet("--example", "fleet-deadlock")
    assert code == 3
    assert out.startswith("dead-lock: Fleet stays at 2 of 4 clusters, though 4 can be picked\n")


def test_an_impossible_placement_is_exit_code_3(fleet: Command) -> None:
    file = fleet.file(*DOCUMENTED, placement(pick_n(5)))
    code, out, _ = fleet("-f", file)
    assert code == 3
    assert out.startswith("impossible: crp wants 5 clusters, and the fleet has 4 clusters\n")


def test_a_broken_constraint_is_exit_code_3_though_enough_are_picked(fleet: Command) -> None:
    members = by_region(elm="east", oak="east", ash="west")
    bound = [binding("elm"), binding("oak")]
    file = fleet.file(*members, *bound, placement(pick_n(2, spread("region"))))
    assert fleet("-f", file)[0] == 3


def test_a_soft_constraint_that_does_not_hold_is_no_failure(fleet: Command) -> None:
    members = [*by_region(elm="east", oak="east"), member("ash", {"region": "west"}, spec=GPU)]
    policy = pick_n(2, spread("region", 1, "ScheduleAnyway"))
    assert fleet("-f", fleet.file(*members, placement(policy)))[0] == 0


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name", "markdown"])
def test_every_format_is_written(fleet: Command, output: str) -> None:
    code, out, err = fleet("--example", "fleet-two-constraints", "-o", output)
    assert code == 0
    assert out
    assert err == ""


def test_json_is_a_fleet_decision(fleet: Command) -> None:
    _, out, _ = fleet("--example", "fleet-walkthrough", "-o", "json")
    document = FleetDecision.model_validate_json(out)
    assert document.picked == ("smartfish", "jumpingcat")


def test_several_placements_are_all_decided_or_the_one_that_is_named(fleet: Command) -> None:
    one, two = placement(pick_n(1), "one"), placement(pick_n(2), "two")
    file = fleet.file(*DOCUMENTED, two, one)
    document = FleetDecisionList.model_validate_json(fleet("-f", file, "-o", "json")[1])
    assert [each.placement for each in document.items] == ["one", "two"]
    named = FleetDecision.model_validate_json(fleet("-f", file, "crp/two", "-o", "json")[1])
    assert named.placement == "two"
    assert fleet("-f", file, "one", "-o", "name")[1] == "membercluster/smartfish\n"


def test_a_resource_placement_is_named_with_its_namespace(fleet: Command) -> None:
    spaced = merged(
        placement(pick_n(1), "web"),
        {"kind": "ResourcePlacement", "metadata": {"namespace": "shop"}},
    )
    file = fleet.file(*DOCUMENTED, spaced)
    code, out, _ = fleet("-f", file, "rp/web", "-n", "shop", "-o", "json")
    assert (code, json.loads(out)["placement"]) == (0, "shop/web")
    code, _, err = fleet("-f", file, "rp/web")
    assert code == 1
    assert err == (
        "error: there is no ResourcePlacement web in namespace default\n"
        "help: it is in namespace shop: -n shop\n"
    )


def test_an_unknown_placement_gets_the_closest_name(fleet: Command) -> None:
    code, out, err = fleet("--example", "fleet-walkthrough", "crb")
    assert (code, out) == (1, "")
    assert err == "error: there is no placement crb\nhelp: did you mean crp?\n"


def test_another_kind_is_a_usage_error(fleet: Command) -> None:
    code, _, err = fleet("--example", "fleet-walkthrough", "deploy/web")
    assert code == 2
    assert err.startswith('error: "deploy/web" names no kind of placement\n')


def test_an_input_without_member_clusters_or_placements_says_what_to_add(fleet: Command) -> None:
    code, _, err = fleet("-f", fleet.file(node("a"), placement(pick_n(1))))
    assert (code, err) == (
        1,
        "error: the input has no member clusters, so nothing can be picked\n"
        "help: add: kubectl get memberclusters -o json\n",
    )
    code, _, err = fleet("-f", fleet.file(*DOCUMENTED))
    assert (code, err) == (
        1,
        "error: the input has no placement, so there is nothing to pick for\n"
        "help: add: kubectl get crp,crb,csps -o json\n",
    )


def test_an_unknown_placement_type_is_refused_with_its_field(fleet: Command) -> None:
    code, _, err = fleet("-f", fleet.file(*DOCUMENTED, placement({"placementType": "PickSome"})))
    assert code == 1
    assert err.startswith('error: "PickSome": PickAll, PickFixed or PickN is expected\n  --> ')
    assert err.endswith("ClusterResourcePlacement crp\n      spec.policy.placementType\n")


def test_a_notice_says_that_clusters_have_no_status(fleet: Command) -> None:
    _, out, _ = fleet("-f", fleet.file(*DOCUMENTED, placement(pick_n(2))))
    assert out.endswith(
        "notice: 4 member clusters have no status and count as joined and healthy\n"
        "  bravelion, flyingpenguin, jumpingcat, smartfish\n"
    )


def test_heartbeats_are_judged_at_the_given_time(fleet: Command) -> None:
    file = fleet.file(member("ash", status=agent()), placement(pick_n(1)))
    assert fleet("-f", file)[0] == 0
    assert fleet("-f", file, "--now", "2026-05-01T12:04:00Z")[0] == 0
    code, out, _ = fleet("-f", file, "--now", "2026-05-01T13:00:00Z")
    assert code == 3
    assert "no recent heartbeat signals (last received 60.00 minutes ago)" in " ".join(out.split())
    assert fleet("-f", file, "--now", "soon")[0] == 2


def test_the_same_input_gives_the_same_bytes(fleet: Command) -> None:
    runs = {fleet("--example", "fleet-deadlock", "-o", "json") for _ in range(2)}
    assert len(runs) == 1


def test_schema_knows_the_documents(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["schema", "FleetDecision"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "FleetDecision"


def test_an_optimum_without_proof_is_exit_code_4(
    fleet: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the time limit comes first: Fleet's picks are known, a better choice is not."""

    def unproven(*arguments: Any, **options: Any) -> tuple[FleetDecision, ...]:
        (decision,) = decide_placements(*arguments, **options)
        assert decision.optimal is not None
        optimal = decision.optimal.model_copy(update={"status": "feasible"})
        return (decision.model_copy(update={"optimal": optimal}),)

    monkeypatch.setattr("planner.documents.fleet.decide_placements", unproven)
    assert fleet("--example", "fleet-walkthrough")[0] == 4
