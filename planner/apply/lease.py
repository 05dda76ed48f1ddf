"""The lock of a cluster: a Lease that whoever carries plans out holds meanwhile.

It is held for 60 s and renewed every 15. Whoever can't renew it for 45 s has lost it, before
anybody else may take it: clocks that differ by less than 15 s do no harm. Each change is made to
one very version of the object, so of two who want it one gets it.
"""

from __future__ import annotations

import getpass
import secrets
import socket
import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from planner.apply.access import leases_path
from planner.apply.clock import Clock, micro_time, seconds_of
from planner.apply.writing import Writer
from planner.errors import PlannerError
from planner.sources.live.api import Answer, ApiError, UnreachableError
from planner.words import duration

NAMESPACE = "kube-system"
NAME = "planner"
DURATION = 60
RENEW = 15
GIVEN_UP = 45
"""Seconds without a renewal after which the Lease counts as lost."""
COMMAND = "planner/command"
"""The annotation that says what the holder does."""


class LockedError(PlannerError):
    """Somebody else holds the lock."""


class LockLostError(PlannerError):
    """The lock is somebody else's by now, or could not be renewed in time."""


class Lock(Protocol):
    """What evictions are made under."""

    def check(self) -> None:
        """Raise LockLostError unless it is held now."""

    def release(self) -> None:
        """Let go of it."""


