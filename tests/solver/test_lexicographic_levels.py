from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

import planner
from planner.solver import tuning
from planner.solver.exact import lexicographic
from planner.solver.model.engine import Goal, Outcome, optimise
from planner.solver.model.model import Model
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.problem.solution import BrokenRule
from planner.solver.progress import Progress, silent
from planner.solver.route import solve_in_full as solve
from planner_models.selectors import LabelSelector
from tests.solver.problems import (
    ABC,
    HOSTNAME,
    REQUIRED,
    ZONE,
    cluster,
    node,
    on,
    problem,
    solved,
    spread,
    term,
    values,
    workload,
)

ONE = [node("n1", "a", cpu="2")]


def test_one_important_pod_goes_before_two_others() -> None:
    found = solved(ONE, workload("low", "", ""), workload("high", "", cpu="2", priority=10))
    assert values(found) == {"placed 10": 1, "placed 0": 0, "preferences": 0}


def test_placing_a_pod_goes_before_keeping_pods_in_place() -> None:
    nodes = [node("n1", "a", cpu="2"), node("n2", "a", cpu="1")]
    found = solved(nodes, workload("low", "n1"), workload("big", "", cpu="2"), rebalance=True)
    assert (values(found)["placed 0"], values(found)["moves"]) == (1, 1)


def test_fewer_moves_go_before_wishes() -> None:
    soft = spread(whenUnsatisfiable="ScheduleAnyway")
    found = solved(ABC[:2], workload("web", "n1", "n1", constraints=(soft,)), rebalance=True)
    assert (values(found)["moves"], values(found)["preferences"]) == (0, 200)


def test_no_more_moves_than_allowed() -> None:
    pods = workload("web", *["n1"] * 6, *["n2"] * 6, constraints=(spread(),))
    found = solved(ABC, pods, rebalance=True, max_moves=2)
    assert (values(found)["excess"], values(found)["moves"]) == (4, 2)


def test_moves_can_be_weighed_by_priority() -> None:
    """Either the important pod moves or the two others do."""
    nodes = [node("n1", "a", cpu="4"), node("n2", "a", cpu="2")]
    high = workload("high", "n1", cpu="2", priority=10)
    low = workload("low", "n1", "n1", priority=1)
    big = workload("big", "", cpu="2")
    one = solved(nodes, high, low, big, rebalance=True)
    assert values(one)["moves"] == 0
    full = workload("big", "", cpu="4", nodeSelector={HOSTNAME: "n1"})
    roomy = [nodes[0], node("n2", "a", cpu="4")]
    assert values(solved(roomy, high, low, full, rebalance=True))["moves"] == 3
    weighed = solved(roomy, high, low, full, rebalance=True, move_cost="priority")
    assert values(weighed)["moves"] == 1 + 1 + 2


@pytest.mark.parametrize(
    "options",
    [
        {"immovable": LabelSelector(match_labels={"app": "web"})},
        {"movable": LabelSelector(match_labels={"app": "other"})},
    ],
)
def test_chosen_pods_stay(options: dict[str, LabelSelector]) -> None:
    pods = workload("web", *["n1"] * 6, constraints=(spread(),))
    found = solved(ABC, pods, rebalance=True, **options)
    assert found.levels[0].value == 5
    assert found.counts == {}


def test_pods_that_nobody_brings_back_stay() -> None:
    pods = workload("web", *["n1"] * 6, constraints=(spread(),), bare=True)
    assert values(solved(ABC, pods, rebalance=True))["excess"] == 5


def test_balance_fills_nodes_evenly_and_pack_fills_few() -> None:
    pods = workload("web", *[""] * 4)
    nodes = [node("n1", cpu="8"), node("n2", cpu="8")]
    built = cluster(nodes, pods)
    even = solve(build_problem(built, SolveOptions(prefer="balance")))
    assert on(built, even)["web"] == {"n1": 2, "n2": 2}
    packed = solve(build_problem(built, SolveOptions(prefer="pack")))
    assert values(packed)["pack"] == 1


# --relax


def test_relax_places_everything_that_fits_and_names_what_it_breaks() -> None:
    nodes = [node("n1", "a"), node("n2", "b", cpu="0")]
    found = solved(nodes, workload("web", "", "", "", constraints=(spread(),)), relax=True)
    assert values(found) == {"placed 0": 3, "broken": 2, "preferences": 0}
    zone = "topology.kubernetes.io/zone"
    assert found.broken == (BrokenRule("topologySpread", 0, 0, zone, "a", 3, 1),)


