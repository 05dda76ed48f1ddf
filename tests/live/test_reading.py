"""Reading a cluster page by page, and what happens when that doesn't go well."""

from __future__ import annotations

import http.client
import re
from itertools import count
from pathlib import Path

import pytest

from planner.examples import example_path
from planner.sources.errors import SourceError
from planner.sources.live.kinds import OTHERS
from planner.sources.live.kubectl_proxy import UnixConnection
from planner.sources.live.reader import ReadProgress
from planner.sources.live.snapshot import read_snapshot
from planner.sources.load import load_paths
from tests.live.clusters import Direct, example_objects, many_pods, names, read
from tests.live.fake_api import FakeApi, Fault, Request, always, nth
from tests.objects import node, pod, workload


def pages_of_pods(api: FakeApi) -> list[Request]:
    return [request for request in api.requests if request.resource == "pods"]


def test_a_cluster_is_read_as_its_dump_is() -> None:
    api = FakeApi(example_objects())
    with api.serve() as address:
        live = read(address).inventory
    file = load_paths([str(example_path("zone-outage"))])
    for kind in ("nodes", "pods", "deployments", "replica_sets", "budgets", "services"):
        assert set(names(getattr(live, kind))) == set(names(getattr(file, kind))), kind


def test_pages_are_put_together() -> None:
    api = FakeApi(many_pods(23))
    with api.serve() as address:
        found = read(address, limit=5)
    assert names(found.inventory.pods) == [f"pod-{index:05}" for index in range(23)]
    assert len(pages_of_pods(api)) == 5


def test_a_page_that_is_worth_it_comes_packed() -> None:
    api = FakeApi(many_pods(1200))
    with api.serve() as address:
        assert len(read(address).inventory.pods) == 1200


def test_finished_pods_are_not_asked_for() -> None:
    done = pod("done", "node-0", status={"phase": "Succeeded"})
    api = FakeApi([*many_pods(2), done])
    with api.serve() as address:
        assert names(read(address).inventory.pods) == ["pod-00000", "pod-00001"]


def test_all_kinds_are_of_one_moment_though_the_cluster_goes_on() -> None:
    """A node, and a pod on it, come while the cluster is read: neither is seen."""
    api = FakeApi(many_pods(20))

    def meanwhile(request: Request) -> Fault | None:
        if request.resource == "pods" and "continue" not in request.query:
            api.put(node("late"))
            api.put(pod("pod-00007-late", "late"))
        return None

    api.faults.append(meanwhile)
    with api.serve() as address:
        found = read(address, limit=5)
    assert "late" not in names(found.inventory.nodes)
    assert "pod-00007-late" not in names(found.inventory.pods)
    assert found.source.resource_version == "100"
    asked = [r.query for r in api.requests if r.resource != "nodes" and "limit" in r.query]
    exact = {q.get("resourceVersion") for q in asked if "continue" not in q}
    assert exact == {"100"}


def test_a_server_that_knows_no_moments_is_read_as_it_is_pods_last() -> None:
    api = FakeApi(many_pods(3))
    api.faults.append(
        lambda r: Fault(400, "BadRequest") if "resourceVersionMatch" in r.query else None
    )
    with api.serve() as address:
        found = read(address)
    assert len(found.inventory.pods) == 3
    plain = [r.resource for r in api.requests if "resourceVersionMatch" not in r.query]
    assert plain[-1] == "pods"


def test_a_server_behind_the_moment_is_read_as_it_is() -> None:
    """Another server of the same cluster may lag; it says so with a cause, and is not asked on."""
    api = FakeApi(many_pods(3))

    def ahead(request: Request) -> Fault | None:
        if request.query.get("resourceVersionMatch"):
            request.query["resourceVersion"] = "999"
        return None

    api.faults.append(ahead)
    with api.serve() as address:
        assert len(read(address).inventory.pods) == 3


@pytest.mark.parametrize(
    "fault",
    [
        Fault(reset=True),
        Fault(cut=True),
        Fault(502, text="Bad Gateway"),
        Fault(503, "ServiceUnavailable"),
        Fault(504, "Timeout"),
    ],
    ids=str,
)
def test_a_page_that_breaks_off_is_asked_for_again(fault: Fault) -> None:
    pauses: list[float] = []
    api = FakeApi(many_pods(23))
    api.faults += [nth("pods", 2, fault), nth("pods", 3, fault), nth("deployments", 1, fault)]
    with api.serve() as address:
        assert len(read(address, limit=5, sleep=pauses.append).inventory.pods) == 23
    assert sorted(pauses) == [1.0, 1.0, 2.0]


