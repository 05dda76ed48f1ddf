"""What planner expects of an API server, asked of the fake one and of a real one.

The real one runs wherever KUBEBUILDER_ASSETS points to its binaries (`make test-live`), so that the
fake can't drift from the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol

import pytest
import yaml

import planner
from planner.apply.access import eviction_path, node_path, writing
from planner.apply.clock import Clock
from planner.apply.lease import Holding, Lease, LockedError
from planner.apply.objects import eviction, who
from planner.apply.writing import Writer
from planner.sources.errors import SourceError
from planner.sources.live.api import Api, ApiError
from planner.sources.live.connect import Wanted, connect
from planner.sources.live.kinds import BUDGETS, KINDS, NODES, PODS
from planner.sources.live.names import names as some_names
from planner.sources.live.pages import UNFINISHED, Page, pages
from planner.sources.live.requests import Requests
from planner.sources.live.snapshot import read_snapshot
from tests.live.clusters import KUBE_SYSTEM, Direct, names
from tests.live.fake_api import FakeApi
from tests.live.real_api import RealApi, missing, real_api

Json = dict[str, Any]
REAL = pytest.param(
    "real",
    marks=[pytest.mark.envtest, pytest.mark.skipif(missing() is not None, reason=f"{missing()}")],
)


CLEARED = (
    ("pods", "/api/v1"),
    ("nodes", "/api/v1"),
    ("poddisruptionbudgets", "/apis/policy/v1"),
    ("leases", "/apis/coordination.k8s.io/v1"),
)


class Server(Protocol):
    """What both can do."""

    def put(self, item: Json) -> Json: ...

    def delete(self, resource: str, key: str) -> None: ...

    def compact(self) -> None: ...


def node(name: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


def pod(name: str, node_name: str = "", phase: str = "") -> Json:
    made: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "example.com/web:1"}]},
    }
    if node_name:
        made["spec"]["nodeName"] = node_name
    if phase:
        made["status"] = {"phase": phase}
    return made


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApi]:
    with (
        pytest.MonkeyPatch.context() as environment,
        real_api(tmp_path_factory.mktemp("apiserver")) as api,
    ):
        environment.setenv("PLANNER_KUBECTL", api.kubectl)
        yield api


@pytest.fixture(params=["fake", REAL])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Api]]:
    """An empty cluster, and planner's way to it: for the real one through its own kubectl."""
    if request.param == "fake":
        api = FakeApi([KUBE_SYSTEM])
        with api.serve() as address:
            yield api, Direct(address)
        return
    actual: RealApi = request.getfixturevalue("real")
    access = writing("kube-system", "planner")
    with closing(connect(Wanted(kubeconfig=actual.kubeconfig), access)) as way:
        way.ready()
        yield actual, way
    for kind, prefix in CLEARED:
        actual.clear(kind, prefix)


@contextmanager
def asking(way: Api) -> Iterator[Requests]:
    with closing(Requests(way)) as requests:
        yield requests


def fill(server: Server, pods: int = 7) -> None:
    server.put(node("node-a"))
    for index in range(pods):
        server.put(pod(f"web-{index}", "node-a"))


def listed(found: list[Page]) -> list[str]:
    return [item["metadata"]["name"] for page in found for item in json.loads(page.data)["items"]]


def test_the_server_says_its_version(server: tuple[Server, Api]) -> None:
    with asking(server[1]) as requests:
        told = json.loads(requests.get("/version").body)
    assert told["gitVersion"].startswith("v1.")


def test_every_kind_has_a_list(server: tuple[Server, Api]) -> None:
    with asking(server[1]) as requests:
        for kind in KINDS:
            (page, *_) = pages(requests, kind)
            assert json.loads(page.data)["kind"].endswith("List"), kind
            assert page.resource_version, kind


def test_pages_hold_the_limit_and_the_same_state(server: tuple[Server, Api]) -> None:
    fill(server[0])
    with asking(server[1]) as requests:
        found = list(pages(requests, PODS, limit=3))
    assert [page.items for page in found] == [3, 3, 1]
    assert len({page.resource_version for page in found}) == 1
    assert listed(found) == [f"web-{index}" for index in range(7)]


def test_items_of_a_list_do_not_say_their_kind(server: tuple[Server, Api]) -> None:
    fill(server[0], 1)
    with asking(server[1]) as requests:
        (page,) = pages(requests, PODS)
    text = json.loads(page.data)
    assert (text["kind"], text["apiVersion"]) == ("PodList", "v1")
    assert "kind" not in text["items"][0]
    assert list(text).index("metadata") < list(text).index("items")


