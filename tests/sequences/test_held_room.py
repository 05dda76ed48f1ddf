"""Room that is held by cordons for whom it is meant."""

from __future__ import annotations

from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.full_clusters import full_cluster
from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.replay import check_steps
from planner.replay.steps import Step
from planner.replay.trial import Trial
from planner.scheduler.profile import default_profile
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.held_room import Way, waves_with_held_room
from planner.sequences.plan import problem_of
from planner.sequences.scheduler_replay import departing, manner
from planner.sequences.waves import Waves, cut_waves, guess_waves
from planner.solver.problem.options import SolveOptions
from planner_models.node import ZONE
from tests.sequences.few_pods import cluster, node, pods
from tests.sequences.test_draft import index

PROFILE = default_profile()


def held(built: Cluster, *steps: Step, way: Way = "held", draw: int = 0) -> Waves:
    problem = problem_of(built, SolveOptions(rebalance=True), PROFILE)
    waves = waves_with_held_room(problem, steps, way, draw)
    assert waves is not None
    return cut_waves(built, waves, allowances(built))


def told(built: Cluster, waves: Waves) -> list[str]:
    """A line for each wave."""
    names = [each.name for each in built.nodes]

    def word(step: Step) -> str:
        who = f" {built.pods[step.pod].name[0]}" if step.pod >= 0 else ""
        return f"{step.action}{who} {names[step.node]}"

    return [", ".join(map(word, wave)) for wave in waves.waves]


def driven(built: Cluster, waves: Waves) -> bool:
    going = departing(waves)
    trial = Trial(built, PROFILE, allowances(built), [p for w in going for p in w.evictions])
    return any(trial.run(going, manner(seed), unlimited=True).driven for seed in range(20))


def chain() -> tuple[Cluster, tuple[Step, ...]]:
    """a leaves y for z, b takes its place, and c, which waits, that of b on x.

    d waits as well and would fit where a was; then b would drive off e, which is less important.
    """
    built = cluster(
        [
            *(node(name, cpu=cpu) for name, cpu in zip("xyzw", "4323", strict=True)),
            *(node(f"small-{i}", cpu="1") for i in range(16)),
        ],
        pods("y", cpu="2"),
        pods("x", app="b", cpu="3", priority=10),
        pods("", app="c", cpu="4", priority=10),
        pods("", app="d", cpu="3"),
        pods("w", app="e", cpu="3"),
    )
    a, b, c = (index(built, name) for name in "abc")
    x, y, z = (built.node_index[name] for name in "xyz")
    return built, (Step.move(a, z), Step.move(b, y), Step.place(c, x))


def test_a_node_is_cordoned_until_the_pod_comes_for_which_it_was_emptied() -> None:
    built, steps = chain()
    assert told(built, held(built, *steps)) == [
        "cordon y, move a z",
        "cordon w, cordon x, evict b x",
        "uncordon w, uncordon y, place b y",
        "uncordon x, place c x",
    ]


def test_nobody_is_driven_off_where_room_is_held() -> None:
    built, steps = chain()
    plain = guess_waves(built, steps, allowances(built))
    assert plain is not None
    assert driven(built, plain)
    assert not driven(built, held(built, *steps))


def test_of_pods_that_change_places_the_least_important_one_waits() -> None:
    """a and b have no room beside each other; c gets what the change leaves on x."""
    built = cluster(
        [node("x", cpu="3"), node("y", cpu="2")],
        pods("x", cpu="2", priority=10),
        pods("y", app="b", cpu="2"),
        pods("", app="c", cpu="1"),
    )
    a, b, c = (index(built, name) for name in "abc")
    x, y = built.node_index["x"], built.node_index["y"]
    steps = (Step.evict(b, y), Step.move(a, y), Step.place(b, x), Step.place(c, x))
    assert next(step for step in held(built, *steps).steps if step.evicts) == Step.evict(b, y)


def test_what_has_no_room_in_the_end_has_no_waves() -> None:
    built = cluster(
        [node("x", cpu="3"), node("y", cpu="2")],
        pods("x", cpu="2"),
        pods("", app="b", cpu="3"),
    )
    problem = problem_of(built, SolveOptions(rebalance=True), PROFILE)
    assert waves_with_held_room(problem, (Step.place(index(built, "b"), 0),)) is None


def small_and_large() -> tuple[Cluster, tuple[Step, ...]]:
    """a leaves x and b leaves y; s and l wait with the same priority, for x and for y.

    s would fit on y as well; then l finds room only there, in the place of c.
    """
    here = {ZONE: "one"}
    built = cluster(
        [node("x", "one", cpu="4"), node("y", "one", cpu="9"), node("z", "two", cpu="10")],
        pods("x", cpu="4", priority=10),
        pods("y", app="b", cpu="6", priority=10),
        pods("y", app="c", cpu="3"),
        pods("", app="s", cpu="4", nodeSelector=here, priority=10),
        pods("", app="l", cpu="5", nodeSelector=here, priority=10),
    )
    a, b, small, large = (index(built, name) for name in "absl")
    x, y, z = (built.node_index[name] for name in "xyz")
    return built, (Step.move(b, z), Step.move(a, z), Step.place(large, y), Step.place(small, x))


def test_the_node_that_only_the_small_pod_can_take_is_opened_before_that_of_the_large_one() -> None:
    built, steps = small_and_large()
    waves = held(built, *steps, way="lasting")
    landed = [step for step in waves.steps if step.action == "place"]
    assert [built.pods[step.pod].name[0] for step in landed][-2:] == ["s", "l"]
    assert driven(built, held(built, *steps))
    assert not driven(built, waves)


def test_all_cordons_are_lifted_in_a_last_wave_where_other_room_is_closed() -> None:
    built, steps = small_and_large()
    last = held(built, *steps, way="lasting").waves[-1]
    assert {step.action for step in last} == {"uncordon"}


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from(("sizes", "flavours")),
    way=st.sampled_from(get_args(Way)),
    draw=st.integers(0, 4),
)
def test_the_same_pods_end_on_the_same_nodes_by_legal_steps(
    seed: int, shape: str, way: Way, draw: int
) -> None:
    built = full_cluster(6, "sizes" if shape == "sizes" else "flavours", seed)
    problem = problem_of(built, SolveOptions(rebalance=True), PROFILE)
    for steps in few_evictions_each(problem, PROFILE, allowances(built)):
        found = held(built, *steps, way=way, draw=draw)
        checked = check_steps(built, found.steps, PROFILE)
        assert checked.good
        wanted = check_steps(built, steps, PROFILE).after
        assert (checked.after.node_of == wanted.node_of).all()
        cordons = [s.node for s in found.steps if s.action == "cordon"]
        assert sorted(cordons) == sorted(s.node for s in found.steps if s.action == "uncordon")


def test_nodes_that_are_as_good_to_open_next_come_in_an_order_that_is_drawn() -> None:
    built = cluster(
        [node(name, cpu="2") for name in "uvwxyz"],
        *(pods(home, app=app, cpu="2") for app, home in zip("abc", "uvw", strict=True)),
    )
    steps = tuple(
        Step.move(index(built, app), built.node_index[to])
        for app, to in zip("abc", "xyz", strict=True)
    )
    orders = {
        tuple(
            step.pod for step in held(built, *steps, way="lasting", draw=draw).steps if step.evicts
        )
        for draw in range(8)
    }
    assert len(orders) > 1
