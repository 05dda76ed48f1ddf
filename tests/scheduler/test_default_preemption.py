"""DefaultPreemption: who has to go for a pod of higher priority, and where."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import PENDING, Cluster, build_cluster
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.preemption import Offset, Preemption, event_message, preempt
from planner.scheduler.profile import Profile, build_profile, default_profile
from planner.sources.load import load_paths
from planner_models.scheduler_config import KubeSchedulerConfiguration
from planner_models.scheduler_profile import resolve_profiles

HOSTNAME = "kubernetes.io/hostname"
Object = dict[str, Any]


def node(name: str, cpu: str = "4", **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name}},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}},
    }


def pod(
    name: str,
    cpu: str = "1",
    *,
    on: str = "",
    priority: int = 0,
    app: str = "web",
    started: int | None = 0,
    status: Object | None = None,
    deleted: bool = False,
    **spec: Any,
) -> Object:
    """A pod with one container; `started` is the minute of its start."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    meta: Object = {"name": name, "uid": name, "labels": {"app": app} if app else {}}
    if deleted:
        meta["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    running = {"startTime": f"2026-01-01T00:{started:02}:00Z"} if on and started is not None else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": [container], "priority": priority, "nodeName": on, **spec},
        "status": {"phase": "Running" if on else "Pending", **running, **(status or {})},
    }


def budget(
    name: str, allowed: int | None, selector: Object | None = None, disrupted: Sequence[str] = ()
) -> Object:
    """A budget over the pods of `app: web`, as the disruption controller left it."""
    status: Object = {} if allowed is None else {"disruptionsAllowed": allowed}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": "web"}} if selector is None else selector},
        "status": {**status, "disruptedPods": dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")},
    }


def cluster_of(*objects: Object) -> Cluster:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return build_cluster(load_paths(["-"], BytesIO(text.encode())))


def profile(**args: int) -> Profile:
    """The default profile with other arguments of DefaultPreemption."""
    return profile_with(pluginConfig=[{"name": "DefaultPreemption", "args": args}])


def profile_with(**fields: Any) -> Profile:
    text = json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [fields],
        }
    )
    config = KubeSchedulerConfiguration.model_validate_json(text)
    return build_profile(resolve_profiles(config)[0])


class Case:
    """A cluster, and what preemption decides for its pod `urgent`."""

    def __init__(
        self,
        *objects: Object,
        profile: Profile | None = None,
        placed: Iterable[tuple[str, str]] = (),
        offset: Offset = 0,
    ) -> None:
        self.cluster = cluster_of(*objects)
        self.state = SchedulingState(self.cluster)
        for name, on in placed:
            self.state.place(self.index(name), self.cluster.node_index[on])
        scheduler = Scheduler(self.state, profile or default_profile())
        evaluation = scheduler.evaluate(self.index("urgent"))
        assert not len(evaluation.feasible), "the examples are about unschedulable pods"
        self.result: Preemption = preempt(scheduler, evaluation, offset)
        self.event = event_message(evaluation, self.result)

    def index(self, name: str) -> int:
        return self.cluster.pod_index[f"default/{name}"]

    def names(self, pods: Iterable[int]) -> list[str]:
        return [self.cluster.pods[pod].name for pod in pods]

    @property
    def victims(self) -> list[str]:
        return self.names(self.result.victims)

    @property
    def candidates(self) -> dict[str, tuple[list[str], int]]:
        return {
            self.cluster.nodes[node].name: (self.names(found.pods), found.pdb_violations)
            for node, found in self.result.candidates.items()
        }

    @property
    def any_of(self) -> list[str]:
        return [self.cluster.nodes[node].name for node in self.result.nominated_any_of]


def urgent(cpu: str = "2", **spec: Any) -> Object:
    return pod("urgent", cpu, priority=100, app="urgent", **spec)


# Victims on one node


def test_pods_of_lower_priority_go_and_the_most_important_are_given_back_first() -> None:
    case = Case(
        node("n1"),
        pod("high", on="n1", priority=9),
        pod("old", on="n1", priority=5, started=1),
        pod("young", on="n1", priority=5, started=2),
        pod("low", on="n1", priority=1),
        urgent(),
    )
    assert case.result.code == "Success"
    assert case.victims == ["young", "low"]
    assert case.event == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_less_important_pod_stays_where_a_bigger_one_leaves_no_room() -> None:
    case = Case(
        node("n1"),
        pod("big", "3", on="n1", priority=9),
        pod("small", "1", on="n1", priority=1),
        urgent("3"),
    )
    assert case.victims == ["big"]


