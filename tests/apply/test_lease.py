"""The lock that keeps two of them apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from planner.apply.clock import Clock
from planner.apply.lease import HeldLease, Holding, Lease, LockedError, LockLostError
from planner.apply.writing import Writer
from planner.errors import PlannerError
from tests.live.clusters import KUBE_SYSTEM, Direct
from tests.live.fake_api import FakeApi, Fault, always

ALICE, BOB = "alice@laptop_1", "bob@desk_2"


class Time:
    """A clock that only goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Setting:
    """A server, and those who want its lock."""

    def __init__(self, api: FakeApi, address: str) -> None:
        self.api, self.time, self._address = api, Time(), address
        self.closing = ExitStack()

    def lease(self, holder: str, successor_of: tuple[str, ...] = ()) -> Lease:
        holding = Holding(holder, "planner apply", successor_of)
        return Lease(self.writer(), holding, self.time.clock())

    def writer(self) -> Writer:
        return self.closing.enter_context(closing(Writer(Direct(self._address), self.time.sleep)))

    def stored(self) -> dict[str, Any]:
        found = self.api.found("leases", "kube-system/planner")
        assert found is not None
        return found


@pytest.fixture
def setting() -> Iterator[Setting]:
    api = FakeApi([KUBE_SYSTEM])
    with api.serve() as address:
        setting = Setting(api, address)
        with setting.closing:
            yield setting


def test_who_comes_second_is_told_who_came_first(setting: Setting) -> None:
    setting.lease(ALICE).acquire()
    setting.time.sleep(50)
    with pytest.raises(LockedError) as caught:
        setting.lease(BOB).acquire()
    assert caught.value.message == (
        "alice@laptop holds the lock kube-system/planner since 50 s (planner apply)"
    )


def test_it_is_free_when_its_holder_lets_go(setting: Setting) -> None:
    first = setting.lease(ALICE)
    first.acquire()
    first.release()
    setting.lease(BOB).acquire()
    assert setting.stored()["spec"]["holderIdentity"] == BOB


def test_a_holder_that_says_nothing_for_a_minute_has_lost_it(setting: Setting) -> None:
    first = setting.lease(ALICE)
    first.acquire()
    setting.time.sleep(61)
    setting.lease(BOB).acquire()
    with pytest.raises(LockLostError) as caught:
        first.check()
    assert caught.value.detail == f"{BOB} holds it now"
    assert setting.stored()["spec"]["leaseTransitions"] == 1


def test_looking_at_it_renews_it_every_15_seconds(setting: Setting) -> None:
    lease = setting.lease(ALICE)
    lease.acquire()
    before = len(setting.api.requests)
    for _ in range(40):
        setting.time.sleep(5)
        lease.check()
    assert len(setting.api.requests) - before == 13
    with pytest.raises(LockedError):
        setting.lease(BOB).acquire()


def test_without_a_server_it_is_lost_before_another_may_take_it(setting: Setting) -> None:
    lease = setting.lease(ALICE)
    lease.acquire()
    setting.api.faults.append(always("planner", Fault(503, "ServiceUnavailable")))
    setting.time.sleep(40)
    lease.check()
    setting.time.sleep(6)
    with pytest.raises(LockLostError) as caught:
        lease.check()
    assert caught.value.detail == "not renewed for 45 s: ServiceUnavailable by a test"


def test_a_lock_whose_holder_is_known_to_have_ended_is_taken_over(setting: Setting) -> None:
    setting.lease(ALICE).acquire()
    setting.lease("alice@laptop_7", successor_of=(ALICE,)).acquire()
    assert setting.stored()["spec"]["holderIdentity"] == "alice@laptop_7"


def test_a_foreign_change_of_the_object_is_no_loss(setting: Setting) -> None:
    lease = setting.lease(ALICE)
    lease.acquire()
    found = setting.stored()
    labelled = {**found["metadata"], "labels": {"team": "platform"}}
    setting.api.put({**found, "kind": "Lease", "metadata": labelled})
    setting.time.sleep(20)
    lease.check()
    assert setting.stored()["metadata"]["labels"] == {"team": "platform"}


def test_an_answer_that_was_lost_does_not_lock_its_own_holder_out(setting: Setting) -> None:
    cut = iter([Fault(cut=True)])

    def lost(request: Any) -> Fault | None:
        return next(cut, None) if request.method == "POST" else None

    setting.api.faults.append(lost)
    lease = setting.lease(ALICE)
    lease.acquire()
    lease.check()


def test_who_acts_for_a_holder_only_looks(setting: Setting) -> None:
    setting.lease(ALICE).acquire()
    child = HeldLease(setting.writer(), ALICE)
    child.check()
    setting.time.sleep(61)
    setting.lease(BOB).acquire()
    with pytest.raises(LockLostError):
        child.check()


def test_without_rights_to_it_the_error_says_what_to_do(setting: Setting) -> None:
    setting.api.forbidden.add("leases")
    with pytest.raises(PlannerError) as caught:
        setting.lease(ALICE).acquire()
    assert caught.value.help == (
        "planner rbac --apply has the rights to it; --no-lock goes without"
    )
    assert json.dumps(setting.api.all_of("leases")) == "[]"