def test_relax_breaks_nothing_where_nothing_needs_to_break() -> None:
    found = solved(ABC, workload("web", "", "", "", constraints=(spread(),)), relax=True)
    assert (values(found)["broken"], found.broken) == (0, ())


def test_relax_keeps_capacity_and_static_rules() -> None:
    assert values(solved(ONE, workload("web", *[""] * 3), relax=True))["placed 0"] == 2


def test_relax_counts_pods_against_anti_affinity() -> None:
    shy = {"podAntiAffinity": {REQUIRED: [term("web")]}}
    found = solved(ABC[:1], workload("web", "", "", affinity=shy), relax=True)
    assert values(found)["broken"] == 2
    assert [(b.rule, b.domain, b.count) for b in found.broken] == [("podAntiAffinity", "n1", 2)]


# --preempt


def test_preempt_lets_a_lower_pod_lose_its_place() -> None:
    pods = (workload("low", "n1", "n1", priority=1), workload("high", "", cpu="2", priority=10))
    assert values(solved(ONE, *pods))["placed 10"] == 0
    found = solved(ONE, *pods, preempt=True)
    assert (values(found)["placed 10"], values(found)["placed 1"]) == (1, 0)
    assert list(found.displaced.values()) == [2]


def test_a_preempted_pod_goes_elsewhere_if_it_can() -> None:
    pods = (workload("low", "n1", "n1", priority=1), workload("high", "", cpu="2", priority=10))
    found = solved([*ONE, node("n2", cpu="1")], *pods, preempt=True)
    assert (values(found)["placed 10"], values(found)["placed 1"]) == (1, 1)
    assert list(found.displaced.values()) == [1]


def test_equal_priority_is_not_preempted() -> None:
    pods = (workload("low", "n1", "n1", priority=10), workload("high", "", priority=10))
    assert values(solved(ONE, *pods, preempt=True))["placed 10"] == 0


# The search itself


def test_the_same_problem_gives_the_same_counts_twice() -> None:
    built = planner.load(example="zone-outage-scaled").snapshot
    options = SolveOptions(rebalance=True, prefer="balance", seed=3)
    first, second = (solve(build_problem(built, options)) for _ in range(2))
    assert (first.counts, first.levels) == (second.counts, second.levels)


def test_states_that_are_cut_off_don_t_come_back() -> None:
    posed = problem(ABC, workload("web", "", constraints=(spread(),)))
    seen: list[dict[tuple[int, int], int]] = []
    while (found := solve(posed, cut_off=seen)).status != "infeasible":
        assert found.counts not in seen
        seen.append(dict(found.counts))
    assert sorted(map(len, seen)) == [0, 1, 1, 1]


def test_the_next_best_follows_the_best() -> None:
    posed = problem(ABC, workload("web", *["n1"] * 3, "", constraints=(spread(),)), rebalance=True)
    best = solve(posed)
    second = solve(posed, cut_off=[best.counts])
    assert second.counts != best.counts
    assert [level.value for level in second.levels] >= [level.value for level in best.levels]


def test_active_groups_alone_reach_what_all_groups_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    built = planner.load(example="zone-outage").snapshot
    posed = build_problem(built, SolveOptions(rebalance=True))
    whole = solve(posed)
    monkeypatch.setattr(tuning, "SMALL_CELLS", 0)
    part = solve(posed)
    assert part.statistics.cells <= whole.statistics.cells
    assert [level.value for level in part.levels[:2]] == [level.value for level in whole.levels[:2]]
    assert part.rules_proven
    assert sum(part.counts.values()) == sum(whole.counts.values())


def test_groups_in_the_way_get_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "SMALL_CELLS", 0)
    nodes = [node("n1", "a", cpu="2"), node("n2", "a", cpu="1")]
    low = workload("low", "n1", constraints=(spread(app="low"),))
    found = solved(nodes, low, workload("big", "", cpu="2"), rebalance=True)
    assert (values(found)["placed 0"], values(found)["moves"]) == (1, 1)
    assert found.status == "optimal"


def test_a_good_state_to_begin_with_is_used_and_a_wrong_one_is_not_believed() -> None:
    posed = problem(ABC, workload("web", *["n1"] * 3, "", constraints=(spread(),)), rebalance=True)
    best = solve(posed)
    assert solve(posed, start=best.counts).levels == best.levels
    crowded = {(0, 0): 4}
    assert solve(posed, start=crowded).levels == best.levels
    nowhere = {(7, 7): 1}
    assert solve(posed, start=nowhere).levels == best.levels


