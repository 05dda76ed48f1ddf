"""The volume state: what placed pods hold, and that they give it back."""

from __future__ import annotations

from planner.scheduler.framework.state import SchedulingState
from tests.scheduler.volume_examples import (
    claim,
    gets,
    index,
    node,
    place,
    pod,
    remove,
    state_of,
    storage_class,
    volume,
)

NODES = [node("n1"), node("n2")]


def held(state: SchedulingState, name: str) -> dict[str, str]:
    return dict(state.volumes.held(index(state, name)).bind)


def shared_claim() -> SchedulingState:
    return state_of(
        NODES,
        [pod("one", "shared"), pod("two", "shared"), pod("three", "own")],
        claims=[claim("shared"), claim("own")],
        volumes=[volume("disk")],
        classes=[storage_class()],
    )


def test_a_placed_pod_holds_the_volume_that_its_claim_found() -> None:
    state = shared_claim()
    place(state, "one", on="n1")
    assert held(state, "one") == {"shared": "disk"}
    assert gets(state, "two", on="n2") == ({"shared": "disk"}, [])
    assert gets(state, "three", on="n1") == ({}, ["own"])


def test_a_shared_promise_lasts_until_its_last_holder_leaves() -> None:
    state = shared_claim()
    place(state, "one", on="n1")
    place(state, "two", on="n2")
    remove(state, "one")
    assert gets(state, "three", on="n1") == ({}, ["own"])
    remove(state, "two")
    assert gets(state, "three", on="n1") == ({"own": "disk"}, [])


def test_a_pod_that_mounts_a_claim_twice_takes_two_volumes() -> None:
    mounts = [{"name": name, "persistentVolumeClaim": {"claimName": "data"}} for name in ("a", "b")]
    state = state_of(
        NODES,
        [pod("greedy", volumes=mounts), pod("other", "own")],
        claims=[claim("data"), claim("own")],
        volumes=[volume("v1"), volume("v2")],
        classes=[storage_class()],
    )
    place(state, "greedy", on="n1")
    assert gets(state, "other", on="n1") == ({}, ["own"])
    remove(state, "greedy")
    assert gets(state, "other", on="n1") == ({"own": "v1"}, [])


def test_users_of_a_claim_are_counted_where_pods_run() -> None:
    state = state_of(
        NODES,
        [pod("a", "data", on="n1"), pod("b", "data"), pod("c", "data", on="unknown-node")],
        claims=[claim("data", bound_to="disk")],
        volumes=[volume("disk")],
    )
    assert state.volumes.users("default/data") == 1
    place(state, "b", on="n2")
    assert state.volumes.users("default/data") == 2
    remove(state, "a")
    remove(state, "b")
    assert state.volumes.users("default/data") == 0


def test_a_plan_as_the_new_snapshot_keeps_its_promises() -> None:
    state = shared_claim()
    place(state, "one", on="n1")
    again = SchedulingState(state.snapshot())
    assert held(again, "one") == {"shared": "disk"}
    assert gets(again, "three", on="n2") == ({}, ["own"])


def test_a_running_pod_with_an_unbound_claim_promises_nothing() -> None:
    state = state_of(
        NODES,
        [pod("odd", "data", on="n1"), pod("next", "own")],
        claims=[claim("data"), claim("own")],
        volumes=[volume("disk")],
        classes=[storage_class()],
    )
    assert gets(state, "next", on="n1") == ({"own": "disk"}, [])


def test_a_pod_put_where_its_claims_find_nothing_holds_nothing() -> None:
    state = state_of(
        NODES,
        [pod("forced", "data")],
        claims=[claim("data")],
        volumes=[volume("disk", hosts=["n1"])],
        classes=[storage_class(provisioner="kubernetes.io/no-provisioner")],
    )
    place(state, "forced", on="n2")
    assert held(state, "forced") == {}
    remove(state, "forced")
    assert gets(state, "forced", on="n1") == ({"data": "disk"}, [])
