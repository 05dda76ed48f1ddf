"""The replay: it sees differences, follows the recording, and refuses what it can't judge."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import main
from tests.conformance.case import DATA, SUFFIX, lines
from tests.conformance.report import Comparison
from tests.conformance.run import replay_line

Edit = Callable[[dict[str, Any]], None]


def case(family: str, number: int = 0) -> dict[str, Any]:
    for index, line in enumerate(lines(DATA / f"{family}{SUFFIX}")):
        if index == number:
            found: dict[str, Any] = json.loads(line)
            return found
    raise IndexError(number)


def replayed(recorded: dict[str, Any]) -> Comparison:
    return replay_line(json.dumps(recorded).encode())


def result_with(field: str, family: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The first case that has a result with this field, and that result."""
    for line in lines(DATA / f"{family}{SUFFIX}"):
        recorded: dict[str, Any] = json.loads(line)
        for result in recorded["expect"]:
            if result.get(field):
                return recorded, result
    raise LookupError(field)


def first_value(mapping: dict[str, Any]) -> str:
    return next(iter(mapping))


def raise_a_score(result: dict[str, Any]) -> None:
    nodes = result["scores"]["NodeResourcesFit"]
    nodes[first_value(nodes)] += 1


def raise_a_raw_score(result: dict[str, Any]) -> None:
    nodes = result["raw_scores"]["NodeResourcesFit"]
    nodes[first_value(nodes)] += 1


def raise_a_total(result: dict[str, Any]) -> None:
    result["totals"][first_value(result["totals"])] += 1


def add_a_best_node(result: dict[str, Any]) -> None:
    result["best"].append("another")


def change_the_message(result: dict[str, Any]) -> None:
    result["message"] += "!"


def change_the_event(result: dict[str, Any]) -> None:
    result["event_message"] += "!"


def refuse_a_feasible_node(result: dict[str, Any]) -> None:
    node = next(name for name, verdict in result["filter"].items() if verdict is None)
    result["filter"][node] = {"plugin": "NodePorts", "code": "Unschedulable", "reasons": []}


def drop_a_failing_plugin(result: dict[str, Any]) -> None:
    plugins = result["failing_plugins"]
    plugins[first_value(plugins)].pop()


def count_a_violation(result: dict[str, Any]) -> None:
    candidates = result["preemption"]["candidates"]
    candidates[first_value(candidates)]["pdb_violations"] += 1


def add_a_victim(result: dict[str, Any]) -> None:
    result["preemption"]["victims"].append("default/another")


def provision_one_more(result: dict[str, Any]) -> None:
    result["volumes"]["provision"] = [*result["volumes"].get("provision", []), "another"]


@pytest.mark.parametrize(
    ("family", "field", "edit", "aspect"),
    [
        ("resources", "scores", raise_a_score, "scores of NodeResourcesFit"),
        ("resources", "scores", raise_a_raw_score, "raw scores of NodeResourcesFit"),
        ("resources", "totals", raise_a_total, "totals"),
        ("resources", "best", add_a_best_node, "best"),
        ("taints", "message", change_the_message, "message"),
        ("taints", "event_message", change_the_event, "event message"),
        ("taints", "scores", refuse_a_feasible_node, "filter"),
        ("taints", "failing_plugins", drop_a_failing_plugin, "failing plugins"),
        ("preemption", "preemption", count_a_violation, "candidates"),
        ("preemption", "preemption", add_a_victim, "victims"),
        ("volumes", "volumes", provision_one_more, "volumes"),
    ],
)
def test_one_changed_value_is_one_difference(
    family: str, field: str, edit: Edit, aspect: str
) -> None:
    recorded, result = result_with(field, family)
    edit(result)
    (difference,) = replayed(recorded).differences
    assert (difference.case, difference.subject) == (recorded["id"], result["pod"])
    assert difference.aspect == aspect


def test_a_queue_that_pops_something_else_is_a_difference() -> None:
    recorded = case("queue")
    recorded["expect"]["popped"][0] = "default/another"
    (difference,) = replayed(recorded).differences
    assert difference.aspect == "popped"


SPREAD = "descheduler-RemovePodsViolatingTopologySpreadConstraint"


def evictions(family: str, **wanted: bool) -> dict[str, Any]:
    """The first case with evictions that has these flags."""
    for line in lines(DATA / f"{family}{SUFFIX}"):
        recorded: dict[str, Any] = json.loads(line)
        expect = recorded["expect"]
        if len(expect["evicted"]) > 1 and wanted.items() <= expect.items():
            return recorded
    raise LookupError(family)


@pytest.mark.parametrize("same_order", [True, False])
def test_another_eviction_is_a_difference(same_order: bool) -> None:
    family = "descheduler-RemoveDuplicates"
    recorded = evictions(family, same_set=True, same_order=same_order)
    recorded["expect"]["evicted"][0] = "default/another"
    (difference,) = replayed(recorded).differences
    assert difference.aspect == "evicted"


def test_another_order_is_a_difference_only_where_the_order_is_always_the_same() -> None:
    fixed = evictions("descheduler-LowNodeUtilization", same_order=True)
    fixed["expect"]["evicted"].reverse()
    (difference,) = replayed(fixed).differences
    assert difference.aspect == "evicted"


