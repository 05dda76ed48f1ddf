"""What a pod's status says about its containers and conditions, and who else owns it."""

from __future__ import annotations

from planner_models.pod import ContainerState, Pod, PodCondition
from tests.objects import Json, inventory_of, pod


def read(**changes: Json) -> Pod:
    (found,) = inventory_of(pod("web", "a", **changes)).pods
    return found


def test_containers_that_simply_run_are_left_out() -> None:
    running = {"restartCount": 0, "state": {"running": {}}}
    assert read(status={"containerStatuses": [running]}).container_states == ()


def test_restarts_waits_and_ends_are_kept_by_kind_of_container() -> None:
    found = read(
        status={
            "containerStatuses": [
                {"restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
            ],
            "initContainerStatuses": [
                {"restartCount": 1, "state": {"terminated": {"reason": "Error", "exitCode": 3}}}
            ],
            "ephemeralContainerStatuses": [{"state": {"terminated": {}}}],
        }
    )
    assert found.container_states == (
        ContainerState("main", 2, waiting="CrashLoopBackOff"),
        ContainerState("init", 1, terminated="Error", exit_code=3),
        ContainerState("ephemeral", 0, terminated="", exit_code=0),
    )
    assert (found.restarts, found.reasons) == (3, ("CrashLoopBackOff", "Error"))


def test_conditions_have_their_times() -> None:
    time = "1970-01-01T00:01:00Z"
    found = read(
        status={
            "conditions": [
                {"type": "Ready", "status": "False", "reason": "Down", "lastTransitionTime": time},
                {"type": "Initialized", "status": "True"},
            ]
        }
    )
    assert found.conditions == (
        PodCondition("Ready", "False", "Down", 60),
        PodCondition("Initialized", "True"),
    )
    assert read().conditions == ()


def test_owners_beside_the_controller_are_kept() -> None:
    manager = {"kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    other = {"kind": "Team", "name": "shop", "uid": "2"}
    found = read(metadata={"ownerReferences": [other, manager]})
    assert found.owner is not None
    assert found.owner.name == "web"
    assert [owner.name for owner in found.owners] == ["web", "shop"]
    unmanaged = read(metadata={"ownerReferences": [other]})
    assert unmanaged.owner is None
    assert [owner.name for owner in unmanaged.owners] == ["shop"]


def test_the_class_of_service_is_kept_where_it_is_known() -> None:
    assert read(status={"qosClass": "Burstable"}).qos_class == "Burstable"
    assert read().qos_class is None
