"""What all parts of the loop share: who this is, what it was started with, and its tools."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from planner.apply.clock import Clock
from planner.apply.events import Reason, Regarded, event_key, event_of
from planner.apply.writing import Writer
from planner.run.child import Ended, Tick, run_child
from planner.run.log import Log
from planner.run.look import Look
from planner.run.metrics import Metrics
from planner.run.policy import Overrides
from planner.run.state import StateStore, with_told
from planner.sources.live.api import Answer, Api, ApiError, UnreachableError
from planner.sources.live.requests import Message
from planner_models.run_state import RunState

Child = Callable[[Sequence[str], float, Tick], Ended]


@dataclass(frozen=True)
class Settings:
    """What `planner run` was started with.

    `live` are the words that make a child read the same cluster, `planning` those that choose its
    scheduler. A search has `time_limit` seconds; a step of a round that takes longer than
    `round_timeout` seconds is ended.
    """

    file: str
    namespace: str
    pod: str
    overrides: Overrides = field(default_factory=Overrides)
    live: tuple[str, ...] = ()
    planning: tuple[str, ...] = ()
    time_limit: float = 60.0
    round_timeout: float = 1800.0


class MeasuredWriter(Writer):
    """Requests that are counted."""

    def __init__(self, api: Api, metrics: Metrics) -> None:
        super().__init__(api)
        self._metrics = metrics

    def _once(self, message: Message) -> Answer:
        begin, code = time.monotonic(), "none"
        kind = _kind(message.target)
        try:
            answer = super()._once(message)
            code = str(answer.status)
        finally:
            self._metrics.requests.labels(message.method, kind, code).inc()
            seconds = time.monotonic() - begin
            self._metrics.request_seconds.labels(message.method, kind).observe(seconds)
        return answer


def _kind(target: str) -> str:
    """`pods` of `/api/v1/namespaces/x/pods/y?...`: no name of an object becomes a label."""
    parts = target.partition("?")[0].strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    if len(parts) > 2 and parts[0] == "namespaces":
        parts = parts[2:]
    return parts[0] if parts else "version"


@dataclass
class Tools:
    """The cluster, the clock and where to tell what happens."""

    settings: Settings
    writer: Writer
    clock: Clock
    log: Log
    metrics: Metrics
    child: Child = run_child
    state: RunState = field(default_factory=RunState)

    def __post_init__(self) -> None:
        """What is built on the others."""
        self.look = Look(self.writer)
        self.store = StateStore(self.writer, self.settings.namespace)
        self._warned: frozenset[str] = frozenset()

    @property
    def now(self) -> datetime:
        """By the clock that everything here uses."""
        return datetime.fromtimestamp(self.clock.now(), UTC)

    def warn(self, texts: Sequence[str], number: int) -> None:
        """What a plan warned of, unless the last one did so, too."""
        for text in texts:
            if text not in self._warned:
                self.log.say(text, level="warning", number=number)
        self._warned = frozenset(texts)

    def tell(self, regarded: Regarded, reason: Reason, note: str) -> None:
        """Write an event, unless the same was told in the last 15 minutes.

        That somebody is not told is no reason to stop: it goes to the log instead.
        """
        state = with_told(self.state, event_key(regarded, reason, note), self.now)
        if state is None:
            return
        self.state = state
        body = event_of(regarded, reason, note, self.settings.pod, self.clock.now())
        path = f"/apis/events.k8s.io/v1/namespaces/{regarded.namespace}/events"
        try:
            self.writer.post(path, body, pauses=())
        except (ApiError, UnreachableError, http.client.HTTPException) as error:
            text = f"no event on {regarded.kind} {regarded.namespace}/{regarded.name}: {error}"
            self.log.say(text, level="warning")
