"""`planner run` on the fake API server, on a clock that nobody waits for."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planner.apply.clock import Clock
from planner.cli import app
from planner.run.child import Ended, Tick
from planner.run.context import MeasuredWriter, Settings, Tools
from planner.run.log import Format, Log
from planner.run.loop import Loop
from planner.run.metrics import Metrics
from planner.run.policy import Overrides, PolicyFile
from planner.run.server import Health
from planner.sources.live.api import Api
from planner_models.run_state import RunState
from tests.live.clusters import Direct, example_objects
from tests.live.fake_api import RESOURCES, FakeApi

Json = dict[str, Any]
NOON = datetime(2026, 5, 1, 12, 5, tzinfo=UTC).timestamp()
OWN = "planner-system"
POLICY = """
apiVersion: planner/v1
kind: RunPolicy
limits: {perRound: 10, perNode: 10, perNamespace: 10}
"""


@dataclass
class HandClock:
    """Time passes when somebody sleeps."""

    time: float = NOON

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


Answer = Callable[[Sequence[str], Tick], Ended]


@dataclass
class World:
    """A cluster, one replica of planner, and what both did."""

    api: FakeApi
    address: str
    folder: Path
    pod: str = "planner-0"
    overrides: Overrides = field(default_factory=Overrides)
    log_format: Format = "text"
    clock: HandClock = field(default_factory=HandClock)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    """By command, what a child answers in place of planner itself."""
    others: list[World] = field(default_factory=list)
    way: Api | None = None
    """To the server, if not over the network."""
    time: Clock | None = None

    def __post_init__(self) -> None:
        self.policy_file = self.folder / "policy.yaml"
        if not self.policy_file.exists():
            self.policy_file.write_text(POLICY)
        self.log = io.StringIO()
        self.metrics = Metrics()
        self.health = Health(self.clock.now, 3600.0)
        self.stopping = False
        settings = Settings(str(self.policy_file), OWN, self.pod, self.overrides, ("--live",))
        self.tools = Tools(
            settings,
            MeasuredWriter(self.way or Direct(self.address), self.metrics),
            self.time or Clock(self.clock.now, self.clock.sleep),
            Log(self.log, self.log_format, self.clock.now),
            self.metrics,
            self._child,
        )
        self.loop = Loop(
            self.tools,
            PolicyFile(str(self.policy_file), self.overrides),
            self.health,
            lambda: self.stopping,
        )

    def replica(self, pod: str) -> World:
        """Another one in the same cluster, at the same time."""
        made = World(self.api, self.address, self.folder, pod=pod, clock=self.clock)
        self.others.append(made)
        return made

    def rounds(self, number: int, between: Callable[[int], object] = lambda _: None) -> str:
        """Let so many rounds pass; `between` is called before each; what was said."""
        done = 0
        before = self.tools.log.say

        def say(text: str, **more: Any) -> None:
            nonlocal done
            before(text, **more)
            if "result" in more:
                done += 1
                self.stopping = done == number
                if not self.stopping:
                    between(done + 1)

        self.tools.log.say = say  # type: ignore[method-assign]
        between(1)
        self.loop.run()
        self.tools.log.say = before  # type: ignore[method-assign]
        self.stopping = False
        return self.log.getvalue()

    def policy(self, text: str) -> None:
        head = POLICY if "limits:" not in text else POLICY[: POLICY.index("limits:")]
        self.policy_file.write_text(head + text)

    def written(self) -> list[tuple[str, str]]:
        """Every request that changes something."""
        return [(each.method, each.path) for each in self.api.requests if each.method != "GET"]

    def state(self) -> RunState:
        found = self.api.found("configmaps", f"{OWN}/planner-state")
        assert found is not None
        return RunState.model_validate_json(found["data"]["state.json"])

    def events(self) -> list[Json]:
        return self.api.all_of("events")

    def value(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)

    def _child(self, words: Sequence[str], limit: float, tick: Tick) -> Ended:
        self.calls.append(tuple(words))
        if words[0] in self.answers:
            return self.answers[words[0]](words, tick)
        return planner_on(self.api, words)


def planner_on(api: FakeApi, words: Sequence[str]) -> Ended:
    """The same command on a dump of what the server has, in this process.

    Rounds of a cluster that nothing happens in are all alike: it is asked once.
    """
    items = [
        {"apiVersion": _version(kind), "kind": kind, **each}
        for kind, resource in RESOURCES.items()
        for each in api.all_of(resource)
    ]
    given = [word for word in words if word != "--live"]
    policy = given.index("--run-policy") + 1 if "--run-policy" in given else None
    text = Path(given.pop(policy)).read_text() if policy else ""
    unversioned = re.sub(r'"resourceVersion": "\d+"', "", json.dumps(items))
    key = hashlib.sha256(f"{given}{text}{unversioned}".encode()).hexdigest()
    if key not in _KNOWN:
        _KNOWN[key] = _run(items, given, policy, text)
    return _KNOWN[key]


_KNOWN: dict[str, Ended] = {}


def _run(items: list[Json], given: list[str], policy: int | None, text: str) -> Ended:
    printed, said = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        if policy is not None:
            (Path(folder) / "policy.yaml").write_text(text)
            given = [*given[:policy], str(Path(folder) / "policy.yaml"), *given[policy:]]
        if given[0] == "evict":
            given = [*given, "--seeds", "4"]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            code = app.main([*given, "-f", str(file)])
    return Ended(code, printed.getvalue().encode(), said.getvalue(), 1.5)


def _version(kind: str) -> str:
    from planner.sources.live.kinds import KINDS

    found = next(each for each in KINDS if each.resource == RESOURCES[kind])
    return f"{found.group}/{found.version}".lstrip("/")


@contextmanager
def world(folder: Path, objects: Sequence[Json] | None = None, **options: Any) -> Iterator[World]:
    """The zone that came back, unless told otherwise."""
    api = FakeApi(example_objects() if objects is None else objects)
    with api.serve() as address:
        first = World(api, address, folder, **options)
        yield first
        for each in (first, *first.others):
            each.tools.writer.close()


def not_ready(api: FakeApi, *names: str) -> None:
    """These nodes are lost, all others well."""
    for node in api.all_of("nodes"):
        lost = node["metadata"]["name"] in names
        conditions = [{"type": "Ready", "status": "Unknown" if lost else "True"}]
        api.put(
            {**node, "kind": "Node", "status": {**node.get("status", {}), "conditions": conditions}}
        )


def report(plan: Json, **changes: Any) -> bytes:
    """An ApplyReport of a plan that went as promised."""
    evictions = [
        {
            "pod": each["pod"],
            "node": each["node"],
            "wave": each["wave"],
            "outcome": "evicted",
            "landedOn": each["expectedNodes"][0],
            "asPromised": True,
        }
        for each in plan["evictions"]
    ]
    body = {"planId": "5c1e09a4f2d7", "result": "done", "waves": 1, "evictions": evictions}
    return json.dumps({**body, **changes}).encode()