def test_a_past_state_is_listed_exactly(server: tuple[Server, Api]) -> None:
    fill(server[0])
    with asking(server[1]) as requests:
        (nodes,) = pages(requests, NODES)
        server[0].put(pod("web-late", "node-a"))
        server[0].delete("pods", "default/web-3")
        before = list(pages(requests, PODS, nodes.resource_version, limit=3))
        now = list(pages(requests, PODS))
    assert listed(before) == [f"web-{index}" for index in range(7)]
    assert "web-late" in listed(now)
    assert "web-3" not in listed(now)


def test_finished_pods_are_left_out_by_the_server(server: tuple[Server, Api]) -> None:
    fill(server[0], 2)
    server[0].put(pod("done", "node-a", "Succeeded"))
    server[0].put(pod("broken", "node-a", "Failed"))
    with asking(server[1]) as requests:
        assert listed(list(pages(requests, PODS))) == ["web-0", "web-1"]
        everything = requests.get(PODS.path, {"limit": 500})
    assert len(json.loads(everything.body)["items"]) == 4
    assert UNFINISHED["fieldSelector"].count("!=") == 2


def test_pods_without_a_node_can_be_asked_for(server: tuple[Server, Api]) -> None:
    fill(server[0], 2)
    server[0].put(pod("waits"))
    found = list(some_names(server[1], PODS, "default", waiting_first=True))
    assert found == [("waits", "waits for a node"), ("web-0", ""), ("web-1", "")]


def test_a_state_of_the_future_is_refused(server: tuple[Server, Api]) -> None:
    fill(server[0], 1)
    with asking(server[1]) as requests, pytest.raises(ApiError) as caught:
        next(pages(requests, PODS, "999999999"))
    assert caught.value.code in (400, 410, 504)


def test_a_path_that_is_none_is_refused(server: tuple[Server, Api]) -> None:
    with asking(server[1]) as requests, pytest.raises(ApiError) as caught:
        requests.get("/api/v1/nothing", pauses=())
    assert caught.value.code in (403, 404)


def test_a_cluster_is_read_at_one_moment(server: tuple[Server, Api]) -> None:
    fill(server[0])
    found = read_snapshot(server[1], limit=2)
    assert names(found.inventory.nodes) == ["node-a"]
    assert names(found.inventory.pods) == [f"web-{index}" for index in range(7)]
    assert found.source.cluster
    assert found.source.resource_version


def test_a_compacted_state_loses_no_pod_and_repeats_none(server: tuple[Server, Api]) -> None:
    """A server may have the old state in memory, and go on with it; or say 410, with a token."""
    fill(server[0])
    with asking(server[1]) as requests:
        found = pages(requests, PODS, limit=3)
        first = next(found)
        server[0].put(pod("web-9", "node-a"))
        server[0].compact()
        rest = list(found)
    told = listed([first, *rest])
    assert len(told) == len(set(told))
    assert set(told) >= {f"web-{index}" for index in range(7)}
    assert ("web-9" in told) == any(page.newer for page in rest)


def running(name: str) -> Json:
    ready = [{"type": "Ready", "status": "True"}]
    return {**pod(name, "node-a"), "status": {"phase": "Running", "conditions": ready}}


def budget(allowed: int, name: str = "web", generation: int = 1) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", "generation": 1},
        "spec": {"minAvailable": 3 - allowed, "selector": {"matchLabels": {"app": "web"}}},
        "status": {
            "observedGeneration": generation,
            "disruptionsAllowed": allowed,
            "currentHealthy": 3,
            "desiredHealthy": 3 - allowed,
            "expectedPods": 3,
        },
    }


@pytest.fixture
def writer(server: tuple[Server, Api]) -> Iterator[Writer]:
    with closing(Writer(server[1])) as made:
        yield made


class Evicting:
    """Three running pods, and a way to evict them."""

    def __init__(self, server: tuple[Server, Api], writer: Writer, *budgets: Json) -> None:
        self.server, _ = server
        self.writer = writer
        self.server.put(node("node-a"))
        made = (self.server.put(running(f"web-{index}")) for index in range(3))
        self.uids = [each["metadata"]["uid"] for each in made]
        for each in budgets:
            self.server.put(each)

    def ask(self, number: int, uid: str | None = None, *, dry_run: bool = False) -> int:
        body = eviction("default", f"web-{number}", uid or self.uids[number])
        path = eviction_path("default", f"web-{number}")
        return self.writer.post(path, body, dry_run=dry_run, pauses=()).status

    def refused(self, number: int, uid: str | None = None, *, dry_run: bool = False) -> ApiError:
        with pytest.raises(ApiError) as caught:
            self.ask(number, uid, dry_run=dry_run)
        return caught.value

    def budget_left(self) -> int:
        (page,) = pages(self.writer, BUDGETS)
        (found,) = json.loads(page.data)["items"]
        return int(found["status"]["disruptionsAllowed"])


