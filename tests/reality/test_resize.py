"""In-place resizes: the largest of what is wanted, allocated and actual takes up the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.cluster import build_cluster
from planner.scheduler.simulate import simulate
from planner.sources.errors import SourceError
from planner.sources.load import load_paths
from tests.objects import Json, inventory_of, pod

DATA = Path(__file__).parent / "data"


def amounts(cpu: str = "", memory: str = "") -> Json:
    return {name: n for name, n in (("cpu", cpu), ("memory", memory)) if n}


def resized(wanted: Json, actual: Json | None, allocated: Json | None, *, reason: str = "") -> Json:
    """A running pod with one container and these three answers."""
    status: Json = {"name": "main", "restartCount": 0}
    if actual is not None:
        status["resources"] = {"requests": actual}
    if allocated is not None:
        status["allocatedResources"] = allocated
    pending = {"type": "PodResizePending", "status": "True", "reason": reason}
    return pod(
        "web",
        "n1",
        spec={"containers": [{"name": "main", "resources": {"requests": wanted}}]},
        status={"containerStatuses": [status], "conditions": [pending] if reason else []},
    )


def requests(*objects: Any) -> dict[str, int]:
    (read,) = inventory_of(*objects).pods
    return dict(read.spec.requests)


@pytest.mark.parametrize("dump", ["live-resize", "resize"])
def test_a_pod_waits_while_another_gives_its_room_back_as_in_reality(dump: str) -> None:
    (result,) = simulate(build_cluster(load_paths([str(DATA / f"{dump}.json")]))).results
    assert result.event_message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


@pytest.mark.parametrize(
    ("wanted", "actual", "allocated", "counts"),
    [
        ("1", "3", "3", 3000),
        ("1", "3", "2", 3000),
        ("1", "2", "3", 3000),
        ("3", "1", "1", 3000),
        ("3", "1", "3", 3000),
        ("1", "1", "1", 1000),
        ("1", "1000m", "1.0", 1000),
    ],
)
def test_the_largest_of_the_three_counts(
    wanted: str, actual: str, allocated: str, counts: int
) -> None:
    found = requests(resized(amounts(wanted), amounts(actual), amounts(allocated)))
    assert found == {"cpu": counts}


def test_each_resource_counts_by_itself() -> None:
    web = resized(amounts("1", "3Gi"), amounts("2", "1Gi"), amounts("2", "1Gi"))
    assert requests(web) == {"cpu": 2000, "memory": 3 << 30}


@pytest.mark.parametrize(("reason", "counts"), [("Infeasible", 1000), ("Deferred", 3000)])
def test_a_wish_that_the_node_can_never_grant_does_not_count(reason: str, counts: int) -> None:
    web = resized(amounts("3"), amounts("1"), amounts("1"), reason=reason)
    assert requests(web) == {"cpu": counts}


def test_a_status_without_actual_resources_says_nothing() -> None:
    assert requests(resized(amounts("1"), None, amounts("3"))) == {"cpu": 1000}


def test_a_pod_without_a_node_counts_with_its_spec() -> None:
    waiting = resized(amounts("1"), amounts("3"), amounts("3"))
    del waiting["spec"]["nodeName"]
    assert requests(waiting) == {"cpu": 1000}


def test_of_init_containers_only_sidecars_are_resized() -> None:
    def of(restart: Json) -> dict[str, int]:
        init = {"name": "i", "resources": {"requests": amounts("1")}, **restart}
        told = {
            "name": "i",
            "resources": {"requests": amounts("3")},
            "allocatedResources": amounts("3"),
        }
        spec = {"containers": [{"name": "main"}], "initContainers": [init]}
        return requests(pod("web", "n1", spec=spec, status={"initContainerStatuses": [told]}))

    assert of({"restartPolicy": "Always"}) == {"cpu": 3000}
    assert of({}) == {"cpu": 1000}


def test_requests_of_the_whole_pod_are_resized_likewise() -> None:
    web = pod(
        "web",
        "n1",
        spec={"containers": [{"name": "main"}], "resources": {"requests": amounts("1", "1Gi")}},
        status={
            "resources": {"requests": amounts("2", "1Gi")},
            "allocatedResources": amounts("2", "1Gi"),
        },
    )
    assert requests(web) == {"cpu": 2000, "memory": 1 << 30}


def test_replicas_without_a_resize_share_their_spec_and_resized_ones_theirs() -> None:
    def replica(name: str, actual: str) -> Json:
        made = resized(amounts("1"), amounts(actual), amounts(actual))
        made["metadata"]["name"] = name
        return made

    pods = inventory_of(*(replica(f"p{i}", cpu) for i, cpu in enumerate("1133"))).pods
    specs = {each.name: each.spec for each in pods}
    assert specs["p0"] is specs["p1"]
    assert specs["p2"] is specs["p3"]
    assert specs["p0"] is not specs["p2"]


def test_an_amount_that_is_none_is_named_with_its_field() -> None:
    with pytest.raises(SourceError) as refused:
        inventory_of(resized(amounts("1"), amounts("much"), amounts("1")))
    assert refused.value.field == "status.containerStatuses[0].resources.requests.cpu"