def test_progress_is_told_level_by_level() -> None:
    told: list[Progress] = []
    pods = workload("web", *["n1"] * 4, "", constraints=(spread(),))
    solve(problem(ABC, pods, rebalance=True), report=told.append)
    assert {each.level for each in told} >= {"placed 0", "excess", "moves"}
    assert all(each.seconds >= 0 for each in told)


@pytest.mark.usefixtures("ctrl_c_reaches_python")
def test_an_interrupt_leaves_the_best_state_so_far() -> None:
    """Ctrl-C arrives during the first search: what is reported is legal, and not called optimal."""
    armed = threading.Event()

    def interrupt(progress: Progress) -> None:
        if not armed.is_set():
            armed.set()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.5)  # the search waits here, and so the main thread hears of it in time

    pods = workload("web", *["n1"] * 6, "", constraints=(spread(), spread(1, HOSTNAME)))
    found = solve(problem(ABC, pods, rebalance=True), report=interrupt)
    assert found.interrupted
    assert found.status in ("feasible", "optimal")
    assert sum(found.counts.values()) == 7 - sum(found.unplaced.values())


def test_without_time_the_present_state_is_the_answer() -> None:
    pods = workload("web", *["n1"] * 6, constraints=(spread(),))
    found = solved(ABC, pods, rebalance=True, time_limit=0.0)
    assert found.status == "feasible"
    assert (values(found)["excess"], values(found)["moves"]) == (5, 0)
    assert found.levels[0].bound == 0


# Packaged examples


@pytest.mark.parametrize(("name", "moves"), [("zone-outage", 12), ("zone-outage-scaled", 5)])
def test_the_outage_ends_without_excess_by_the_fewest_moves(name: str, moves: int) -> None:
    found = solve(build_problem(planner.load(example=name).snapshot, SolveOptions(rebalance=True)))
    assert (values(found)["excess"], values(found)["moves"]) == (0, moves)
    assert found.status == "optimal"
    assert not found.unplaced


def test_staying_put_leaves_an_excess_of_27_after_the_outage() -> None:
    built = planner.load(example="zone-outage").snapshot
    found = solve(build_problem(built, SolveOptions(rebalance=True, max_moves=0)))
    assert values(found)["excess"] == 27


def test_the_grid_of_racks_and_rows_needs_one_move() -> None:
    found = solve(
        build_problem(planner.load(example="rack-row-grid").snapshot, SolveOptions(rebalance=True))
    )
    assert (values(found)["placed 0"], values(found)["excess"], values(found)["moves"]) == (1, 0, 1)
    assert found.status == "optimal"


def test_a_state_to_begin_with_is_not_lost_to_one_that_is_no_better_in_the_first_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The two high ones can't share a zone, and no time is left for the low ones after that."""
    apart = {"podAntiAffinity": {REQUIRED: [term("high", ZONE)]}}
    high = workload("high", "", "", priority=10, affinity=apart)
    question = problem([node("n1", "a"), node("n2", "a")], high, workload("low", *[""] * 4))
    (first, second) = question.groups
    start = {(first, 0): 1, (second, 1): 4}
    asked = [0]

    def once(model: Model, goal: Goal, **given: Any) -> Outcome:
        asked[0] += not given.get("fix_hint")
        if given.get("fix_hint") or asked[0] == 1:
            return optimise(
                model, goal, **{**given, "hint": given["hint"] if asked[0] != 1 else []}
            )
        return Outcome(None, 0, complete=False, time=0.0, interrupted=False)

    monkeypatch.setattr(lexicographic, "optimise", once)
    found = solve(question, start=start)
    assert (values(found)["placed 10"], values(found)["placed 0"]) == (1, 4)


def test_a_search_that_ends_early_never_places_fewer_pods_than_it_began_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = problem([node("n1", cpu="3")], workload("web", "", ""), workload("api", "", ""))
    (web, api) = question.groups

    def worse(model: Model, goal: Goal, **given: Any) -> Outcome:
        if given.get("fix_hint"):
            return optimise(model, goal, **given)
        found = optimise(model, Goal(goal.expression, maximise=False), **given)
        return replace(found, bound=4, complete=False)

    monkeypatch.setattr(lexicographic, "optimise", worse)
    search = lexicographic.Search(question, (), silent, 60.0)
    search.judge_rules({(web, 0): 2, (api, 0): 1})
    assert search.levels[0].value == 3
