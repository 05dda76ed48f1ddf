"""The incremental state against its naive twin: a scheduler made anew for the cluster as it is."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster import GONE, Cluster
from planner.scheduler.cycle import Evaluation, Scheduler
from planner.scheduler.framework.changes import ChangeLog, GroupSet
from planner.scheduler.framework.plugin import Change
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, pod

APPS = ("web", "db", "log")
KEYS = (ZONE, HOSTNAME, "rack")
APP = st.sampled_from(APPS)
KEY = st.sampled_from(KEYS)
IMAGE = {"names": ["db:1"], "sizeBytes": 500 << 20}


def _selector(app: str) -> Json:
    return {"matchLabels": {"app": app}}


def _term(app: str, key: str) -> Json:
    return {"topologyKey": key, "labelSelector": _selector(app)}


def _weighted(weight: int, app: str, key: str) -> Json:
    return {"weight": weight, "podAffinityTerm": _term(app, key)}


SPREAD = st.builds(
    lambda app, key, skew, hard, taints: {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "nodeTaintsPolicy": taints,
        "labelSelector": _selector(app),
    },
    APP,
    KEY,
    st.integers(1, 2),
    st.booleans(),
    st.sampled_from(("Honor", "Ignore")),
)
SPREADS = st.lists(SPREAD, max_size=2, unique_by=lambda c: (c["topologyKey"], str(c)))
REQUIRED = st.lists(st.builds(_term, APP, KEY), max_size=1)
PREFERRED = st.lists(st.builds(_weighted, st.integers(1, 50), APP, KEY), max_size=1)
REQUIRED_FIELD = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_FIELD = "preferredDuringSchedulingIgnoredDuringExecution"


def _affinity(required: list[Json], preferred: list[Json]) -> Json:
    return {REQUIRED_FIELD: required, PREFERRED_FIELD: preferred}


AFFINITY = st.builds(_affinity, REQUIRED, PREFERRED)
TOLERATION: Json = {"key": "dedicated", "operator": "Exists"}


@st.composite
def specs(draw: st.DrawFn) -> Json:
    port = draw(st.sampled_from((0, 0, 0, 80)))
    container: Json = {
        "name": "main",
        "image": draw(st.sampled_from(("db:1", "web"))),
        "resources": {"requests": {"cpu": f"{draw(st.integers(0, 15))}00m"}},
    }
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port}]
    spread = {(c["topologyKey"], c["whenUnsatisfiable"]): c for c in draw(SPREADS)}
    spec: Json = {"containers": [container], "topologySpreadConstraints": list(spread.values())}
    spec["affinity"] = {"podAffinity": draw(AFFINITY), "podAntiAffinity": draw(AFFINITY)}
    if draw(st.booleans()):
        spec["tolerations"] = [TOLERATION]
    if draw(st.integers(0, 3)) == 0:
        spec["nodeSelector"] = {"rack": "r1"}
    return spec


def _node(name: str, zone: str, rack: str, tainted: bool, cordoned: bool, image: bool) -> Json:
    labels: dict[str, str | None] = {HOSTNAME: name, ZONE: zone, "rack": rack}
    made = node(name)
    made["metadata"]["labels"] = {key: value for key, value in labels.items() if value}
    made["spec"] = {"unschedulable": cordoned}
    if tainted:
        made["spec"]["taints"] = [{"key": "dedicated", "effect": "NoSchedule"}]
    if image:
        made["status"]["images"] = [IMAGE]
    return made


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    rare = st.integers(0, 4).map(lambda n: n == 0)
    nodes = [
        _node(
            f"n{i}",
            draw(st.sampled_from(("a", "b", ""))),
            draw(st.sampled_from(("r1", "r2"))),
            draw(rare),
            draw(rare),
            draw(rare),
        )
        for i in range(draw(st.integers(1, 5)))
    ]
    groups = [
        (draw(APP), draw(specs()), draw(st.integers(0, 2))) for _ in range(draw(st.integers(1, 4)))
    ]
    pods = []
    for i in range(draw(st.integers(1, 9))):
        app, spec, priority = draw(st.sampled_from(groups))
        where = draw(st.sampled_from(("", *(n["metadata"]["name"] for n in nodes))))
        made = pod(f"p{i}", where, spec={**spec, "priority": priority})
        made["metadata"]["labels"] = {"app": app}
        if where and draw(rare):
            made["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
        pods.append(made)
    return cluster_of(*nodes, *pods)


def _seen(evaluation: Evaluation) -> dict[str, Any]:
    """Everything that a user can see of an evaluation."""
    scores = evaluation.scores
    return {
        "rejection": evaluation.rejection,
        "feasible": evaluation.feasible.tolist(),
        "verdicts": evaluation.verdicts(),
        "refusals": evaluation.refusals(),
        "counts": dict(evaluation.verdict_counts),
        "message": evaluation.message(),
        "raw": {name: raw.tolist() for name, raw in scores.raw.items()},
        "weighted": {name: weighted.tolist() for name, weighted in scores.weighted.items()},
        "totals": scores.totals.tolist(),
        "best": evaluation.best.tolist(),
    }


def _from_scratch(state: SchedulingState, pod_index: int) -> dict[str, Any]:
    fresh = SchedulingState(replace(state.snapshot()))
    fresh.terminating[:] = state.terminating
    return _seen(Scheduler(fresh, default_profile()).evaluate(pod_index))


def _change(data: st.DataObject, state: SchedulingState) -> None:
    """One pod comes, goes, is told to go, or is gone for good."""
    draw = data.draw
    index = draw(st.integers(0, len(state.cluster.pods) - 1))
    where = int(state.node_of[index])
    if where == GONE:
        return
    if where < 0:
        state.place(index, draw(st.integers(0, len(state.cluster.nodes) - 1)))
    elif draw(st.integers(0, 3)) == 0 and not state.terminating[index]:
        state.terminate(index)
    elif draw(st.booleans()):
        state.remove(index, to=GONE)
    else:
        state.remove(index)


@given(clusters(), st.data())
def test_after_any_changes_the_state_equals_a_recomputation_from_scratch(
    cluster: Cluster, data: st.DataObject
) -> None:
    state = SchedulingState(cluster)
    scheduler = Scheduler(state, default_profile())
    everybody = range(len(cluster.pods))
    for _ in range(data.draw(st.integers(0, 4), label="rounds")):
        for _ in range(data.draw(st.integers(0, 4), label="changes")):
            _change(data, state)
        for index in data.draw(st.sets(st.sampled_from(list(everybody)), max_size=2)):
            assert _seen(scheduler.evaluate(index)) == _from_scratch(state, index)
    for index in everybody:
        assert _seen(scheduler.evaluate(index)) == _from_scratch(state, index)


@given(clusters())
def test_what_ifs_leave_no_trace(cluster: Cluster) -> None:
    state = SchedulingState(cluster)
    scheduler = Scheduler(state, default_profile())
    for index in range(len(cluster.pods)):
        before = _seen(scheduler.evaluate(index))
        filters = [each for _, each in scheduler.cycle(index).filters]
        for node_index in range(len(cluster.nodes)):
            for delta in (1, -1):
                change = state.try_on(index, node_index, delta)
                for each in filters:
                    each.dry_run(change)
        assert _seen(scheduler.evaluate(index)) == before


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=600), st.data())
def test_a_log_gives_back_every_change_since_a_position(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    log = ChangeLog()
    for group, node_index in rows:
        log.append(Change(group, node_index, 1, terminating=group == 0))
    since = data.draw(st.integers(0, len(rows)))
    changes = log.since(since)
    assert list(zip(changes.groups.tolist(), changes.nodes.tolist(), strict=True)) == rows[since:]
    assert changes.terminating.tolist() == [group == 0 for group, _ in rows[since:]]
    assert changes.touched.tolist() == sorted({n for _, n in rows[since:]})


@given(st.sets(st.integers(0, 20)), st.lists(st.integers(0, 20)))
def test_a_group_set_finds_its_members_among_many(members: set[int], groups: list[int]) -> None:
    found = GroupSet(members).among(np.array(groups, np.int64))
    assert found.tolist() == [i for i, group in enumerate(groups) if group in members]


def test_groups_that_ask_for_the_same_share_what_a_copied_state_does_not() -> None:
    """A copy may be changed without a word in the log, which those who share would not notice."""
    cluster = cluster_of(node("n1"), node("n2"), pod("a"), pod("b"), pod("c", "n1"))
    state, profile = SchedulingState(cluster), default_profile()
    one, other = (Scheduler(state, profile).cycle(index).filters for index in (0, 1))
    assert dict(one)["NodeResourcesFit"] is dict(other)["NodeResourcesFit"]
    copied = copy.copy(state)
    copied.used = cluster.resources.allocatable.copy()
    assert len(Scheduler(copied, profile).evaluate(0).feasible) == 0
    assert len(Scheduler(state, profile).evaluate(1).feasible) == 2
