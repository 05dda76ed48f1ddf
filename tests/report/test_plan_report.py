from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import planner
from planner.cluster import Cluster
from planner.documents.plan import make_plan
from planner.examples import example_path, examples
from planner.report.emit import to_json, to_text, to_yaml
from planner.report.tables import plan_table
from planner.report.tables.plan_proof import proof
from planner.report.text.formats import Output
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.documents import json_schema
from planner_models.plan import Objective, Plan
from tests.objects import ZONE, cluster_of, node, owned, pod, workload

TESTS = Path(__file__).resolve().parent.parent
SHOP = str(TESTS / "data" / "shop.yaml")
ZONE_OUTAGE = str(example_path("zone-outage"))

RULES = ("placed 0", "broken", "excess", "moves")
CASES = {
    "zone-outage-rebalance": (ZONE_OUTAGE, SolveOptions(rebalance=True)),
    "zone-outage": (ZONE_OUTAGE, SolveOptions()),
    "shop": (SHOP, SolveOptions()),
    "shop-rebalance": (SHOP, SolveOptions(rebalance=True)),
    "shop-relax": (SHOP, SolveOptions(relax=True)),
}


def planned(cluster: Cluster, options: SolveOptions) -> Plan:
    return make_plan(cluster, options, default_profile())


def plan(name: str) -> Plan:
    file, options = CASES[name]
    return planned(planner.load(file).snapshot, options)


def table(document: Plan) -> str:
    return to_text(document, Output.TABLE, plan_table)


