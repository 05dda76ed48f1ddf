"""Evictions that are taken back, with as little else as possible."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.full_clusters import full_cluster
from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.replay.steps import Step
from planner.scheduler.profile import default_profile
from planner.sequences.draft import Draft
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.plan import problem_of
from planner.solver.problem.options import SolveOptions
from tests.sequences.few_pods import cluster, node, pods

PROFILE = default_profile()


def index(built: Cluster, name: str) -> int:
    return next(i for i, pod in enumerate(built.pods) if pod.name.startswith(name))


def test_who_was_to_get_the_room_waits_on() -> None:
    built = cluster(
        [node("x", cpu="2"), node("y", cpu="2")], pods("x", cpu="1"), pods("", app="b", cpu="2")
    )
    moved, waiting = index(built, "a"), index(built, "b")
    draft = Draft(built, (Step.evict(moved, 0), Step.place(moved, 1), Step.place(waiting, 0)))
    assert draft.without(moved).steps == ()


def test_of_pods_that_waited_the_lowest_priority_does_without() -> None:
    built = cluster(
        [node("x", cpu="2"), node("y", cpu="2")],
        pods("x", cpu="1"),
        pods("", app="high", cpu="1", priority=10),
        pods("", app="low", cpu="1"),
    )
    moved, high, low = (index(built, name) for name in ("a", "high", "low"))
    steps = (
        Step.evict(moved, 0),
        Step.place(moved, 1),
        Step.place(high, 0),
        Step.place(low, 0),
    )
    assert Draft(built, steps).without(moved).steps == (Step.place(high, 0),)


def test_a_pod_that_took_a_place_that_is_needed_again_stays_as_well() -> None:
    """a goes to y, b takes its place, and c, which waits, that of b."""
    built = cluster(
        [node("x", cpu="1"), node("y", cpu="1"), node("z", cpu="1")],
        pods("x", cpu="1"),
        pods("z", app="b", cpu="1"),
        pods("", app="c", cpu="1"),
    )
    a, b, c = (index(built, name) for name in "abc")
    steps = (
        *(Step.evict(a, 0), Step.place(a, 1)),
        *(Step.evict(b, 2), Step.place(b, 0)),
        Step.place(c, 2),
    )
    assert Draft(built, steps).without(a).steps == ()
    assert Draft(built, steps).without(b).steps == steps[:2]


def test_the_lowest_priority_gives_way_where_that_places_more_important_pods() -> None:
    """If a stays, w waits; or e stays as well, and v waits, which matters less."""
    built = cluster(
        [node("x", cpu="2"), node("y", cpu="1"), node("z", cpu="1")],
        pods("x", app="a", cpu="1"),
        pods("z", app="e", cpu="1"),
        pods("", app="w", cpu="1", priority=10),
        pods("", app="v", cpu="1"),
    )
    a, e, w, v = (index(built, name) for name in "aewv")
    steps = (
        *(Step.evict(a, 0), Step.place(a, 1)),
        *(Step.evict(e, 2), Step.place(e, 0)),
        *(Step.place(w, 0), Step.place(v, 2)),
    )
    assert Draft(built, steps).without(a).steps == (Step.place(w, 0),)


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(("sizes", "flavours")), data=st.data())
def test_whoever_stays_no_node_is_overfull_and_nobody_is_lost(
    seed: int, shape: str, data: st.DataObject
) -> None:
    built = full_cluster(6, "sizes" if shape == "sizes" else "flavours", seed)
    problem = problem_of(built, SolveOptions(rebalance=True), PROFILE)
    steps = next(few_evictions_each(problem, PROFILE, allowances(built)))
    draft = Draft(built, steps)
    while draft.evicted:
        draft = draft.without(data.draw(st.sampled_from(draft.evicted)))
        node_of = built.node_of.copy()
        for step in draft.steps:
            node_of[step.pod] = -1 if step.action == "evict" else step.node
        assert (node_of[built.running] >= 0).all()
        used = np.zeros_like(built.used)
        running = np.flatnonzero(node_of >= 0)
        np.add.at(used, node_of[running], built.resources.requests[built.group_of[running]])
        assert (used <= built.resources.allocatable).all()