def test_pods_of_the_same_priority_are_no_victims() -> None:
    case = Case(node("n1"), pod("peer", "3", on="n1", priority=100), urgent())
    assert case.result.code == "Unschedulable"
    assert case.result.message == (
        "no new claims to deallocate, preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."
    )
    assert case.event == f"0/1 nodes are available: 1 Insufficient cpu. {case.result.message}"


def test_a_node_that_no_eviction_helps_is_counted_apart_from_those_looked_at() -> None:
    case = Case(
        node("cordoned", unschedulable=True),
        node("small", "1"),
        node("n1"),
        pod("low", on="n1"),
        pod("peer", "3", on="n1", priority=100),
        urgent(),
    )
    assert case.result.message == (
        "no new claims to deallocate, preemption: 0/3 nodes are available: "
        "1 Insufficient cpu, 2 Preemption is not helpful for scheduling."
    )


def test_a_pod_that_must_stay_away_from_others_drives_only_them_off() -> None:
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "rival"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    case = Case(
        node("n1"),
        pod("rival", on="n1", app="rival", priority=9),
        pod("low", on="n1"),
        urgent("1", affinity=apart),
    )
    assert case.victims == ["rival"]


def test_pods_placed_meanwhile_have_started_last() -> None:
    case = Case(
        node("n1"),
        pod("second", "1", on=""),
        pod("first", "1", on=""),
        pod("not-started", "1", on="n1", started=None),
        pod("running", "1", on="n1", started=59),
        urgent("1"),
        placed=[("first", "n1"), ("second", "n1")],
    )
    assert case.victims == ["second"]


# Budgets


def test_protected_pods_are_given_back_before_more_important_ones() -> None:
    case = Case(
        node("n1"),
        pod("important", "2", on="n1", priority=9, app="other"),
        pod("protected", "2", on="n1"),
        budget("web", 0),
        urgent(),
    )
    assert case.candidates == {"n1": (["important"], 0)}


def test_a_budget_is_spent_on_the_most_important_pods() -> None:
    case = Case(
        node("n1"),
        pod("a", "1", on="n1", priority=9),
        pod("b", "1", on="n1", priority=5),
        pod("c", "2", on="n1", priority=1),
        budget("web", 2),
        urgent("3"),
    )
    assert case.candidates == {"n1": (["b", "c"], 1)}


@pytest.mark.parametrize(
    ("budgets", "violations"),
    [
        ([budget("web", 0)], 1),
        ([budget("web", 1)], 0),
        ([budget("never-counted", None)], 1),
        ([budget("web", 1), budget("web-too", 0)], 1),
        ([budget("disrupted-already", 0, disrupted=["only"])], 0),
        ([budget("everybody", 0, selector={})], 0),
        ([budget("others", 0, selector={"matchLabels": {"app": "db"}})], 0),
    ],
)
def test_a_budget_counts_by_its_status(budgets: list[Object], violations: int) -> None:
    case = Case(node("n1"), pod("only", "3", on="n1"), *budgets, urgent())
    assert case.candidates == {"n1": (["only"], violations)}


def test_a_pod_without_labels_is_never_protected() -> None:
    not_db = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]}
    case = Case(
        node("n1"), pod("bare", "3", on="n1", app=""), budget("all", 0, selector=not_db), urgent()
    )
    assert case.candidates == {"n1": (["bare"], 0)}


# The choice of the node


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        pytest.param(
            [pod("a", "3", on="n1", app="guarded")],
            [pod("b", "3", on="n2", priority=50)],
            ["n2"],
            id="fewest violated budgets",
        ),
        pytest.param(
            [pod("a", "3", on="n1", priority=5)],
            [pod("b", "2", on="n2", priority=4), pod("c", "2", on="n2", priority=4)],
            ["n2"],
            id="lowest of the highest priorities",
        ),
        pytest.param(
            [pod("a", "2", on="n1", priority=5), pod("b", "2", on="n1", priority=4)],
            [pod("c", "2", on="n2", priority=5), pod("d", "2", on="n2", priority=3)],
            ["n2"],
            id="smallest sum of priorities",
        ),
        pytest.param(
            [pod("a", "2", on="n1", priority=-5), pod("b", "2", on="n1", priority=-5)],
            [pod("c", "4", on="n2", priority=-5)],
            ["n2"],
            id="fewer victims, even of negative priority",
        ),
        pytest.param(
            [pod("a", "2", on="n1", started=1), pod("b", "2", on="n1", started=9)],
            [pod("c", "2", on="n2", started=2), pod("d", "2", on="n2", started=3)],
            ["n2"],
            id="latest start of the longest running victim",
        ),
        pytest.param(
            [pod("a", "3", on="n1")],
            [pod("b", "3", on="n2")],
            ["n1", "n2"],
            id="any",
        ),
    ],
)
def test_the_node_is_chosen_by(
    first: list[Object], second: list[Object], chosen: list[str]
) -> None:
    guarded = budget("guarded", 0, selector={"matchLabels": {"app": "guarded"}})
    case = Case(node("n1"), node("n2"), *first, *second, guarded, urgent("4"))
    assert case.any_of == chosen
    assert case.result.nominated == case.cluster.node_index[chosen[0]]