def test_an_eviction_ends_the_pod_and_takes_one_disruption(
    server: tuple[Server, Api], writer: Writer
) -> None:
    evicting = Evicting(server, writer, budget(1))
    assert evicting.ask(0) == 201
    assert evicting.budget_left() == 0
    assert evicting.ask(0) == 201  # it is terminating already
    (page,) = pages(evicting.writer, PODS)
    ending = ["deletionTimestamp" in each["metadata"] for each in json.loads(page.data)["items"]]
    assert ending == [True, False, False]


def test_a_refused_uid_costs_a_disruption_unless_it_was_asked_before(
    server: tuple[Server, Api], writer: Writer
) -> None:
    evicting = Evicting(server, writer, budget(1))
    wrong = "00000000-0000-0000-0000-000000000000"
    assert evicting.refused(0, wrong, dry_run=True).code == 409
    assert evicting.ask(0, dry_run=True) == 201
    assert evicting.budget_left() == 1
    assert evicting.refused(0, wrong).code == 409
    assert evicting.budget_left() == 0


def test_a_budget_that_is_used_up_says_so(server: tuple[Server, Api], writer: Writer) -> None:
    error = Evicting(server, writer, budget(0)).refused(0)
    cause = error.cause("DisruptionBudget")
    assert error.code == 429
    assert cause is not None
    assert cause.message == ("The disruption budget web needs 3 healthy pods and has 3 currently")


def test_a_budget_that_lags_says_when_to_ask_again(
    server: tuple[Server, Api], writer: Writer
) -> None:
    error = Evicting(server, writer, budget(1, generation=0)).refused(0)
    assert (error.code, error.retry_after) == (429, 10.0)
    assert error.cause("DisruptionBudget") is not None


def test_two_budgets_over_a_pod_are_an_error(server: tuple[Server, Api], writer: Writer) -> None:
    evicting = Evicting(server, writer, budget(1), budget(1, "again"))
    assert evicting.refused(0, dry_run=True).code == 500


def test_a_pod_that_is_gone_is_not_found(server: tuple[Server, Api], writer: Writer) -> None:
    evicting = Evicting(server, writer)
    evicting.server.delete("pods", "default/web-1")
    assert evicting.refused(1).code == 404


def test_a_patch_is_for_one_version_of_a_node(server: tuple[Server, Api], writer: Writer) -> None:
    made = server[0].put(node("node-a"))["metadata"]["resourceVersion"]
    first = {"metadata": {"resourceVersion": made, "annotations": {"planner/cordon": "x/1"}}}
    told = json.loads(writer.patch(node_path("node-a"), first).body)
    assert told["metadata"]["annotations"] == {"planner/cordon": "x/1"}
    with pytest.raises(ApiError) as caught:
        writer.patch(node_path("node-a"), {**first, "spec": {"unschedulable": True}})
    assert caught.value.code == 409
    gone = {"metadata": {"annotations": {"planner/cordon": None}}}
    told = json.loads(writer.patch(node_path("node-a"), gone).body)
    assert "planner/cordon" not in told["metadata"].get("annotations", {})


def test_the_lock_is_one_holders_at_a_time(server: tuple[Server, Api]) -> None:
    def lease(holder: str) -> Lease:
        return Lease(Writer(server[1]), Holding(holder, "planner apply"), Clock())

    first, second = lease("alice@laptop_1"), lease("bob@desk_2")
    first.acquire()
    with pytest.raises(LockedError, match="alice@laptop holds the lock kube-system/planner since"):
        second.acquire()
    first.release()
    second.acquire()
    second.check()
    second.release()


def test_the_server_says_who_one_is(writer: Writer) -> None:
    assert who(writer) in ("alice", "admin")


@pytest.mark.envtest
@pytest.mark.skipif(missing() is not None, reason=f"{missing()}")
def test_the_role_that_planner_asks_for_is_enough_and_shows_no_secrets(real: RealApi) -> None:
    live = planner.Live(kubeconfig=real.as_alice())
    with pytest.raises(SourceError) as caught:
        planner.load(live=live)
    assert "planner rbac" in str(caught.value.help)
    real.grant(yaml.safe_load(planner.rbac()), "alice")
    cluster = planner.load(live=live)
    assert cluster.source is not None
    assert cluster.source.not_read == ()
    with closing(connect(Wanted(kubeconfig=live.kubeconfig))) as way, asking(way) as requests:
        way.ready()
        with pytest.raises(ApiError) as refused:
            requests.get("/api/v1/secrets", pauses=())
    assert refused.value.code == 403
