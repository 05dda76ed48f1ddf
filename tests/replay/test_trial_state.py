from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import GONE, PENDING, Cluster
from planner.replay import trial_state
from planner.replay.cordons import cordoned_node
from planner.replay.trial_state import CordonFingerprint, Fingerprint, TrialState
from planner.replay.verify import with_old_pods
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.objects import ZONE, cluster_of, node, owned, pod


def web(name: str, node_name: str = "", policy: str = "Ignore", **spec: Any) -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": policy,
    }
    labels = {"labels": {"app": "web"}, **owned("ReplicaSet", "web")}
    spec = {"topologySpreadConstraints": [constraint], **spec}
    return pod(name, node_name, spec=spec, metadata=labels)


def best(state: TrialState, cluster: Cluster, name: str) -> list[str]:
    chosen = state.best(cluster.pod_index[f"default/{name}"]).tolist()
    return [cluster.nodes[i].name for i in chosen]


def test_a_cordoned_node_is_chosen_only_for_pods_that_tolerate_it() -> None:
    anyway = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    cluster = cluster_of(
        node("a"), node("b"), pod("plain"), pod("daemon", spec={"tolerations": [anyway]})
    )
    state = TrialState(cluster, default_profile())
    state.cordon([0])
    assert best(state, cluster, "plain") == ["b"]
    assert best(state, cluster, "daemon") == ["a", "b"]
    state.cordon(())
    assert best(state, cluster, "plain") == ["a", "b"]


def test_a_cordoned_zone_counts_unless_taints_are_honoured() -> None:
    for policy, nodes in (("Ignore", []), ("Honor", ["a"])):
        zones = (node("a", "x"), node("b", "y"))
        cluster = cluster_of(*zones, web("w0", "a", policy), web("w1", "", policy))
        state = TrialState(cluster, default_profile())
        state.cordon([1])
        assert best(state, cluster, "w1") == nodes


def test_everything_goes_back_to_the_start() -> None:
    for policy in ("Ignore", "Honor"):
        cluster = cluster_of(node("a", "x"), node("b", "y"), web("w0", "a", policy), pod("p"))
        state = TrialState(cluster, default_profile())
        state.cordon([0])
        state.evict(0, None)
        state.place(1, 1)
        assert state.node_of.tolist() == [PENDING, 1]
        state.restore()
        assert state.node_of.tolist() == [0, PENDING]
        assert not state.cordoned
        assert best(state, cluster, "p") == ["b"]


def asked_afresh(state: TrialState, index: int) -> list[int]:
    """The naive twin: a new scheduler over the cluster as it is now."""
    moved = dict(enumerate(state.node_of.tolist()))
    nodes = tuple(
        cordoned_node(each, True) if i in state.cordoned else each
        for i, each in enumerate(state.cluster.nodes)
    )
    now = replace(state.cluster.with_placement(moved), nodes=nodes)
    found = Scheduler(SchedulingState(now), default_profile()).evaluate(index).best
    return [int(each) for each in found]


@settings(max_examples=25)
@given(st.sampled_from(("Ignore", "Honor")), st.integers(0, 2**32), st.sampled_from((4, 10_000)))
def test_kept_answers_are_those_of_a_scheduler_that_starts_afresh(
    policy: str, seed: int, logged: int
) -> None:
    with patch.object(trial_state, "LOGGED", logged):
        _compared(policy, Random(seed))


def _compared(policy: str, drawn: Random) -> None:
    nodes = [node(name, zone) for name, zone in zip("abcd", "xxyz", strict=True)]
    replicas = [web(f"w{i}", drawn.choice("abcd"), policy) for i in range(4)]
    running = with_old_pods(cluster_of(*nodes, *replicas, pod("p")), [0, 1, 2, 3])
    state = TrialState(running, default_profile())
    for _ in range(40):
        match drawn.randrange(6):
            case 0:
                state.restore()
            case 1:
                state.cordon(drawn.sample(range(4), drawn.randrange(3)))
            case _:
                index = drawn.randrange(4)
                twin = 5 + index
                if state.node_of[index] == PENDING:
                    assert state.best(index).tolist() == asked_afresh(state, index)
                    state.place(index, drawn.randrange(4))
                elif state.node_of[twin] == GONE:
                    state.evict(index, drawn.choice((None, twin)))
                else:
                    state.forget(twin)
        assert state.best(4).tolist() == asked_afresh(state, 4)


def test_the_way_to_a_state_leaves_no_trace_in_its_fingerprint() -> None:
    fingerprint = Fingerprint()
    seen = []
    for order in ((0, 1), (1, 0)):
        fingerprint.value = 0
        fingerprint.shift(group=7, node=0, terminating=False, delta=1)
        for place in order:
            fingerprint.shift(group=0, node=place, terminating=False, delta=1)
        fingerprint.shift(group=7, node=0, terminating=False, delta=-1)
        seen.append(fingerprint.value)
    assert seen[0] == seen[1] != 0
    fingerprint.shift(group=0, node=1, terminating=False, delta=-1)
    fingerprint.shift(group=0, node=1, terminating=True, delta=1)
    assert fingerprint.value != seen[0]


def test_each_set_of_cordons_has_a_number_of_its_own() -> None:
    fingerprint, seen = CordonFingerprint(5), set()
    for chosen in range(2**5):
        fingerprint.take(np.array([chosen >> node & 1 == 1 for node in range(5)]))
        seen.add(fingerprint.value)
    assert len(seen) == 2**5
    assert min(seen) == 0
