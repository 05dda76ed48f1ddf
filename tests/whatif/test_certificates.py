"""What is counted about a single node is what simulations of its failure come to, all of them."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, event, given, settings

from planner.cluster import Cluster
from planner.scenario import Manner
from planner.scheduler.profile import default_profile
from planner.whatif import Loss, Options, prepare
from planner.whatif.certificate import Certificates
from planner.whatif.course import failing, missing
from tests.objects import HOSTNAME, cluster_of, node
from tests.whatif.asking import deployed, spread, zones
from tests.whatif.random_clusters import settled_clusters

SEEDS = 50 if os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long" else 5
MANNERS: tuple[Manner, ...] = ("unreachable", "removed")


@settings(max_examples=2000 if SEEDS == 50 else 40, suppress_health_check=[HealthCheck.too_slow])
@given(settled_clusters())
def test_no_simulation_contradicts_a_certificate(cluster: Cluster) -> None:
    profile = default_profile()
    prepared = prepare(cluster, [], profile)
    certificates = Certificates(cluster, profile)
    for manner in MANNERS:
        certified = certificates.of(manner)
        event(f"{int(certified.known.sum())} certified")
        for index in range(len(cluster.nodes)):
            if certified.known[index]:
                loss = Loss(cluster.nodes[index].name, "node", (index,))
                course = failing(prepared, loss, manner, Options(seeds=SEEDS))
                numbers = {missing(each) for each in course.outcomes}
                assert numbers == {int(certified.missing[index])}, (loss.name, manner)


def known(*objects: object, manner: Manner = "removed") -> dict[str, int]:
    """Nodes of which everything is known, with the pods that do not run then."""
    cluster = cluster_of(*objects)
    found = Certificates(cluster, default_profile()).of(manner)
    return {
        cluster.nodes[i].name: int(found.missing[i])
        for i in range(len(cluster.nodes))
        if found.known[i]
    }


def test_a_pod_with_room_elsewhere_is_certain() -> None:
    assert known(*zones(a=3), *deployed("web", ["a1"])) == {"a1": 0, "a2": 0, "a3": 0}


def test_a_pod_that_fits_nowhere_else_waits_for_certain() -> None:
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    found = known(*zones(a=2), *deployed("web", ["a1", "a2"], spec=big))
    assert found == {"a1": 1, "a2": 1}


def test_two_pods_that_may_take_each_others_place_are_left_to_simulation() -> None:
    half = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1500m"}}}]}
    small = node("a2", status={"allocatable": {"cpu": "2"}})
    objects = [node("a1"), small, *deployed("one", ["a1"], spec=half)]
    assert known(*objects, *deployed("two", ["a1"], spec=half)) == {"a2": 0}


def test_a_silent_node_counts_as_an_empty_hostname() -> None:
    pods = deployed("web", ["a1", "a2", "a3"], spec=spread("web", HOSTNAME))
    assert known(*zones(a=3), *pods, manner="removed") == {"a1": 0, "a2": 0, "a3": 0}
    assert known(*zones(a=3), *pods, manner="unreachable") == {}


@pytest.mark.parametrize("manner", MANNERS)
def test_who_waits_already_may_take_the_place(manner: Manner) -> None:
    assert known(*zones(a=3), *deployed("web", ["a1"], replicas=2), manner=manner) == {}
