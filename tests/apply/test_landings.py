"""Who came for whom, and what is waited for."""

from __future__ import annotations

import copy
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from planner.apply.course import Departure
from planner.apply.landings import matched
from planner.apply.pods import SeenPod
from tests.apply.applying import Applying, plan_for
from tests.apply.world_api import example_api

NODES = "abcd"


def departure(number: int, expected: str) -> Departure:
    return Departure(
        f"shop/p{number}", f"u{number}", "deploy/p", "ReplicaSet/p", "z", tuple(expected)
    )


def seen(number: int, node: str) -> SeenPod:
    data = {"metadata": {"name": f"n{number}", "uid": f"n{number}"}, "spec": {"nodeName": node}}
    return msgspec.convert(data, SeenPod)


@given(
    st.lists(st.sets(st.sampled_from(NODES), min_size=1), max_size=5),
    st.lists(st.sampled_from(NODES), max_size=5),
)
def test_as_many_as_possible_land_as_promised(expected: list[set[str]], nodes: list[str]) -> None:
    gone = [departure(i, "".join(sorted(each))) for i, each in enumerate(expected)]
    came = [seen(i, node) for i, node in enumerate(nodes)]
    pairs = matched(gone, came)
    assert len(pairs) == min(len(gone), len(came))
    assert len({each.uid for each, _, _ in pairs}) == len({pod.uid for _, pod, _ in pairs})
    assert all((pod.node in each.expected) == promised for each, pod, promised in pairs if promised)
    assert sum(promised for _, _, promised in pairs) == _most(expected, nodes)


def _most(expected: list[set[str]], nodes: list[str]) -> int:
    """By trying all: each departure takes a pod or none."""
    if not expected:
        return 0
    first, *rest = expected
    best = _most(rest, nodes)
    for index, node in enumerate(nodes):
        if node in first:
            best = max(best, 1 + _most(rest, nodes[:index] + nodes[index + 1 :]))
    return best


def test_a_pod_without_a_promise_may_land_anywhere() -> None:
    ((_, _, promised),) = matched([departure(0, "")], [seen(0, "d")])
    assert promised


def test_new_pods_have_to_be_ready_for_their_min_ready_seconds(tmp_path: Path) -> None:
    api = example_api()
    for each in api.world.workloads:
        each["spec"]["minReadySeconds"] = 90
    api.sync()
    applying = Applying(api, plan_for(api, seeds=2), tmp_path)
    report = applying.run(last_wave=1)
    (started,), (done,) = applying.events("asked"), applying.events("waveDone")
    assert report.result == "done"
    assert (done.at - started.at).total_seconds() >= 90


def test_a_wave_that_is_not_over_in_time_stops_it(tmp_path: Path) -> None:
    api = example_api()
    plan = plan_for(api, seeds=2)
    before = copy.copy(api.world.pods)

    def broken(_: object) -> None:
        for pod in api.world.pods:
            pod["broken"] = pod["broken"] or pod not in before

    api.at += [(at, broken) for at in (1.0, 2.0, 3.0, 4.0, 5.0)]
    report = Applying(api, plan, tmp_path).run(wave_timeout=60)
    assert report.result == "stopped"
    assert report.reason[0] == "a wave is not over in time."
    assert any("not ready" in line for line in report.reason)