def test_the_search_ends_with_enough_candidates_of_which_one_is_harmless() -> None:
    nodes = [node(f"n{i}") for i in range(6)]
    pods = [pod(f"p{i}", "3", on=f"n{i}", app="guarded" if i < 2 else "web") for i in range(6)]
    guarded = budget("guarded", 0, selector={"matchLabels": {"app": "guarded"}})
    objects = [*nodes, *pods, guarded, urgent()]
    half = profile(minCandidateNodesPercentage=50, minCandidateNodesAbsolute=0)
    assert sorted(Case(*objects).candidates) == ["n0", "n1", "n2", "n3", "n4", "n5"]
    assert sorted(Case(*objects, profile=half).candidates) == ["n0", "n1", "n2"]
    assert sorted(Case(*objects, profile=half, offset=4).candidates) == ["n0", "n4", "n5"]
    one = profile(minCandidateNodesPercentage=0, minCandidateNodesAbsolute=1)
    assert sorted(Case(*objects, profile=one).candidates) == ["n0", "n2"]


def test_a_generator_draws_the_offset() -> None:
    nodes = [node(f"n{i}") for i in range(6)]
    pods = [pod(f"p{i}", "3", on=f"n{i}") for i in range(6)]
    one = profile(minCandidateNodesPercentage=0, minCandidateNodesAbsolute=1)
    drawn = {
        Case(*nodes, *pods, urgent(), profile=one, offset=np.random.default_rng(seed)).any_of[0]
        for seed in range(8)
    }
    assert len(drawn) > 1


# Who may not preempt, and what the event says


def test_a_pod_may_decline_to_preempt() -> None:
    case = Case(node("n1"), pod("low", "3", on="n1"), urgent(preemptionPolicy="Never"))
    assert case.result.message == (
        "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    )


def leaving(name: str, reason: str, **fields: Any) -> Object:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    return pod(name, deleted=True, status={"conditions": [condition]}, **fields)


def test_a_pod_waits_for_the_victims_it_already_has() -> None:
    waiting = urgent() | {"status": {"phase": "Pending", "nominatedNodeName": "n1"}}
    low = pod("low", "3", on="n1")
    victim = leaving("victim", "PreemptionByScheduler", on="n1")
    case = Case(node("n1"), low, victim, waiting)
    assert case.result.message.endswith(
        "preemption: not eligible due to a terminating pod on the nominated node."
    )
    other = leaving("victim", "EvictionByEvictionAPI", on="n1")
    assert Case(node("n1"), low, other, waiting).result.code == "Success"
    cordoned = node("n1", unschedulable=True)
    elsewhere = Case(cordoned, node("n2"), victim, pod("more", "3", on="n2"), waiting)
    assert elsewhere.any_of == ["n2"]


def test_a_pod_refused_before_any_node_was_looked_at_ends_in_an_error() -> None:
    missing = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = [node("n1"), pod("low", "3", on="n1"), urgent(volumes=missing)]
    case = Case(*objects)
    assert (case.result.code, case.result.message) == ("Error", "not found")
    refused = '0/1 nodes are available: persistentvolumeclaim "data" not found.'
    assert case.event == f"{refused} not found"
    without = profile_with(plugins={"multiPoint": {"disabled": [{"name": "DynamicResources"}]}})
    assert Case(*objects, profile=without).event == (
        f"{refused} preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling."
    )


def test_without_the_plugin_nobody_is_driven_off() -> None:
    without = profile_with(plugins={"postFilter": {"disabled": [{"name": "*"}]}})
    case = Case(node("n1"), pod("low", "3", on="n1"), urgent(), profile=without)
    assert (case.result.code, case.result.message) == ("Unschedulable", "")
    assert case.event == "0/1 nodes are available: 1 Insufficient cpu."


# Properties

SPREAD = [
    {
        "maxSkew": 1,
        "topologyKey": HOSTNAME,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
]
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "db"}}}
        ]
    }
}
PORTS = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]


