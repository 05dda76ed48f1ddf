"""Trials side by side, against the same trials one after the other."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.drift import drifted
from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.evictions.repeated_trials import manners
from planner.replay.settling import Choices, OutOfTimeError
from planner.replay.trial import Manner, Trial, WavePlan
from planner.replay.trials_together import Together, run_together
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, cluster_of, node, owned, pod

PROFILE = default_profile()
MANNERS = manners(5)
ZONES = ("a", "b", "c")


def spread(app: str, key: str = ZONE, skew: int = 1) -> dict[str, Any]:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }


def replica(app: str, number: int, node_name: str, spec: dict[str, Any]) -> dict[str, Any]:
    kind = "StatefulSet" if app.startswith("db") else "ReplicaSet"
    labels = {"labels": {"app": app}, **owned(kind, app)}
    return pod(f"{app}-{number}", node_name, spec=spec, metadata=labels)


def requests(cpu: int, memory: int) -> dict[str, Any]:
    amounts = {"cpu": f"{cpu}m", "memory": str(memory)}
    return {"containers": [{"name": "main", "resources": {"requests": amounts}}]}


def lost_zone(seed: int) -> tuple[Cluster, list[WavePlan]]:
    """Zone c came back with little on it; what is missing there is evicted elsewhere.

    Some of what is there has to stay in the zone, and makes room when it is evicted.
    """
    draw = Random(seed)
    objects = []
    for number in range(draw.randint(6, 24)):
        amounts = {
            "cpu": f"{draw.choice((2000, 4000, 3999))}m",
            "memory": str(draw.choice((2**32, 5 * 10**9 + 7))),
            "pods": str(draw.choice((4, 110))),
        }
        kind = {"labels": {"kind": draw.choice(("x", "y"))}}
        zone = ZONES[number % 3]
        objects.append(node(f"n{number:02}", zone, metadata=kind, status={"allocatable": amounts}))
    names = {zone: [o["metadata"]["name"] for o in objects[i::3]] for i, zone in enumerate(ZONES)}
    leaving: list[str] = []
    for app in (f"{draw.choice(('web', 'db'))}{i}" for i in range(draw.randint(1, 5))):
        spec = requests(draw.randrange(50, 700, 50), draw.choice((2**26, 10**8 + 3, 2**29)))
        spec["priority"] = draw.choice((0, 0, 5))
        spec["topologySpreadConstraints"] = [spread(app)]
        if draw.random() < 0.3:
            spec["topologySpreadConstraints"].append(spread(app, HOSTNAME, draw.randint(1, 2)))
        if draw.random() < 0.2:
            spec["nodeSelector"] = {"kind": "x"}
        half = draw.randint(1, 6)
        homes = [draw.choice(names[ZONES[i % 2]]) for i in range(2 * half)]
        objects += [replica(app, i, home, spec) for i, home in enumerate(homes)]
        leaving += [f"default/{app}-{i}" for i in range(2 * half // 3)]
    for app in (f"home{i}" for i in range(draw.randint(0, 4))):
        spec = requests(draw.randrange(50, 1500, 50), 10**8)
        spec |= {"nodeSelector": {ZONE: "c"}, "topologySpreadConstraints": [spread(app)]}
        objects.append(replica(app, 0, draw.choice(names["c"]), spec))
        leaving += [f"default/{app}-0"] * draw.randint(0, 1)
    cluster = cluster_of(*objects)
    pods = [cluster.pod_index[name] for name in leaving]
    draw.shuffle(pods)
    cut = draw.randint(0, len(pods))
    return cluster, [WavePlan(tuple(part)) for part in (pods[:cut], pods[cut:]) if part]


def trial_of(cluster: Cluster, waves: Sequence[WavePlan]) -> Trial:
    pods = [pod for wave in waves for pod in wave.evictions]
    return Trial(cluster, PROFILE, allowances(cluster), pods)


def check(cluster: Cluster, waves: Sequence[WavePlan], chosen: Sequence[Manner] = MANNERS) -> int:
    """How many trials ended side by side; each as it does alone."""
    together = run_together(trial_of(cluster, waves), waves, chosen)
    if together is None:
        return 0
    alone, tied = trial_of(cluster, waves), Choices()
    for manner, found in zip(chosen, together.runs, strict=True):
        run = alone.run(waves, manner, choices=tied)
        if found is None:
            continue
        assert found.node_of.tolist() == run.node_of.tolist()
        assert list(found.landings) == list(run.landings)
        assert [each.tolist() for each in found.after] == [each.tolist() for each in run.after]
        assert (found.refused, found.driven) == (run.refused, run.driven)
    assert_same(together, tied)
    return sum(run is not None for run in together.runs)


def assert_same(together: Together, tied: Choices) -> None:
    """All that was tied side by side was tied alone; the same if no trial was given up."""
    for key, nodes in together.choices.items():
        assert not (nodes & ~tied[key]).any()
    if all(run is not None for run in together.runs):
        assert together.choices.keys() == tied.keys()
        assert all((together.choices[key] == tied[key]).all() for key in tied)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6))
def test_small_clusters_end_as_they_do_alone(seed: int) -> None:
    cluster, waves = lost_zone(seed)
    if waves:
        check(cluster, waves)


def test_most_small_clusters_are_carried_out_together() -> None:
    found = Counter(bool(check(*each)) for each in map(lost_zone, range(40)) if each[1])
    assert found[True] > found[False]


@pytest.mark.parametrize("seed", range(3))
def test_a_zone_that_came_back_ends_as_it_does_alone(seed: int) -> None:
    cluster = drifted(60, "zone", seed)
    waves = [WavePlan(tuple(missing(cluster)))]
    assert check(cluster, waves) == len(MANNERS)


def missing(cluster: Cluster) -> Iterator[int]:
    """A third of the pods of every workload with a hard rule over zones."""
    zone_of = cluster.topology(ZONE).domain_of
    for group in cluster.groups:
        rules = group.spec.topology_spread_constraints
        if any(each.topology_key == ZONE for each in rules):
            pods = cluster.pods_of(np.array([group.index])).tolist()
            by_zone = [[p for p in pods if zone_of[cluster.node_of[p]] == z] for z in (0, 1)]
            by_zone.sort(key=len, reverse=True)
            in_turn = [p for pair in itertools.zip_longest(*by_zone) for p in pair if p is not None]
            yield from in_turn[: len(pods) // 3]


def web(zones: str, skew: int = 1, **spec: Any) -> list[dict[str, Any]]:
    """Pods of one workload, each on the node of its zone."""
    spec = {"topologySpreadConstraints": [spread("web", skew=skew)], **requests(100, 10**8), **spec}
    return [replica("web", i, f"n{zone}", spec) for i, zone in enumerate(zones)]


def evict(cluster: Cluster, *numbers: int) -> list[WavePlan]:
    return [WavePlan(tuple(cluster.pod_index[f"default/web-{i}"] for i in numbers))]


NODES = [node(f"n{zone}", zone) for zone in ZONES]


def test_pods_that_can_only_go_to_one_zone_are_carried_out_together() -> None:
    cluster = cluster_of(*NODES, *web("aaabbb"))
    assert check(cluster, evict(cluster, 0, 3)) == len(MANNERS)


def test_hosts_that_another_rule_closes_still_count_for_the_minimum() -> None:
    """Beside an empty host in zone b, the one in zone c takes one of two pods, not both."""
    hosts = [spread("web"), spread("web", HOSTNAME)]
    apart = [node(f"n{zone}", zone[0]) for zone in ("a", "b", "b2", "c")]
    cluster = cluster_of(*apart, *web("aaabbb", topologySpreadConstraints=hosts))
    waves = evict(cluster, 0, 3)
    check(cluster, waves)
    run = trial_of(cluster, waves).run(waves, MANNERS[0])
    assert len(run.landings) == 1


def test_pods_that_may_go_to_two_zones_are_not() -> None:
    cluster = cluster_of(*NODES, *web("aaabbb"))
    assert run_together(trial_of(cluster, waves := evict(cluster, 0, 1, 3)), waves, MANNERS) is None


def test_what_would_come_in_between_is_left_to_trials_alone() -> None:
    """Pods that wait, cordons, budgets, and rules that count other pods that are evicted."""
    cluster = cluster_of(*NODES, *web("aaabbb"))
    waves = evict(cluster, 0, 3)
    cordoned = [WavePlan(waves[0].evictions, cordons=(0,))]
    assert run_together(trial_of(cluster, cordoned), cordoned, MANNERS) is None
    waiting = cluster_of(*NODES, *web("aaabbb"), pod("waits"))
    assert run_together(trial_of(waiting, waves), waves, MANNERS) is None
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"minAvailable": 5, "selector": {"matchLabels": {"app": "web"}}},
    }
    guarded = cluster_of(*NODES, *web("aaabbb"), budget)
    assert run_together(trial_of(guarded, waves), waves, MANNERS) is None


def test_a_trial_in_which_somebody_finds_no_room_is_left_to_be_carried_out_alone() -> None:
    full = [node("nc", "c", status={"allocatable": {"cpu": "150m"}})]
    cluster = cluster_of(*NODES[:2], *full, *web("aaabbb"))
    together = run_together(trial_of(cluster, waves := evict(cluster, 0, 3)), waves, MANNERS)
    assert together is not None
    assert set(together.runs) == {None}


def test_time_that_is_over_ends_all_trials() -> None:
    cluster = cluster_of(*NODES, *web("aaabbb"))
    waves = evict(cluster, 0, 3)
    with pytest.raises(OutOfTimeError):
        run_together(trial_of(cluster, waves), waves, MANNERS, until=0.0)
