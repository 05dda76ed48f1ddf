"""Plans as sequences: what the search, the ordering and the checker say, against brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.replay import Step, check_steps, total, violations
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner.sequences.exhaustive import search
from planner.sequences.filter_cache import FilterCache
from planner.sequences.group_dependencies import GroupDependencies
from planner.sequences.order import NoOrder, Order, find_order
from planner.sequences.violation_total import ViolationTotal, start_table
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Cell, Problem, build_problem
from tests.agreement import brute_force
from tests.agreement.brute_force import NOWHERE, Where, World
from tests.agreement.clusters import clusters, random_cluster

PROFILE = default_profile()
REBALANCE = SolveOptions(rebalance=True)

USUAL = settings().max_examples
seeds = st.integers(0, 10**9)


@settings(max_examples=2 * USUAL)
@given(seeds, st.booleans())
def test_the_search_over_groups_finds_the_optimum_of_all_sequences_of_pods(
    seed: int, rebalance: bool
) -> None:
    cluster = random_cluster(seed, nodes=4, pods=4)
    best = brute_force.optimum(World.of(cluster, rebalance=rebalance))
    found = search(build_problem(cluster, SolveOptions(rebalance=rebalance)), PROFILE)
    assert found.complete
    assert (found.value.placed, found.value.cost) == (best[0], best[2])
    assert not rebalance or found.value.violations == best[1]


@settings(max_examples=USUAL)
@given(seeds, st.booleans())
def test_the_search_knows_who_may_lose_the_place(seed: int, rebalance: bool) -> None:
    cluster = random_cluster(seed, nodes=4, pods=4)
    options = SolveOptions(rebalance=rebalance, preempt=True)
    world = World.of(cluster, rebalance=rebalance, preempt=True)
    found = search(build_problem(cluster, options), PROFILE)
    assert found.complete
    best = brute_force.optimum(world, preempt=True, steady=rebalance)
    assert (found.value.placed, found.value.cost) == (best[0], best[2])
    assert not rebalance or found.value.violations == best[1]


@given(clusters(nodes=5, pods=8), st.booleans())
def test_the_steps_of_an_optimum_pass_the_checker_and_are_worth_what_is_said(
    cluster: Cluster, rebalance: bool
) -> None:
    found = search(build_problem(cluster, SolveOptions(rebalance=rebalance)), PROFILE)
    checked = check_steps(cluster, found.steps, PROFILE)
    assert checked.good, checked.faults
    assert checked.evictions == found.value.cost
    assert total(violations(checked.after, PROFILE)) == found.value.violations
    placed = sum(step.action == "place" for step in found.steps) - checked.evictions
    assert placed == sum(found.value.placed)


@settings(max_examples=USUAL * 2 // 5)
@given(seeds, st.booleans(), st.data())
def test_an_order_is_found_exactly_for_the_states_that_brute_force_reaches(
    seed: int, plain: bool, data: st.DataObject
) -> None:
    cluster = random_cluster(seed, nodes=4, pods=4, plain=plain)
    problem = build_problem(cluster, REBALANCE)
    world = World.of(cluster, rebalance=True)
    reached = {
        counts(problem, where)
        for where, evictions in brute_force.reachable(world).items()
        if evictions == departures(problem, dict(counts(problem, where)))
    }
    wanted = data.draw(st.lists(placements(world), max_size=8))
    chosen = sorted({counts(problem, where) for where in wanted} | set(sorted(reached)[:8]))
    for state in chosen:
        found = find_order(problem, dict(state), PROFILE)
        assert isinstance(found, Order if state in reached else NoOrder), state
        if isinstance(found, Order):
            checked = check_steps(cluster, found.steps, PROFILE)
            assert checked.good, checked.faults
            assert counts(problem, tuple(checked.after.node_of.tolist())) == state


@settings(max_examples=USUAL * 6 // 5)
@given(seeds, st.booleans(), st.data())
def test_the_checker_judges_any_steps_as_a_naive_replay_does(
    seed: int, terminating: bool, data: st.DataObject
) -> None:
    cluster = random_cluster(seed, nodes=4, pods=5)
    world = World.of(cluster, rebalance=True)
    found = search(build_problem(cluster, REBALANCE), PROFILE)
    steps = list(found.steps)
    for _ in range(data.draw(st.integers(0, 2))):
        steps = mutated(data, cluster, steps)
    checked = check_steps(cluster, steps, PROFILE, terminating=terminating)
    assert checked.good == naive_replay(world, steps, terminating=terminating)


@given(clusters())
def test_violations_are_those_of_the_definitions(cluster: Cluster) -> None:
    world = World.of(cluster, rebalance=True)
    assert total(violations(cluster, PROFILE)) == brute_force.violations(world, world.start)


@given(clusters(), st.data())
def test_counting_violations_over_groups_is_the_same_as_over_pods(
    cluster: Cluster, data: st.DataObject
) -> None:
    problem = build_problem(cluster, REBALANCE)
    dependencies = GroupDependencies(cluster, PROFILE)
    now = total(violations(cluster, PROFILE))
    broken = ViolationTotal(problem, PROFILE, dependencies, problem.groups, now)
    world = World.of(cluster, rebalance=True)
    where = data.draw(placements(world))
    moved = cluster.with_placement(dict(enumerate(where)))
    table = np.zeros_like(start_table(problem, problem.groups))
    for (group, node), count in counts(problem, where):
        table[problem.groups.index(group), node] = count
    expected = total(violations(moved, PROFILE))
    assert broken.of(table.astype(np.uint8).tobytes()) == expected


@given(clusters(), st.data())
def test_open_nodes_are_those_that_the_scheduler_finds_feasible(
    cluster: Cluster, data: st.DataObject
) -> None:
    problem = build_problem(cluster, REBALANCE)
    nodes = range(len(cluster.nodes))
    dependencies = GroupDependencies(cluster, PROFILE)
    filters = FilterCache(problem, PROFILE, dependencies, problem.groups, nodes)
    world = World.of(cluster, rebalance=True)
    for where in data.draw(st.lists(placements(world, all_run=False), max_size=4)):
        state = SchedulingState(cluster.with_placement(dict(enumerate(where))))
        scheduler = Scheduler(state, PROFILE)
        table = np.zeros((len(problem.groups), len(nodes)), np.uint8)
        for (group, node), count in counts(problem, where):
            table[problem.groups.index(group), node] = count
        for pod in sorted(world.movable | world.waiting):
            if where[pod] == NOWHERE:
                opened = filters.open_nodes(
                    problem.groups.index(int(cluster.group_of[pod])), table.tobytes()
                )
                feasible = scheduler.evaluate(pod).feasible.tolist()
                assert [n for n in nodes if opened >> n & 1] == feasible


Counts = tuple[tuple[Cell, int], ...]


def counts(problem: Problem, where: Where) -> Counts:
    """Non-fixed pods by group and node."""
    cells = [
        (int(problem.cluster.group_of[pod]), where[pod])
        for pods in (*problem.movable.values(), *problem.waiting.values())
        for pod in pods
        if where[pod] != NOWHERE
    ]
    return tuple(sorted(Counter(cells).items()))


def departures(problem: Problem, final: dict[Cell, int]) -> int:
    return sum(max(0, len(pods) - final.get(cell, 0)) for cell, pods in problem.movable.items())


def placements(world: World, *, all_run: bool = True) -> st.SearchStrategy[Where]:
    """Movable pods on any nodes, waiting ones too or nowhere; everything else as it is."""
    anywhere = st.integers(0, len(world.nodes) - 1)
    options = []
    for pod, node in enumerate(world.start):
        if pod in world.movable:
            options.append(anywhere if all_run else anywhere | st.just(NOWHERE))
        elif pod in world.waiting:
            options.append(anywhere | st.just(NOWHERE))
        else:
            options.append(st.just(node))
    return st.tuples(*options)


def naive_replay(world: World, steps: Sequence[Step], *, terminating: bool) -> bool:
    """Old pods that are still terminating stand behind all others, as pods of their own."""
    size, evicted = len(world.pods), set[int]()
    old = tuple(msgspec.structs.replace(pod, terminating=True) for pod in world.pods)
    world = replace(world, pods=(*world.pods, *old))
    where = [*world.start, *[NOWHERE] * size]
    for step in steps:
        pod, node = step.pod, step.node
        if step.action == "evict":
            leaves = world.start[pod] == where[pod] == node and pod not in evicted
            if not leaves or world.pods[pod].terminating:
                return False
            evicted.add(pod)
            where[pod] = NOWHERE
            where[size + pod] = node if terminating else NOWHERE
        else:
            in_queue = pod in world.waiting or pod in evicted
            if not in_queue or where[pod] != NOWHERE:
                return False
            if not brute_force.passes(world, tuple(where), pod, node):
                return False
            where[pod] = node
            where[size + pod] = NOWHERE
    return all(where[pod] != NOWHERE for pod in evicted)


def mutated(data: st.DataObject, cluster: Cluster, steps: list[Step]) -> list[Step]:
    """One step left out, doubled, exchanged with another, sent elsewhere or made up."""
    pod = data.draw(st.integers(0, len(cluster.pods) - 1))
    node = data.draw(st.integers(0, len(cluster.nodes) - 1))
    made_up = data.draw(st.sampled_from((Step.evict(pod, node), Step.place(pod, node))))
    if not steps:
        return [made_up]
    i, j = (data.draw(st.integers(0, len(steps) - 1)) for _ in range(2))
    match data.draw(st.integers(0, 4)):
        case 0:
            return [*steps[:i], *steps[i + 1 :]]
        case 1:
            return [*steps[: i + 1], *steps[i:]]
        case 2:
            exchanged = list(steps)
            exchanged[i], exchanged[j] = steps[j], steps[i]
            return exchanged
        case 3:
            return [*steps[:i], Step(steps[i].action, steps[i].pod, node), *steps[i + 1 :]]
        case _:
            return [*steps[:i], made_up, *steps[i:]]