def test_any_recorded_outcome_of_a_random_strategy_will_do() -> None:
    recorded = evictions(SPREAD, same_set=False)
    outcomes = recorded["expect"]["outcomes"]
    for outcome in outcomes:
        recorded["expect"]["outcomes"] = [outcome]
        assert not replayed(recorded).differences
    recorded["expect"]["outcomes"] = [["default/another"]]
    (difference,) = replayed(recorded).differences
    assert difference.aspect == "evicted"


def test_more_evictions_than_in_any_run_are_a_difference() -> None:
    recorded = evictions(SPREAD, same_set=True)
    recorded["expect"]["count"] = [0, 1]
    assert "count" in {difference.aspect for difference in replayed(recorded).differences}


def fleet_case(name: str = "h21-00001.0") -> dict[str, Any]:
    """A recorded scheduling of Fleet: two cycles, one pick, one cluster refused."""
    for line in lines(DATA / f"fleet-public{SUFFIX}"):
        recorded: dict[str, Any] = json.loads(line)
        if recorded["id"] == name:
            return recorded
    raise LookupError(name)


def raise_a_cluster_s_score(fleet: dict[str, Any]) -> None:
    fleet["cycles"][0]["scores"]["a"]["affinity"] += 1


def refuse_for_another_reason(fleet: dict[str, Any]) -> None:
    fleet["cycles"][1]["refused"]["oak"]["plugin"] = "TaintToleration"


def pick_another_in_a_cycle(fleet: dict[str, Any]) -> None:
    fleet["cycles"][0]["picked"] = ["oak"]


def bind_another(fleet: dict[str, Any]) -> None:
    fleet["bindings"][0]["cluster"] = "oak"


@pytest.mark.parametrize(
    ("edit", "aspect"),
    [
        (lambda fleet: fleet.update(snapshot="crp-1", bindings=[]), "snapshot"),
        (lambda fleet: fleet.update(invalid="no"), "invalid"),
        (lambda fleet: fleet.update(error="no"), "error"),
        (raise_a_cluster_s_score, "cluster scores"),
        (refuse_for_another_reason, "refused"),
        (pick_another_in_a_cycle, "picks"),
        (bind_another, "picked"),
        (lambda fleet: fleet["condition"].update(status="True"), "condition"),
        (lambda fleet: fleet["cycles"][0].update(givenUp=["oak"]), "given up"),
    ],
)
def test_one_changed_value_of_fleet_is_a_difference(edit: Edit, aspect: str) -> None:
    recorded = fleet_case()
    assert not replayed(recorded).differences
    edit(recorded["fleet"])
    assert aspect in {difference.aspect for difference in replayed(recorded).differences}


def test_what_fleet_refuses_and_we_don_t_is_a_difference_and_the_other_way_round() -> None:
    recorded = fleet_case("webhook-pickn-none.0")
    assert not replayed(recorded).differences
    del recorded["fleet"]["invalid"]
    (difference,) = replayed(recorded).differences
    assert difference.aspect == "invalid"


def test_a_difference_shows_only_the_nodes_that_differ() -> None:
    recorded, result = result_with("scores", "resources")
    raise_a_score(result)
    (difference,) = replayed(recorded).differences
    _, *nodes = difference.lines()
    assert len(nodes) == 1


def test_the_recorded_choice_is_followed() -> None:
    """Pods that come later are judged on the cluster of the recording, not on ours."""
    recorded = case("sequence")
    first = recorded["expect"][0]
    others = sorted(first["totals"].keys() - {first["chosen"]})
    first["chosen"] = others[0]
    later = {difference.subject for difference in replayed(recorded).differences}
    assert later
    assert first["pod"] not in later


def test_a_case_that_can_not_be_replayed_is_a_difference() -> None:
    recorded = case("taints")
    recorded["expect"][0]["surprise"] = True
    (difference,) = replayed(recorded).differences
    assert difference.aspect == "replayed"
    assert "fields that nobody compares: surprise" in difference.got


def test_scores_of_dynamic_resources_count_once_they_are_not_zero() -> None:
    recorded, result = result_with("scores", "taints")
    scores = result["scores"]["DynamicResources"]
    scores[first_value(scores)] = 2
    (difference,) = replayed(recorded).differences
    assert difference.aspect == "scores of DynamicResources"


@pytest.mark.parametrize("family", ["descheduler-RemovePods", "gang"])
def test_a_family_that_nothing_replays_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], family: str
) -> None:
    with gzip.open(tmp_path / f"any{SUFFIX}", "wt") as file:
        file.write(json.dumps({"id": f"{family}-1", "family": family}) + "\n")
    assert main([str(tmp_path), "--jobs", "1"]) == 1
    assert f"{family}: 1 cases; unknown family" in capsys.readouterr().out


def test_agreement_in_all_cases_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--family", "queue", "--family", "taints", "--first", "2", "--jobs", "2"]) == 0
    out = capsys.readouterr().out
    assert "queue: 2 cases" in out
    assert "taints: 2 cases" in out
    assert ", 0 differences" in out


def test_a_difference_exits_with_1_and_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded, result = result_with("message", "taints")
    change_the_message(result)
    file = tmp_path / f"any{SUFFIX}"
    with gzip.open(file, "wt") as out:
        out.write(json.dumps(recorded) + "\n")
    assert main([str(file), "--jobs", "1"]) == 1
    assert f"{recorded['id']} {result['pod']}: message" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--family", "gang"], ["no/such/folder"]])
def test_nothing_to_replay_is_a_failure(arguments: list[str]) -> None:
    assert main([*arguments, "--jobs", "1"]) == 1