def written(name: str) -> Plan:
    """A plan as it once was, so that texts don't depend on which of several equals is found."""
    return Plan.model_validate_json((TESTS / "data" / "plans" / f"{name}.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_the_text_of_a_plan_is_as_agreed(name: str) -> None:
    assert table(written(name)) == (TESTS / "snapshots" / f"solve-{name}.txt").read_text()


@pytest.mark.parametrize("name", CASES)
def test_what_is_proven_does_not_depend_on_which_of_several_equals_is_found(name: str) -> None:
    then, now = written(name), plan(name)
    assert plan_table.headline(now) == plan_table.headline(then)
    assert proof(now) == proof(then)
    assert [o for o in now.objectives if o.name in RULES] == [
        o for o in then.objectives if o.name in RULES
    ]
    assert now.unplaced == then.unplaced
    assert len(now.waves) == len(then.waves)
    assert now.greedy == then.greedy


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_a_plan_fits_80_columns_and_has_no_trailing_spaces(name: str) -> None:
    document = planner.load(example=name).solve(rebalance=True)
    for line in table(document).splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


def test_a_zone_that_came_back_costs_twelve_moves_and_that_is_proven() -> None:
    document = plan("zone-outage-rebalance")
    assert document.status == "optimal"
    assert (document.excess_before, document.excess_after) == (27, 0)
    assert len(document.placements) == 12
    assert Objective(name="moves", value=12, bound=12, direction="min") in document.objectives
    assert document.verification.steady
    assert document.verification.admissible
    assert document.verification.budgets is True


def test_a_plan_is_read_back_as_it_was_written() -> None:
    document = plan("shop-relax")
    assert Plan.model_validate_json(to_json(document)) == document
    assert Plan.model_validate(yaml.safe_load(to_yaml(document))) == document


def test_the_schema_of_a_plan_names_the_fields_that_checks_rely_on() -> None:
    schema = json_schema("Plan")
    expected = "status objectives placements unplaced violations waves verification statistics"
    assert set(expected.split()) <= set(schema["properties"])
    fields = {kind: set(found["properties"]) for kind, found in schema["$defs"].items()}
    assert {"name", "value", "bound"} <= fields["Objective"]
    assert {"pod", "node", "from", "reason"} <= fields["Placement"]
    assert {"pod", "diagnosis"} <= fields["Unplaced"]
    assert {"constraint", "domain", "count", "allowed", "pods"} <= fields["PlanViolation"]
    assert {"action", "pod", "node", "from", "to"} <= fields["Step"]
    assert {"steady", "admissible", "capacity", "budgets"} <= fields["PlanVerification"]


def test_the_same_input_gives_the_same_bytes() -> None:
    assert to_json(plan("shop-rebalance")) == to_json(plan("shop-rebalance"))
    assert to_json(plan("zone-outage-rebalance")) == to_json(plan("zone-outage-rebalance"))


def test_names_are_the_pods_that_get_another_node() -> None:
    text = to_text(written("shop"), Output.NAME, plan_table)
    assert text == "pod/cron-77fd-h6ktw\npod/cron-77fd-s9dlz\n"


def test_pods_of_planner_s_own_making_go_by_their_workload() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}
    web = workload("Deployment", "web", {"replicas": 2, "template": template})
    document = planned(cluster_of(node("n1"), web), SolveOptions())
    assert len(document.placements) == 2
    assert to_text(document, Output.NAME, plan_table) == "deploy/web\n"


def test_markdown_lists_steps() -> None:
    text = to_text(written("shop"), Output.MARKDOWN, plan_table)
    assert "\n- `!` report-29384-m5vkd needs 6 CPU; the largest node has 4\n" in text


def test_many_pods_with_one_reason_are_one_line() -> None:
    waiting = [pod(f"web-{i}", metadata=owned("ReplicaSet", "web")) for i in range(9)]
    document = planned(
        cluster_of(node("a", spec={"unschedulable": True}), *waiting), SolveOptions()
    )
    assert "  ! 9 pods of rs/web  every node is cordoned\n" in table(document)


def test_a_plan_that_is_not_proven_says_what_is_left_to_win() -> None:
    document = written("zone-outage-rebalance")
    level = Objective(name="moves", value=48, bound=41, direction="min")
    doubtful = document.model_copy(
        update={"status": "feasible", "stopped": "timeLimit", "objectives": (level,)}
    )
    assert "Feasible: 48 moves; at least 41 are needed (gap 15%). Time limit of 60s.\n" in table(
        doubtful
    )
    assert "Next: --time-limit 300, or take this plan.\n" in table(doubtful)


def test_a_plan_that_places_the_most_does_not_ask_for_more_time() -> None:
    document = written("zone-outage-rebalance")
    level = Objective(name="moves", value=19, bound=0, direction="min")
    most = document.model_copy(
        update={"status": "feasible", "stopped": "placed", "objectives": (level,)}
    )
    said = "Feasible: 19 moves, not proven the fewest. No plan places more, which ended the search."
    assert f"{said}\n" in to_text(most, Output.MARKDOWN, plan_table)
    assert "Time limit" not in table(most)
    assert "--time-limit" not in table(most)


def test_namespaces_are_shown_where_there_are_several() -> None:
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    pods = [
        pod(
            f"{space}-{i}",
            "a",
            spec={"topologySpreadConstraints": spread},
            metadata={"namespace": space, "labels": {"app": "web"}, **owned("ReplicaSet", "web")},
        )
        for space in ("one", "two")
        for i in range(2)
    ]
    document = planned(cluster_of(node("a"), node("b", "b"), *pods), SolveOptions(rebalance=True))
    assert "~ one/one-0" in table(document)
    assert "one/rs/web" in table(document)


def test_a_plan_that_may_place_too_few_says_of_which_priority() -> None:
    levels = (
        Objective(name="placed 1000", value=1, bound=3, direction="max"),
        Objective(name="placed 0", value=7, bound=9, direction="max"),
    )
    doubtful = written("shop").model_copy(
        update={"status": "feasible", "stopped": "interrupted", "objectives": levels}
    )
    assert proof(doubtful).text == (
        "Feasible: 1 pod of priority 1000 placed; at most 3 are possible (gap 67%). Interrupted."
    )


def test_wide_shows_counts_as_bars_against_what_is_allowed() -> None:
    document = plan("zone-outage-rebalance")
    lines = to_text(document, Output.WIDE, plan_table).splitlines()
    assert "deploy/api now       1          6 =#####  6 =#####  0" in lines
    assert "deploy/api after     5          4 ====    4 ====    4 ====" in lines


def test_wishes_that_are_not_proven_are_said_beside_what_is() -> None:
    document = written("zone-outage-rebalance")
    balance = Objective(name="balance", value=9990, bound=120, direction="min")
    wishful = document.model_copy(update={"objectives": (*document.objectives, balance)})
    assert proof(wishful).text.endswith("Not proven: imbalance 9990, at least 120.")
    assert "Not proven" not in proof(document).text


def test_only_a_proof_makes_a_plan_all_that_is_possible() -> None:
    document = written("shop-rebalance")
    proven = table(document)
    unproven = table(document.model_copy(update={"status": "feasible"}))
    assert "4 of 6 are possible" in proven
    assert "are possible" not in unproven
    assert "this plan 4 of 6" in unproven


def test_who_runs_once_terminating_pods_are_gone_is_told_apart_from_who_can_t() -> None:
    deleted = {"deletionTimestamp": "2026-11-17T10:00:00Z"}
    cluster = cluster_of(
        node("n1", status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}),
        pod("old", "n1", spec=_cpu("3"), metadata=deleted),
        pod("new", spec=_cpu("3")),
    )
    found = planned(cluster, SolveOptions())
    assert [each.soon for each in found.unplaced] == [True]
    said = "1 can't be placed (1 runs once terminating pods are gone)."
    assert plan_table.headline(found) == f"Plan: 0 to place, 0 to move, {said}"


def test_a_long_plan_says_what_each_placed_pod_costs() -> None:
    found = plan("shop-rebalance")
    pods = tuple(f.model_copy(update={"from_": None}) for f in found.placements[:1]) * 25
    long = found.model_copy(update={"placements": pods, "evictions_per_placed_pod": 1.25})
    assert "1.25 evictions for each pod placed." in plan_table.headline(long)


def test_evictions_are_counted_for_each_pod_that_was_pending() -> None:
    cluster = cluster_of(
        node("n1", status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}),
        node("n2", status={"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "10"}}),
        pod("small", "n1", spec=_cpu("2"), metadata=owned("ReplicaSet", "small")),
        pod("big", spec=_cpu("4")),
    )
    assert planned(cluster, SolveOptions(rebalance=True)).evictions_per_placed_pod == 1.0
    assert planned(cluster, SolveOptions()).evictions_per_placed_pod is None


def _cpu(amount: str) -> dict[str, object]:
    asked = {"requests": {"cpu": amount}}
    return {"containers": [{"name": "c", "image": "x", "resources": asked}]}
