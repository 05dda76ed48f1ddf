"""What is counted node by node is never less than what any order of placements reaches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.capacity import CapacityOptions, capacity, ready
from planner.capacity.demand import Enlarged, demand_of, with_more
from planner.capacity.moves import usable_nodes
from planner.capacity.slots import most_slots
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, owned, pod, template, workload

WEB = WorkloadRef("default", "Deployment", "web")
MORE = 7


def constraint(key: str, skew: int, **fields: object) -> Json:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **fields,
    }


@st.composite
def clusters(draw: st.DrawFn, others: int = 0) -> Cluster:
    """Two or three nodes of 500m to 2 CPU, some web pods there, up to two hard constraints.

    So many `others` at most, of any size, run there as well.
    """
    count = draw(st.integers(2, 3))
    cpus = st.sampled_from(("500m", "1", "2"))
    nodes = [
        node(f"n{i}", draw(st.sampled_from("ab")), status={"allocatable": {"cpu": draw(cpus)}})
        for i in range(count)
    ]
    keys = draw(st.lists(st.sampled_from((ZONE, HOSTNAME)), max_size=2, unique=True))
    rules = [constraint(key, draw(st.integers(1, 2))) for key in keys]
    if rules and draw(st.sampled_from((True, False))):
        rules[0]["minDomains"] = draw(st.integers(1, 3))
    spec = {"topologySpreadConstraints": rules}
    homes = draw(st.lists(st.integers(0, count - 1), max_size=2))
    metadata = {"labels": {"app": "web"}, **owned("ReplicaSet", "web-1")}
    running = [pod(f"web-{i}", f"n{home}", metadata=metadata) for i, home in enumerate(homes)]
    web = workload("Deployment", "web", {"replicas": 1, "template": template(spec=spec)})
    sizes = draw(st.lists(st.sampled_from(("100m", "700m", "1500m")), max_size=others))
    for i, size in enumerate(sizes):
        main = {"name": "main", "resources": {"requests": {"cpu": size}}}
        home = draw(st.integers(0, count - 1))
        running.append(pod(f"other-{i}", f"n{home}", spec={"containers": [main]}))
    return cluster_of(*nodes, web, *running)


def most_in_any_order(one: Enlarged) -> int:
    """All sequences of placements on nodes that pass, whichever scores best."""
    state = SchedulingState(one.cluster)
    scheduler = Scheduler(state, default_profile())
    waiting = list(one.every)
    seen: set[tuple[int, ...]] = set()

    def reached(placed: int) -> int:
        counts = tuple(sorted(int(state.node_of[each]) for each in waiting[:placed]))
        if counts in seen or placed == len(waiting):
            return placed
        seen.add(counts)
        best = placed
        for each in scheduler.evaluate(waiting[placed]).feasible.tolist():
            state.place(waiting[placed], each)
            best = max(best, reached(placed + 1))
            state.remove(waiting[placed], -1)
        return best

    return reached(0)


@settings(max_examples=60)
@given(clusters())
def test_no_order_of_placements_reaches_more(cluster: Cluster) -> None:
    now, _ = ready(cluster, default_profile())
    more = with_more(now, [demand_of(now, WEB)], MORE)
    group = more.cluster.groups[int(more.cluster.group_of[more.every[0]])]
    bound = most_slots(more.cluster, usable_nodes(more.cluster, group.spec), group.index)
    assert most_in_any_order(more) <= min(bound, MORE)


def most_with_moves(one: Enlarged, moves: int) -> int:
    """The same, with moves of running pods wherever they pass, in between."""
    state = SchedulingState(one.cluster)
    scheduler = Scheduler(state, default_profile())
    waiting, running = list(one.every), one.cluster.running.tolist()
    seen: set[tuple[object, ...]] = set()

    def reached(placed: int, left: int) -> int:
        new = tuple(sorted(int(state.node_of[each]) for each in waiting[:placed]))
        key = (new, tuple(state.node_of[running].tolist()), left)
        if key in seen or placed == len(waiting):
            return placed
        seen.add(key)
        best = placed
        for each in scheduler.evaluate(waiting[placed]).feasible.tolist():
            state.place(waiting[placed], each)
            best = max(best, reached(placed + 1, left))
            state.remove(waiting[placed], -1)
        for mover in running if left else ():
            home = int(state.node_of[mover])
            state.remove(mover, -1)
            for each in scheduler.evaluate(mover).feasible.tolist():
                if each != home:
                    state.place(mover, each)
                    best = max(best, reached(placed, left - 1))
                    state.remove(mover, -1)
            state.place(mover, home)
        return best

    return reached(0, moves)


@settings(max_examples=40)
@given(clusters(others=2), st.integers(1, 2))
def test_no_moves_of_others_reach_more(cluster: Cluster, moves: int) -> None:
    now, _ = ready(cluster, default_profile())
    more = with_more(now, [demand_of(now, WEB)], MORE)
    group = more.cluster.groups[int(more.cluster.group_of[more.every[0]])]
    usable = usable_nodes(more.cluster, group.spec)
    bound = most_slots(more.cluster, usable, group.index, moves)
    assert most_with_moves(more, moves) <= min(bound, MORE)


def test_a_small_zone_limits_the_others() -> None:
    """Room for 8 in zone a and 2 in zone b: with maxSkew 1 no more than 2 and 3."""
    small = node("n2", "b", status={"allocatable": {"cpu": "1"}})
    spec = {"topologySpreadConstraints": [constraint(ZONE, 1)]}
    web = workload("Deployment", "web", {"replicas": 0, "template": template(spec=spec)})
    now, _ = ready(cluster_of(node("n1", "a"), small, web), default_profile())
    options = CapacityOptions(moves=0, survive=None)
    found = capacity(now, [demand_of(now, WEB)], default_profile(), options)
    assert found.best is not None
    assert (found.now.sets, found.best.count, found.best.bound) == (5, 5, 5)


def test_in_a_large_cluster_what_fits_after_each_loss_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    web = workload("Deployment", "web", {"replicas": 1, "template": template()})
    now, _ = ready(cluster_of(node("n1", "a"), node("n2", "b"), web), default_profile())
    monkeypatch.setattr("planner.capacity.survive.affordable", lambda _pods, _nodes: 0)
    options = CapacityOptions(moves=0, survive="zone")
    found = capacity(now, [demand_of(now, WEB)], default_profile(), options)
    assert found.survive is not None
    assert (found.survive.sets, found.survive.seeds) == (7, 0)