@st.composite
def clusters(draw: st.DrawFn, *, deleted: bool) -> list[Object]:
    nodes = [node(f"n{i}", str(draw(st.integers(2, 5)))) for i in range(draw(st.integers(1, 3)))]
    rules: list[Object] = [{}, {"affinity": APART}, {"containers": PORTS}]
    pods = [
        pod(
            f"p{i}",
            str(draw(st.integers(0, 2))),
            on=f"n{draw(st.integers(0, len(nodes) - 1))}",
            priority=draw(st.integers(-1, 2)),
            app=draw(st.sampled_from(["web", "db", ""])),
            started=draw(st.integers(0, 2)),
            deleted=deleted and draw(st.booleans()),
            **draw(st.sampled_from(rules)),
        )
        for i in range(draw(st.integers(0, 8)))
    ]
    rules += [{"topologySpreadConstraints": SPREAD}]
    wish = draw(st.sampled_from(rules))
    app = draw(st.sampled_from(["web", "db"]))
    newcomer = pod("urgent", str(draw(st.integers(1, 4))), priority=2, app=app, **wish)
    budgets = [budget(f"b{i}", draw(st.integers(0, 1))) for i in range(draw(st.integers(0, 2)))]
    return [*nodes, *pods, newcomer, *budgets]


@given(clusters(deleted=True))
def test_every_what_if_is_undone(objects: list[Object]) -> None:
    cluster = cluster_of(*objects)
    state = SchedulingState(cluster)
    scheduler = Scheduler(state, default_profile())
    newcomer = cluster.pod_index["default/urgent"]

    def seen() -> list[np.ndarray[Any, Any]]:
        filters = [each for _, each in scheduler.cycle(newcomer).filters]
        one_by_one = [[each.verdict_at(i) for i in range(len(cluster.nodes))] for each in filters]
        assert one_by_one == [each.verdicts().tolist() for each in filters]
        return [
            *(state.used.copy(), state.non_zero_used.copy(), state.node_of.copy()),
            *(each.verdicts().copy() for each in filters),
        ]

    before = seen()
    preempt(scheduler, scheduler.evaluate(newcomer))
    for one, other in zip(before, seen(), strict=True):
        assert np.array_equal(one, other)


@settings(max_examples=60)
@given(clusters(deleted=False))
def test_victims_are_those_that_real_removals_show_to_be_in_the_way(
    objects: list[Object],
) -> None:
    cluster = cluster_of(*objects)
    newcomer = cluster.pod_index["default/urgent"]
    scheduler = Scheduler(SchedulingState(cluster), default_profile())
    evaluation = scheduler.evaluate(newcomer)
    if len(evaluation.feasible):
        return
    helped = [n for n, status in evaluation.verdicts().items() if status.code == "Unschedulable"]
    expected = {n: found for n in helped if (found := _naive(cluster, newcomer, n)) is not None}
    candidates = preempt(scheduler, evaluation).candidates
    assert {n: (list(v.pods), v.pdb_violations) for n, v in candidates.items()} == expected


def _naive(cluster: Cluster, newcomer: int, on: int) -> tuple[list[int], int] | None:
    """The rule once more, on copies of the cluster from which pods are really missing."""

    def fits(away: Iterable[int]) -> bool:
        state = SchedulingState(cluster.with_placement(dict.fromkeys(away, PENDING)))
        return on in Scheduler(state, default_profile()).evaluate(newcomer).feasible

    pods = cluster.pods
    away = [int(p) for p in cluster.pods_on(on) if pods[p].priority < pods[newcomer].priority]
    away.sort(key=lambda p: (-pods[p].priority, pods[p].started))
    if not away or not fits(away):
        return None
    left = {b.name: b.status.disruptions_allowed or 0 for b in cluster.budgets}
    protected = []
    for p in away:
        if pods[p].labels.get("app") == "web":
            left = {name: count - 1 for name, count in left.items()}
            protected += [p] if any(count < 0 for count in left.values()) else []
    for p in [*protected, *(p for p in list(away) if p not in protected)]:
        if fits(set(away) - {p}):
            away.remove(p)
    away.sort(key=lambda p: (-pods[p].priority, pods[p].started, p not in protected))
    return away, sum(p in protected for p in away)
