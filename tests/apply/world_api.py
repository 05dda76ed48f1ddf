"""The fake API server over a small Kubernetes on virtual time.

`WorldApi` serves the objects of a `World`; whatever is written changes the world. Time passes only
when somebody sleeps: then controllers, kube-scheduler, the disruption controller and slow kubelets
act in any order, drawn by the seed. An observer looks at every eviction.
"""

from __future__ import annotations

import copy
import http.client
import json
import random
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from planner.apply.clock import Clock
from tests.live.clusters import KUBE_SYSTEM, example_objects
from tests.live.fake_api import FakeApi
from tests.live.fake_requests import Json, Request, status
from tests.world.controllers import ALL
from tests.world.world import World, answers, leaving, note_end, schedule, selects, shown

START = datetime(2026, 11, 17, 12, 0, tzinfo=UTC).timestamp()
Incident = Callable[["WorldApi"], None]


class WorldApi(FakeApi):
    """A running cluster; `at` are things that happen when so many seconds have passed."""

    def __init__(
        self, world: World, seed: int = 0, lag: int = 1, others: Iterable[Json] = ()
    ) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.now = START
        self.lag = lag
        """Seconds that the disruption controller takes to count again."""
        self.at: list[tuple[float, Incident]] = []
        self.evicted: list[str] = []
        self.evicted_last = START
        """When the last one of them was."""
        self.broken_budgets: list[str] = []
        self.dead = False
        """Whether the process that talks to it was killed: nothing of it arrives any more."""
        self._counted = 0.0
        self._told: dict[tuple[str, str], Json] = {}
        super().__init__([KUBE_SYSTEM, *others])
        for pod in world.pods:
            pod["metadata"].setdefault("creationTimestamp", "2026-05-01T11:00:00Z")
        self.sync()

    # Time

    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)

    def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            step = min(1.0, until - self.now)
            self.now += step
            due = [incident for at, incident in self.at if at <= self.now - START]
            self.at = [(at, each) for at, each in self.at if at > self.now - START]
            for incident in due:
                incident(self)
            if self.random.random() < step:
                self.tick()

    def tick(self) -> None:
        """Everybody has a turn, or misses it."""
        actors: list[Callable[[World], object]] = [*self.world.controllers, schedule, _kubelets]
        self.random.shuffle(actors)
        for actor in actors:
            if self.random.random() < 0.8:
                actor(self.world)
        self.sync()

    def settle(self) -> None:
        """Until nothing happens any more, however long that takes."""
        self.world.settle()
        self._counted = 0.0
        self.sync()

    # Objects

    def sync(self) -> None:
        """The world's objects as the API shows them; budgets are counted when it is time."""
        counted = self.now - self._counted >= self.lag
        now: dict[tuple[str, str], Json] = {}
        for each in (*self.world.nodes, *self.world.workloads):
            now[each["kind"], _key(each)] = each
        for pod in self.world.pods:
            created = datetime.fromtimestamp(self.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            pod["metadata"].setdefault("creationTimestamp", created)
            now["Pod", _key(pod)] = shown(pod)
        for budget in self.world.budgets:
            known = self._told.get((budget["kind"], _key(budget)))
            stale = self.found("poddisruptionbudgets", _key(budget))
            fresh = counted or known is None or stale is None
            counts = self._counts(budget) if fresh else (stale or {})["status"]
            now[budget["kind"], _key(budget)] = {**budget, "status": counts}
        self._counted = self.now if counted else self._counted
        for key in self._told.keys() - now.keys():
            self.delete({"Pod": "pods"}.get(key[0], f"{key[0].lower()}s"), key[1])
        for key, item in now.items():
            if self._told.get(key) != item:
                super().put(copy.deepcopy(item))
        self._told = copy.deepcopy(now)

    def _counts(self, budget: Json) -> Json:
        chosen = [pod for pod in self.world.pods if selects(budget, pod)]
        healthy = sum(pod["ready"] and not leaving(pod) for pod in chosen)
        desired, expected = self.world._desired(budget, chosen)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        return {
            "observedGeneration": budget["metadata"].get("generation", 1),
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
        }

    def put(self, item: Json) -> Json:
        """What is patched changes the world; a budget's status is the server's own."""
        stored = super().put(item)
        if item["kind"] == "Node":
            name = item["metadata"]["name"]
            self.world.cordon(name, on=bool(item["spec"].get("unschedulable")))
            node = self.world.node(name)
            node["metadata"] = {**node["metadata"]}
            node["metadata"]["annotations"] = dict(item["metadata"].get("annotations") or {})
            self.sync()
        elif item["kind"] == "PodDisruptionBudget":
            known = ("PodDisruptionBudget", _key(item))
            self._told[known] = {**self._told[known], "status": item["status"]}
        return stored

    def end_pod(self, pod: Json) -> None:
        """An eviction that went through; the observer looks whether a budget bears it."""
        found = next(p for p in self.world.pods if p["metadata"]["uid"] == pod["metadata"]["uid"])
        if leaving(found):
            return
        self.evicted.append(found["metadata"]["uid"])
        self.evicted_last = self.now
        budgets = [each for each in self.world.budgets if selects(each, found)]
        if found["status"]["phase"] != "Pending":
            for budget in budgets:
                if not self.world._lets_go(budget, found):
                    self.broken_budgets.append(f"{_key(budget)} by {found['metadata']['name']}")
        found["disrupted"] = True
        self.world.delete(found)
        self.sync()

    def answer(self, request: Request) -> tuple[int, Mapping[str, str], Any]:
        found = [fault for script in self.faults if (fault := script(request))]
        if found and found[0].status:
            return status(found[0].status, found[0].reason, f"{found[0].reason} by a test")
        return super().answer(request)

    # What there is to see

    def cordoned(self) -> list[str]:
        return [n["metadata"]["name"] for n in self.world.nodes if n["spec"].get("unschedulable")]

    def marked(self) -> list[str]:
        """Nodes with an annotation of ours."""
        marks = ((n["metadata"]["name"], n["metadata"].get("annotations") or {})
                 for n in self.world.nodes)  # fmt: skip
        return [name for name, annotations in marks if "planner/cordon" in annotations]


def example_api(name: str = "zone-outage", seed: int = 1) -> WorldApi:
    """A cluster that ships with planner, alive."""
    objects = example_objects(name)
    kinds: dict[str, list[Json]] = {}
    for each in objects:
        kinds.setdefault(each["kind"], []).append(copy.deepcopy(each))
    world = World(
        nodes=kinds.pop("Node"),
        workloads=[*kinds.pop("Deployment"), *kinds.pop("ReplicaSet")],
        budgets=kinds.pop("PodDisruptionBudget", []),
        pods=kinds.pop("Pod"),
        controllers=ALL,
        seed=seed,
    )
    for pod in world.pods:
        conditions = pod["status"].get("conditions", [])
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        pod |= {"ready": ready, "broken": False}
    world.made = len(world.pods)
    del kinds["Namespace"]
    return WorldApi(world, seed, others=[each for found in kinds.values() for each in found])


def _kubelets(world: World) -> bool:
    """Each pod starts or ends sooner or later; on a node that is away nothing happens."""
    for pod in list(world.pods):
        name = pod["spec"].get("nodeName")
        if not name or not answers(world.node(name)) or world.random.random() < 0.6:
            continue
        if leaving(pod):
            world.pods.remove(pod)
            note_end(world, pod)
        elif not pod["ready"] and not pod["broken"]:
            pod["ready"] = True
            pod["status"]["phase"] = "Running"
    return True


def _key(item: Json) -> str:
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


class InProcess:
    """A way to the server without any network."""

    place = "the cluster of context prod-eu"
    context = "prod-eu"
    namespace = "default"

    def __init__(self, api: WorldApi) -> None:
        self._api = api
        self.logins = 0

    def ready(self) -> None:
        """At once."""

    def connection(self) -> http.client.HTTPConnection:
        return _Connection(self._api)

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.logins}"}

    def log_in_again(self) -> None:
        self.logins += 1

    def login_help(self) -> str:
        return "log in"

    def close(self) -> None:
        """Nothing to end."""


class _Connection(http.client.HTTPConnection):
    """Answers come from the server's own function."""

    def __init__(self, api: WorldApi) -> None:
        super().__init__("localhost")
        self._api = api
        self._answer: tuple[int, Mapping[str, str], bytes] = (0, {}, b"")

    def request(
        self, method: str, url: str, body: Any = None, headers: Any = None, **_: Any
    ) -> None:
        if self._api.dead:
            raise ConnectionResetError
        parts = urlsplit(url)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        sent = json.loads(body) if body else {}
        asked = Request(method, parts.path, query, dict(headers or {}), sent)
        code, told, found = self._api.answer(asked)
        self._answer = (code, told, json.dumps(found).encode())

    def getresponse(self) -> Any:
        code, told, found = self._answer

        return SimpleNamespace(status=code, headers=dict(told), read=lambda: found)

    def close(self) -> None:
        """Nothing to end."""