def test_a_list_that_breaks_off_again_and_again_is_an_error() -> None:
    api = FakeApi(many_pods(23))
    api.faults.append(lambda r: Fault(reset=True) if "continue" in r.query else None)
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address, limit=5, sleep=lambda _: None)
    assert caught.value.render() == (
        "error: the list of pods broke off 3 times (last: connection reset by peer)\n"
        "help: 5 pods were read until then; --request-timeout 5m, or try again"
    )


def test_a_server_that_is_busy_is_left_alone_for_as_long_as_it_says() -> None:
    pauses: list[float] = []
    api = FakeApi(many_pods(3))
    busy = Fault(429, "TooManyRequests", headers={"Retry-After": "7"})
    api.faults += [nth("pods", 1, busy), nth("services", 1, Fault(429, "TooManyRequests"))]
    with api.serve() as address:
        assert len(read(address, sleep=pauses.append).inventory.pods) == 3
    assert sorted(pauses) == [1.0, 7.0]


def test_a_server_that_stays_busy_is_given_up_after_a_minute() -> None:
    pauses: list[float] = []
    api = FakeApi(many_pods(3))
    api.faults.append(always("pods", Fault(429, "TooManyRequests", headers={"Retry-After": "9"})))
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address, sleep=pauses.append)
    assert sum(pauses) == 63.0
    assert caught.value.message == "the cluster of context prod-eu is too busy to list pods (429)"


def test_a_login_that_has_expired_is_renewed_once() -> None:
    api = FakeApi(many_pods(3))
    api.faults.append(nth("pods", 1, Fault(401, "Unauthorized")))
    with api.serve() as address:
        assert len(read(address).inventory.pods) == 3


def test_a_login_that_is_refused_is_an_error() -> None:
    api = FakeApi(many_pods(3))
    api.tokens = {"other"}
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address)
    assert caught.value.render() == (
        "error: the cluster of context prod-eu doesn't accept your login (401)\n"
        "help: kubectl get --raw /version --context prod-eu shows whether kubectl can log in"
    )


def test_a_server_that_is_not_there_is_not_waited_for() -> None:
    pauses: list[float] = []
    api = FakeApi()
    with api.serve() as address:
        pass
    with pytest.raises(SourceError) as caught:
        read(address, sleep=pauses.append)
    assert caught.value.render() == (
        "error: can't reach the cluster of context prod-eu\n  --> connection refused"
    )
    assert pauses == []


def test_plain_text_of_a_proxy_tells_why_the_server_is_not_reached() -> None:
    api = FakeApi()
    refused = "dial tcp 10.0.0.1:443: connect: connection refused"
    api.faults.append(always("version", Fault(500, text=f"{refused}\n")))
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address)
    assert caught.value.detail == refused


def test_a_state_that_is_compacted_while_pods_are_read_is_left_for_a_newer_one() -> None:
    api = FakeApi(many_pods(23))

    def compacted(request: Request) -> Fault | None:
        """Before the fourth page; from then on no further pod is deleted."""
        if not forgotten and request.resource == "pods" and len(pages_of_pods(api)) == 3:
            forgotten.append(True)
            api.delete("pods", "default/pod-00022")
            api.put(pod("pod-00021-late", "node-0"))
            api.compact()
        return None

    forgotten: list[bool] = []
    api.faults.append(compacted)
    with api.serve() as address:
        found = read(address, limit=5)
    listed = names(found.inventory.pods)
    assert len(listed) == len(set(listed))
    assert listed[-2:] == ["pod-00021", "pod-00021-late"]
    assert found.warnings == ("pods were read over 0 s; the last 2 of 5 pages are newer",)


def test_other_kinds_begin_again_when_their_state_is_compacted() -> None:
    api = FakeApi([*many_pods(1), *(node(f"more-{index}") for index in range(20))])
    done: list[bool] = []

    def compacted(request: Request) -> Fault | None:
        if request.resource == "nodes" and "continue" in request.query and not done:
            done.append(True)
            api.put(node("late"))
            api.compact()
        return None

    api.faults.append(compacted)
    with api.serve() as address:
        found = read(address, limit=5)
    assert len(found.inventory.nodes) == 24
    assert "late" in names(found.inventory.nodes)


@pytest.mark.parametrize("kind", ["nodes", "pods"])
def test_without_nodes_or_pods_nothing_is_said(kind: str) -> None:
    api = FakeApi(many_pods(3))
    api.forbidden.add(kind)
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address)
    everywhere = " in all namespaces" if kind == "pods" else ""
    assert caught.value.message == (
        f"you may not list {kind}{everywhere}, and placement depends on them"
    )
    assert caught.value.detail == (
        f'{kind} is forbidden: User "alice" cannot list resource "{kind}" in API group "" at the '
        "cluster scope"
    )
    assert caught.value.help == (
        "planner rbac > rbac.yaml is what an administrator would have to grant"
    )