def new_holder() -> str:
    """`alice@laptop_5f0c3a9e`: this process, and no other one of this user and machine."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in many containers
        user = "planner"
    return f"{user}@{socket.gethostname()}_{secrets.token_hex(4)}"


@dataclass(frozen=True)
class Holding:
    """Who wants the lock, for what (`planner apply`), and whose lock it may simply take over.

    `successor_of` are earlier holders that are known to have ended.
    """

    holder: str
    command: str
    successor_of: Collection[str] = ()


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)


class Lease:
    """A Lease that was acquired; `keep_renewing` renews it from a thread of its own."""

    def __init__(
        self,
        writer: Writer,
        holding: Holding,
        clock: Clock,
        namespace: str = NAMESPACE,
        name: str = NAME,
    ) -> None:
        self._writer = writer
        self._holding = holding
        self._clock = clock
        self._folder = leases_path(namespace)
        self._path = f"{self._folder}/{name}"
        self.place = f"{namespace}/{name}"
        self._name = name
        self._version = ""
        self._renewed = 0.0
        self._lost = self._failed = ""
        self._turn = threading.Lock()
        self._ended = threading.Event()

    def acquire(self) -> None:
        """Take it, or raise LockedError; who may not even look at it gets a PlannerError."""
        try:
            self._acquire()
        except ApiError as error:
            if error.code == 409:
                # Either somebody was faster, or it was us, and the answer got lost.
                if not self._still_ours():
                    raise LockedError(f"the lock {self.place} was just taken") from error
                return
            raise PlannerError(
                f"can't take the lock {self.place} ({error.code})",
                detail=error.message,
                help="planner rbac --apply has the rights to it; --no-lock goes without",
            ) from error
        except UnreachableError as error:
            raise PlannerError(f"can't take the lock {self.place}", detail=str(error)) from error

    def _acquire(self) -> None:
        now = self._renewed = self._clock.now()
        found = self._read()
        if found is None:
            body = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": self._name, "annotations": {COMMAND: self._holding.command}},
                "spec": {**self._taken(now), "leaseTransitions": 0},
            }
            self._note(self._writer.post(self._folder, body), now)
            return
        self._refuse_if_held(found, now)
        changes = (found.spec.lease_transitions or 0) + 1
        body = {
            "metadata": {
                "resourceVersion": found.metadata.resource_version,
                "annotations": {COMMAND: self._holding.command},
            },
            "spec": {**self._taken(now), "leaseTransitions": changes},
        }
        self._note(self._writer.patch(self._path, body), now)

    def _taken(self, now: float) -> dict[str, Any]:
        return {
            "holderIdentity": self._holding.holder,
            "leaseDurationSeconds": DURATION,
            "acquireTime": micro_time(now),
            "renewTime": micro_time(now),
        }

    def _refuse_if_held(self, found: _Lease, now: float) -> None:
        spec = found.spec
        holder = spec.holder_identity
        if not holder or holder == self._holding.holder or holder in self._holding.successor_of:
            return
        renewed = seconds_of(spec.renew_time) if spec.renew_time else 0.0
        if renewed + (spec.lease_duration_seconds or DURATION) < now:
            return
        since = seconds_of(spec.acquire_time) if spec.acquire_time else now
        command = (found.metadata.annotations or {}).get(COMMAND)
        doing = f" ({command})" if command else ""
        raise LockedError(
            f"{holder.rpartition('_')[0] or holder} holds the lock {self.place} since "
            f"{duration(max(0, int(now - since)))}{doing}"
        )

    def check(self) -> None:
        """Renew it if that is due; raise LockLostError if it is lost."""
        with self._turn:
            if not self._lost and self._clock.now() - self._renewed >= RENEW:
                self._renew()
            if not self._lost and self._clock.now() - self._renewed >= GIVEN_UP:
                self._lost = f"not renewed for {GIVEN_UP} s: {self._failed}"
            if self._lost:
                raise LockLostError(f"the lock {self.place} is lost", detail=self._lost)

    def _renew(self) -> None:
        """A renewal that fails is tried again at the next look."""
        now = self._clock.now()
        try:
            try:
                self._patch({"renewTime": micro_time(now)}, now)
            except ApiError as error:
                if error.code != 409:
                    raise
                if self._still_ours():
                    self._patch({"renewTime": micro_time(now)}, now)
        except (ApiError, UnreachableError, PlannerError) as error:
            self._failed = str(error)

    def _patch(self, spec: dict[str, Any], now: float) -> None:
        body = {"metadata": {"resourceVersion": self._version}, "spec": spec}
        self._note(self._writer.patch(self._path, body, pauses=()), now)

    def _still_ours(self) -> bool:
        """After a conflict: the version as it is now, if the holder is still the same."""
        found = self._read()
        if found is None or found.spec.holder_identity != self._holding.holder:
            holder = None if found is None else found.spec.holder_identity
            self._lost = f"{holder} holds it now" if holder else "it is gone"
            return False
        self._version = found.metadata.resource_version
        return True

    def _read(self) -> _Lease | None:
        try:
            return _decoded(self._writer.get(self._path))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def _note(self, answer: Answer, now: float) -> None:
        self._version = _decoded(answer).metadata.resource_version
        self._renewed = now

    def keep_renewing(self) -> None:
        """From now on from a thread: reading and planning may take longer than the Lease lasts."""
        threading.Thread(target=self._keep, daemon=True).start()

    def _keep(self) -> None:
        while not self._ended.wait(1.0):
            with suppress(LockLostError):  # whoever evicts asks, and is told
                self.check()

    def release(self) -> None:
        """Let go, so that the next one need not wait; if that fails it ends by itself."""
        self._ended.set()
        with self._turn:
            if not self._lost:
                with suppress(ApiError, UnreachableError, PlannerError):
                    self._patch({"holderIdentity": None, "renewTime": None}, self._clock.now())
            self._writer.close()


class HeldLease:
    """The Lease of somebody else on whose behalf we act, and who renews it: looked at, no more."""

    def __init__(
        self, writer: Writer, holder: str, namespace: str = NAMESPACE, name: str = NAME
    ) -> None:
        self._writer = writer
        self._holder = holder
        self._path = f"{leases_path(namespace)}/{name}"
        self._place = f"{namespace}/{name}"

    def check(self) -> None:
        """Raise LockLostError if another one holds it by now."""
        try:
            found = _decoded(self._writer.get(self._path))
        except (ApiError, UnreachableError) as error:
            raise LockLostError(f"can't read the lock {self._place}", detail=str(error)) from error
        if found.spec.holder_identity != self._holder:
            now = found.spec.holder_identity or "nobody"
            raise LockLostError(f"the lock {self._place} is lost", detail=f"{now} holds it now")

    def release(self) -> None:
        """It stays with who holds it."""
        self._writer.close()


class NoLock:
    """Without a lock, as asked."""

    def check(self) -> None:
        """Always."""

    def release(self) -> None:
        """Nothing is held."""


def _decoded(answer: Answer) -> _Lease:
    return msgspec.json.decode(answer.body, type=_Lease)
