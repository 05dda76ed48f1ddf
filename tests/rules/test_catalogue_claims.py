"""What cards claim, against the scheduler's filters while pods land."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.rules import LOCAL_PLUGINS, cards_of_plugin
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner_models.affinity import REQUIRED
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, pod
from tests.rules.rule_examples import bound_volume, claim, one_volume_per_node

PROFILE = default_profile()
CLAIMS = ("shared", "once", "third")


def term(app: str, key: str) -> Json:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


@st.composite
def affinities(draw: st.DrawFn) -> Json:
    apps, keys = st.sampled_from("ab"), st.sampled_from((ZONE, HOSTNAME))
    kinds = draw(st.sets(st.sampled_from(("podAffinity", "podAntiAffinity"))))
    return {kind: {REQUIRED: [term(draw(apps), draw(keys))]} for kind in sorted(kinds)}


@st.composite
def specs(draw: st.DrawFn) -> Json:
    port = {"ports": [{"containerPort": 80, "hostPort": 8080}]} if draw(st.booleans()) else {}
    requests = {"requests": {"cpu": draw(st.sampled_from(("0", "1500m", "3")))}}
    spread = {
        "maxSkew": 1,
        "topologyKey": draw(st.sampled_from((ZONE, HOSTNAME))),
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": draw(st.sampled_from("ab"))}},
    }
    claims = draw(st.sets(st.sampled_from(CLAIMS), max_size=2))
    return {
        "containers": [{"name": "main", "resources": requests, **port}],
        "nodeSelector": draw(st.sampled_from(({}, {ZONE: "x"}))),
        "affinity": draw(affinities()),
        "topologySpreadConstraints": [spread] if draw(st.booleans()) else [],
        "volumes": [
            {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(claims)
        ],
    }


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    nodes = [
        node(
            f"n{i}",
            draw(st.sampled_from("xy")),
            spec={
                "unschedulable": draw(st.sampled_from((False, False, True))),
                "taints": draw(st.sampled_from(([], [], taints))),
            },
        )
        for i in range(draw(st.integers(2, 4)))
    ]
    pods = []
    for i in range(draw(st.integers(2, 5))):
        labels = {"app": draw(st.sampled_from("ab"))}
        pods.append(pod(f"p{i}", spec=draw(specs()), metadata={"labels": labels}))
    storage = [
        claim("shared"),
        bound_volume("shared"),
        claim("once", accessModes=["ReadWriteOncePod"]),
        bound_volume("once", labels={ZONE: "x"}),
        claim("third"),
        bound_volume("third", zone="y"),
        *(one_volume_per_node(each["metadata"]["name"]) for each in nodes),
    ]
    return cluster_of(*nodes, *pods, *storage)


def verdicts(scheduler: Scheduler, pod: int) -> dict[str, IntArray]:
    return {name: each.verdicts().copy() for name, each in scheduler.cycle(pod).filters}


@settings(max_examples=150, deadline=None)
@given(clusters(), st.data())
def test_a_pod_that_lands_changes_only_what_cards_say_it_can(
    cluster: Cluster, data: st.DataObject
) -> None:
    state = SchedulingState(cluster)
    scheduler = Scheduler(state, PROFILE)
    watching, *others = range(len(cluster.pods))
    before = verdicts(scheduler, watching)
    legal = True
    for landing in others:
        feasible = scheduler.evaluate(landing).feasible.tolist()
        place = data.draw(st.sampled_from(feasible or range(len(cluster.nodes))))
        legal &= bool(feasible)
        state.place(landing, place)
        after = verdicts(scheduler, watching)
        for plugin, now in after.items():
            cards = cards_of_plugin(plugin)
            changed = np.flatnonzero(now != before[plugin]).tolist()
            opened = np.flatnonzero((now == 0) & (before[plugin] != 0)).tolist()
            assert all(card.counts_pods for card in cards) or not changed
            assert plugin not in LOCAL_PLUGINS or set(changed) <= {place}
            assert not (legal and all(card.monotone for card in cards)) or not opened
        before = after
