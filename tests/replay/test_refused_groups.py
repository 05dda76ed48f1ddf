"""Groups that need not be tried again, against a scheduler that is asked anew each time.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 300 random clusters.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from planner.cluster import Cluster
from planner.replay.trial_state import TrialState
from planner.scheduler.profile import default_profile
from tests.objects import Json, cluster_of, node, owned, pod

SEEDS = range(300 if os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long" else 25)
STEPS = 12


def tight_cluster(draw: Random) -> Cluster:
    """Pods that wait for room, for a port, or for what no node has, and may drive others off."""
    nodes = [
        node(f"n{i}", status={"allocatable": {"cpu": str(draw.choice((1, 2, 4))), "pods": "9"}})
        for i in range(draw.randint(2, 4))
    ]
    pods = [_pod(draw, i, f"n{draw.randrange(len(nodes))}") for i in range(draw.randint(3, 8))]
    waiting = [_pod(draw, 10 + i, "") for i in range(4)]
    return cluster_of(*nodes, *pods, *waiting)


def _pod(draw: Random, number: int, on: str) -> Json:
    cpu = draw.choice(("200m", "900m", "1800m", "3500m", "9"))
    container: Json = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    if draw.random() < 0.3:
        container["ports"] = [{"containerPort": 80, "hostPort": 80}]
    spec: Json = {"containers": [container], "priority": draw.choice((0, 0, 5))}
    if draw.random() < 0.2:
        spec["nodeSelector"] = {"kubernetes.io/hostname": "n0"}
    return pod(f"p{number}", on, spec=spec, metadata=owned("ReplicaSet", f"r{number}"))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_remembered_is_what_the_scheduler_would_say(seed: int) -> None:
    draw = Random(seed)
    cluster = tight_cluster(draw)
    kept = TrialState(cluster, default_profile())
    for _ in range(STEPS):
        place = dict(enumerate(kept.node_of.tolist()))
        fresh = TrialState(cluster.with_placement(place), default_profile())
        for waiting in [each for each, at in place.items() if at < 0]:
            best = fresh.best(waiting).tolist()
            assert kept.best(waiting).tolist() == best
            if not best:
                ours, theirs = (each.preemption(waiting, None) for each in (kept, fresh))
                assert (ours and ours.candidates.keys()) == (theirs and theirs.candidates.keys())
        _act(draw, kept)


def _act(draw: Random, state: TrialState) -> None:
    """Somebody leaves, or takes one of the best nodes."""
    pod = draw.randrange(len(state.cluster.pods))
    if not state.waits(pod):
        state.evict(pod, None)
    elif len(best := state.best(pod)):
        state.place(pod, int(draw.choice(best.tolist())))
