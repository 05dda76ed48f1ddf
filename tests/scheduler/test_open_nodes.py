"""The best of the nodes that rules leave open, against a look at all nodes with every rule."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import GONE, Cluster
from planner.scheduler import open_nodes
from planner.scheduler.cycle import Evaluation, Scheduler
from planner.scheduler.framework.changes import ChangeLog
from planner.scheduler.framework.node_table import EXACT, NodeTable
from planner.scheduler.framework.plugin import UNRESOLVABLE, Change, LocalScore, Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.objects import ZONE, Json, cluster_of, node, pod
from tests.scheduler.test_alike_nodes import runs
from tests.scheduler.test_incremental_state import clusters
from tests.scheduler.test_simulate import configured

HIDDEN = Status("Test", UNRESOLVABLE, ("hidden",))


def _in_all(evaluation: Evaluation) -> tuple[int, list[int]]:
    """The naive twin: all feasible nodes, and those of them with the highest total."""
    feasible = evaluation.feasible
    if len(feasible) <= 1:
        return len(feasible), feasible.tolist()
    totals = evaluation.scores.totals
    return len(feasible), feasible[totals == totals.max()].tolist()


@settings(max_examples=150)
@given(st.one_of(clusters(), runs()), st.data())
def test_the_best_open_nodes_are_the_best_of_all(cluster: Cluster, data: st.DataObject) -> None:
    state = SchedulingState(cluster)
    scheduler, twin = Scheduler(state, default_profile()), Scheduler(state, default_profile())
    pods, nodes = range(len(cluster.pods)), range(len(cluster.nodes))
    most = data.draw(st.integers(1, 3), label="tables")
    with patch.object(open_nodes, "MOST_TABLES", most):
        for _ in range(data.draw(st.integers(1, 8), label="rounds")):
            for _ in range(data.draw(st.sampled_from((0, 1, 1, 6)), label="changes")):
                _change(state, data.draw(st.sampled_from(pods)), data.draw(st.sampled_from(nodes)))
            index = data.draw(st.sampled_from(pods))
            hidden = data.draw(st.sets(st.sampled_from(nodes), max_size=2))
            count, best = _in_all(twin.evaluate(index, yields=dict.fromkeys(hidden, HIDDEN)))
            choice = scheduler.choice(index, hidden)
            if choice is None:
                cycle = scheduler.cycle(index)
                assert cycle.rejection or cycle.limit or not count
                continue
            assert (choice.feasible, choice.tied, choice.best().tolist()) == (
                count,
                len(best),
                best,
            )
            assert choice.nodes(2) == best[:2]
            assert choice.pick(None) == best[0]


def _change(state: SchedulingState, index: int, node_index: int) -> None:
    if state.node_of[index] == GONE:
        return
    if state.node_of[index] < 0:
        state.place(index, node_index)
    else:
        state.remove(index)


AMOUNT = st.one_of(st.integers(1, 400), st.integers(1, EXACT), st.integers(EXACT, 2**61))


@pytest.mark.parametrize("strategy", ["LeastAllocated", "MostAllocated"])
@settings(max_examples=200)
@given(
    offered=st.tuples(AMOUNT, AMOUNT), data=st.data(), weights=st.tuples(*[st.integers(1, 3)] * 2)
)
def test_parts_of_any_size_are_scored_as_whole_numbers_are(
    strategy: str, offered: tuple[int, int], data: st.DataObject, weights: tuple[int, int]
) -> None:
    amounts = [data.draw(st.one_of(st.integers(0, o), AMOUNT)) for o in (*offered, *offered)]
    made = node("n1")
    made["status"]["allocatable"] = {**_amounts(*offered), "pods": "9"}
    running, waiting = (
        pod(name, where, spec=_asking(*asked))
        for name, where, asked in (("a", "n1", amounts[:2]), ("b", "", amounts[2:]))
    )
    resources = [{"name": n, "weight": w} for n, w in zip(("memory", "cpu"), weights, strict=True)]
    scoring = {"type": strategy, "resources": resources}
    arguments = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": scoring}}]
    (profile,) = configured(profiles=[{"pluginConfig": arguments}])
    cluster = cluster_of(made, running, waiting)
    state = SchedulingState(cluster)
    table, only = NodeTable(state, np.array([0])), np.array([0])
    cycle = Scheduler(state, profile).cycle(cluster.pod_index["default/b"])
    for name, each in cycle.filters:
        if name == "NodeResourcesFit":
            passing = each.passing_in(table)
            assert passing is not None
            assert bool(passing[0]) == (each.verdict_at(0) == 0)
    for _, _, score in cycle.scores:
        if isinstance(score, LocalScore):
            assert int(score.scores_in(table)[0]) == score.judge(only)[0]


def _amounts(cpu: int, memory: int) -> Json:
    return {"cpu": f"{cpu}m", "memory": str(memory)}


def _asking(cpu: int, memory: int) -> Json:
    return {"containers": [{"name": "c", "resources": {"requests": _amounts(cpu, memory)}}]}


def test_groups_that_the_same_nodes_are_open_to_share_a_table() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    spread = {"topologySpreadConstraints": [constraint]}
    labels = {"labels": {"app": "web"}}
    small, large = ({**spread, **_asking(cpu, 1)} for cpu in (100, 200))
    cluster = cluster_of(
        *(node(f"a{i}", "a") for i in range(2)),
        *(node(f"b{i}", "b") for i in range(2)),
        pod("old", "a0", spec=small, metadata=labels),
        pod("new", spec=small, metadata=labels),
        pod("other", spec=large, metadata=labels),
    )
    scheduler = Scheduler(SchedulingState(cluster), default_profile())
    with patch.object(open_nodes, "NodeTable", side_effect=NodeTable) as made:
        for name in ("new", "other"):
            choice = scheduler.choice(cluster.pod_index[f"default/{name}"])
            assert choice is not None
            assert choice.feasible == 2
    assert [call.args[1].tolist() for call in made.call_args_list] == [[2, 3]]


@given(st.lists(st.integers(0, 5), max_size=60), st.data())
def test_changes_are_found_by_group(groups: list[int], data: st.DataObject) -> None:
    log = ChangeLog()
    for place, group in enumerate(groups):
        log.append(Change(group, place, 1, terminating=False))
        if data.draw(st.integers(0, 9)) == 0:
            log.since(0).of((0,))
    since = data.draw(st.integers(0, len(groups)))
    found = [change.node for change in log.since(since).of((1, 4))]
    wanted = [p for g in (1, 4) for p in range(since, len(groups)) if groups[p] == g]
    assert found == wanted