def test_forbidden_kinds_are_named_with_what_is_unknown_without_them() -> None:
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    pods = [pod(f"db-{index}", "node-0", spec={"volumes": [claim]}) for index in range(14)]
    api = FakeApi([*many_pods(3), *pods])
    api.forbidden |= {"persistentvolumes", "storageclasses"}
    with api.serve() as address:
        found = read(address)
    assert found.warnings == (
        "2 kinds were not read (forbidden): persistentvolumes, storageclasses\n"
        "  14 pods have claims; where their volumes are is unknown. Others are unaffected.",
    )
    assert found.source.not_read == ("persistentvolumes", "storageclasses")


def test_kinds_that_no_pod_depends_on_are_missed_in_silence() -> None:
    api = FakeApi(many_pods(3))
    api.forbidden |= {"persistentvolumes", "priorityclasses", "namespaces", "limitranges"}
    with api.serve() as address:
        assert read(address).warnings == ()


def test_kinds_that_the_server_does_not_have_are_missed_in_silence() -> None:
    api = FakeApi(many_pods(3))
    api.absent |= {"csistoragecapacities", "poddisruptionbudgets"}
    with api.serve() as address:
        found = read(address)
    assert (found.warnings, found.source.not_read) == ((), ())


@pytest.mark.parametrize("kind", [each.resource for each in OTHERS])
@pytest.mark.parametrize("how", ["forbidden", "absent"])
def test_any_other_kind_can_be_missing(kind: str, how: str) -> None:
    api = FakeApi(many_pods(3))
    getattr(api, how).add(kind)
    with api.serve() as address:
        found = read(address)
    assert len(found.inventory.pods) == 3
    assert found.source.not_read == ((kind,) if how == "forbidden" else ())


def test_kinds_that_were_read_apart_from_each_other_are_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = FakeApi(many_pods(3))
    api.faults.append(
        lambda r: Fault(400, "BadRequest") if "resourceVersionMatch" in r.query else None
    )
    clock = count(1_000_000, 10)
    monkeypatch.setattr("planner.sources.live.pages.time.time", lambda: float(next(clock)))
    with api.serve() as address:
        (told,) = read(address).warnings
    assert re.fullmatch(
        r"the server shows no single moment: the kinds were read over \d+ min \d+ s", told
    )


def test_an_answer_that_comes_too_late_is_asked_for_again() -> None:
    class Hasty(Direct):
        def connection(self) -> http.client.HTTPConnection:
            return http.client.HTTPConnection(self._host, timeout=0.5)

    api = FakeApi(many_pods(3))
    api.faults.append(nth("pods", 1, Fault(delay=1.5)))
    with api.serve() as address:
        found = read_snapshot(Hasty(address), sleep=lambda _: None)
    assert len(found.inventory.pods) == 3


def test_another_version_of_the_server_is_told() -> None:
    api = FakeApi(many_pods(1), version="v1.33.4-eks-abc")
    with api.serve() as address:
        found = read(address)
    assert found.warnings == (
        "the server is v1.33.4; planner decides as kube-scheduler v1.36 does",
    )
    assert found.source.server == "v1.33.4-eks-abc"


def test_what_is_no_api_server_is_said_to_be_none() -> None:
    api = FakeApi()
    api.faults.append(always("nodes", Fault(404, text="<html>not found</html>")))
    with api.serve() as address, pytest.raises(SourceError) as caught:
        read(address)
    assert caught.value.message == "the cluster of context prod-eu doesn't list nodes (404)"


def test_progress_counts_up() -> None:
    told: list[ReadProgress] = []
    api = FakeApi(many_pods(23))
    with api.serve() as address:
        read(address, limit=5, progress=told.append)
    counts = [each.pods for each in told]
    assert counts == sorted(counts)
    assert told[-1] == ReadProgress("prod-eu", 3, 23)


def test_controllers_of_a_running_cluster_get_no_pods_from_templates() -> None:
    """It has made its pods, or a quota keeps it from that."""
    api = FakeApi([*many_pods(1), workload("Deployment", "web", {"replicas": 3})])
    with api.serve() as address:
        assert names(read(address).inventory.pods) == ["pod-00000"]


def test_the_cluster_is_known_by_the_uid_of_kube_system() -> None:
    api = FakeApi(many_pods(1))
    with api.serve() as address:
        source = read(address).source
    assert source.cluster == "1f0c2f5e-0000-4000-8000-000000000001"
    assert source.context == "prod-eu"


def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    class OverSocket(Direct):
        def connection(self) -> http.client.HTTPConnection:
            return UnixConnection(str(tmp_path / "api.sock"), 10.0)

    api = FakeApi(many_pods(3))
    with api.serve_unix(tmp_path / "api.sock"):
        assert len(read_snapshot(OverSocket("")).inventory.pods) == 3
