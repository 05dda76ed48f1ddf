"""Everything that `planner run` needs to begin, put together; and what `planner status` reads."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from planner.apply.access import NAME, events_path, leases_path, node_path
from planner.apply.clock import Clock, seconds_of
from planner.apply.lease import DURATION
from planner.apply.writing import Writer
from planner.errors import PlannerError
from planner.exit_codes import DONE, INTERRUPTED
from planner.run.context import MeasuredWriter, Settings, Tools
from planner.run.decide import left_alone
from planner.run.log import Format, Log
from planner.run.look import DESCHEDULER
from planner.run.loop import LEASE, Loop
from planner.run.metrics import Metrics
from planner.run.policy import Overrides, PolicyFile
from planner.run.server import Health, Server
from planner.run.state import StateStore, state_path
from planner.sources.live.api import Api, ApiError, UnreachableError
from planner.sources.live.connect import Wanted, connect
from planner.sources.live.kinds import PODS, WORKLOADS
from planner.sources.live.kubectl_proxy import READING, Access
from planner_models.run_state import RunStatus
from planner_models.source import ClusterSource

POD_NAME = "POD_NAME"
"""The environment variable by which a pod knows its own name."""


@dataclass(frozen=True)
class Start:
    """What the user asked for; `port` None serves nothing."""

    file: str
    wanted: Wanted
    namespace: str | None = None
    overrides: Overrides = field(default_factory=Overrides)
    live: tuple[str, ...] = ()
    planning: tuple[str, ...] = ()
    time_limit: float = 60.0
    round_timeout: float = 1800.0
    port: int | None = 8080
    once: bool = False
    log_format: Format = "json"


def start(given: Start, stream: TextIO) -> int:
    """Run until SIGTERM or Ctrl-C, or for one round; the exit code."""
    metrics = Metrics()
    policy = PolicyFile(given.file, given.overrides)
    stop = _Stop()
    with stop.listening(), closing(connect(given.wanted, run_access(given.namespace))) as api:
        api.ready()
        clock = Clock(sleep=stop.wait)
        settings = Settings(
            file=given.file,
            namespace=given.namespace or api.namespace,
            pod=os.environ.get(POD_NAME) or socket.gethostname(),
            overrides=given.overrides,
            live=given.live,
            planning=given.planning,
            time_limit=given.time_limit,
            round_timeout=given.round_timeout,
        )
        log = Log(stream, given.log_format, clock.now)
        period = policy.current.policy.period.total_seconds()
        health = Health(clock.now, 2 * period + given.round_timeout)
        with closing(MeasuredWriter(api, metrics)) as writer:
            tools = Tools(settings, writer, clock, log, metrics)
            loop = Loop(tools, policy, health, stop.is_set)
            if given.once:
                return loop.once()
            with _serving(given.port, health, metrics):
                loop.run()
    return INTERRUPTED if stop.by_hand else DONE


@contextmanager
def _serving(port: int | None, health: Health, metrics: Metrics) -> Iterator[None]:
    if port is None:
        yield
        return
    with closing(Server(port, health, metrics.text)):
        yield


class _Stop(threading.Event):
    """Set by SIGTERM and Ctrl-C: what runs ends well, cordons are lifted, the Lease is let go.

    A second Ctrl-C ends it at once.
    """

    by_hand = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Only the main thread hears signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._heard) for each in _SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _heard(self, number: int, _: object) -> None:
        if self.by_hand and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.by_hand = number == signal.SIGINT
        self.set()


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run_access(namespace: str | None) -> Access:
    """What the waiting process may reach through kubectl's proxy: it evicts nothing.

    Without a namespace that of the context is meant, which only kubectl knows yet.
    """
    own = re.escape(namespace) if namespace else NAME
    lease = f"{leases_path(own)}/{LEASE}"
    objects = (PODS, *WORKLOADS)
    return Access(
        (
            *READING.paths,
            lease.rpartition("/")[0],
            lease,
            f"{leases_path(DESCHEDULER[0])}/{DESCHEDULER[1]}",
            state_path(own),
            state_path(own).rpartition("/")[0],
            events_path(NAME),
            node_path(NAME),  # cordons that were left
            *(_one(each.path) for each in objects),
        ),
        rejected=("PUT", "DELETE"),
    )


def _one(path: str) -> str:
    head, _, resource = path.rpartition("/")
    return f"{head}/namespaces/{NAME}/{resource}/{NAME}"


class _LeaseSpec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    renew_time: str | None = None


class _Lease(msgspec.Struct):
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)


def status_of(wanted: Wanted, namespace: str, clock: Clock | None = None) -> RunStatus:
    """What the ConfigMap and the Lease of a namespace tell."""
    with closing(connect(wanted, run_access(namespace))) as api:
        api.ready()
        return read_status(api, namespace, clock or Clock())


def read_status(api: Api, namespace: str, clock: Clock) -> RunStatus:
    """The same on a way that is there; PlannerError if planner never ran in that namespace."""
    reader = Writer(api)
    now = datetime.fromtimestamp(int(clock.now()), UTC)
    with closing(reader):
        try:
            state = StateStore(reader, namespace).read()
            lease = _lease(reader, namespace)
        except (ApiError, UnreachableError) as error:
            raise PlannerError(
                f"can't read the state of planner in namespace {namespace}", detail=str(error)
            ) from error
    if not state.round and lease.spec.holder_identity is None:
        raise PlannerError(
            f"planner does not run in namespace {namespace}", help="-n NAMESPACE is another one"
        )
    renewed = lease.spec.renew_time
    at = None if renewed is None else datetime.fromtimestamp(int(seconds_of(renewed)), UTC)
    held = at is not None and (now - at).total_seconds() < DURATION
    holder = lease.spec.holder_identity if held else None
    return RunStatus(
        source=ClusterSource(context=api.context),
        namespace=namespace,
        at=now,
        leader=None if holder is None else holder.rpartition("_")[0] or holder,
        renewed=at,
        state=state,
        suspended=left_alone(state, state.policy, now),
    )


def _lease(reader: Writer, namespace: str) -> _Lease:
    try:
        answer = reader.get(f"{leases_path(namespace)}/{LEASE}")
    except ApiError as error:
        if error.code == 404:
            return _Lease()
        raise
    return msgspec.json.decode(answer.body, type=_Lease)
