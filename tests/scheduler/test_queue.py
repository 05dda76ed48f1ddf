"""The scheduling queue: order, gates, refusals, events, back-off."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.rules import HELPED_BY, NODE_CHANGED, Event
from planner.scheduler.plugins.priority_sort import sort_key
from planner.scheduler.queue import SchedulingQueue, could_help
from planner_models.pod import Pod, PodSpec, SchedulingGate
from planner_models.taints import Toleration

FIT = ("NodeResourcesFit",)


def pod(name: str, priority: int = 0, *gates: str, tolerations: int = 0) -> Pod:
    spec = PodSpec(
        priority=priority,
        scheduling_gates=tuple(SchedulingGate(name=gate) for gate in gates),
        tolerations=tuple(Toleration(key=f"key-{i}") for i in range(tolerations)),
    )
    return Pod(namespace="default", name=name, spec=spec)


def pop_all(queue: SchedulingQueue, at: float) -> list[str]:
    def names() -> Iterator[str]:
        while (found := queue.pop(at)) is not None:
            yield found.name

    return list(names())


def refused(queue: SchedulingQueue, given_pod: Pod, at: float, *plugins: str) -> None:
    """The pod comes, is popped at once and finds no node."""
    queue.add(given_pod, at)
    assert queue.pop(at) is given_pod
    queue.fail(given_pod, at, plugins)


def test_higher_priority_goes_first_then_who_came_earlier() -> None:
    queue = SchedulingQueue()
    for at, (name, priority) in enumerate([("a", 0), ("b", 5), ("c", 0), ("d", 5)]):
        queue.add(pod(name, priority), at)
    assert pop_all(queue, 4) == ["b", "d", "a", "c"]


def test_pods_of_the_same_moment_leave_in_the_order_of_their_coming() -> None:
    queue = SchedulingQueue()
    for name in ("b", "c", "a"):
        queue.add(pod(name), 0)
    assert pop_all(queue, 0) == ["b", "c", "a"]


def test_an_empty_queue_has_nobody_to_try() -> None:
    queue = SchedulingQueue()
    assert queue.pop(0) is None


def test_a_gated_pod_keeps_its_arrival_when_its_last_gate_falls() -> None:
    queue = SchedulingQueue()
    queue.add(pod("gated", 0, "quota", "image"), 0)
    queue.add(pod("later"), 1)
    queue.update(pod("gated", 0, "quota"), 2)
    assert queue.gated() == ("default/gated",)
    queue.update(pod("gated"), 3)
    assert queue.gated() == ()
    assert pop_all(queue, 4) == ["gated", "later"]


def test_a_deleted_pod_is_not_popped() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), 0)
    queue.add(pod("b", 0, "gate"), 0)
    queue.delete("default/a")
    queue.delete("default/b")
    queue.delete("default/never-seen")
    assert queue.pop(1) is None
    assert queue.gated() == ()


def test_an_update_of_an_unknown_pod_adds_it() -> None:
    queue = SchedulingQueue()
    queue.update(pod("a"), 0)
    assert queue.active() == ("default/a",)


def test_a_pod_that_comes_again_is_a_new_one() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), 0)
    queue.add(pod("b"), 1)
    queue.add(pod("a"), 2)
    assert pop_all(queue, 3) == ["b", "a"]


def test_a_refused_pod_waits_for_an_event_that_could_help() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a"), 0, *FIT)
    assert queue.unschedulable() == {"default/a": frozenset(FIT)}
    queue.event(Event.POD_ADDED, 20)
    assert queue.pop(20) is None
    queue.event(Event.POD_REMOVED, 20)
    assert pop_all(queue, 20) == ["a"]


def test_one_of_several_plugins_is_enough_to_try_again() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a"), 0, "NodeName", "InterPodAffinity")
    queue.event(Event.POD_ADDED, 20)
    assert queue.active() == ("default/a",)


def test_an_event_while_the_pod_is_in_flight_is_not_missed() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), 0)
    found = queue.pop(0)
    assert found is not None
    queue.event(Event.POD_REMOVED, 0)
    queue.fail(found, 0, FIT)
    assert queue.backing_off() == ("default/a",)


def test_what_happened_before_the_pod_was_popped_is_no_news() -> None:
    queue = SchedulingQueue()
    queue.event(Event.POD_REMOVED, 0)
    refused(queue, pod("a"), 0, *FIT)
    assert "default/a" in queue.unschedulable()


def test_a_pod_in_back_off_lets_active_pods_go_first() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a", 9), 0.5, *FIT)
    queue.event(Event.NODE_ADDED, 0.6)
    queue.add(pod("b"), 0.7)
    assert queue.backing_off() == ("default/a",)
    assert pop_all(queue, 0.8) == ["b", "a"]


def test_back_off_ends_with_the_second_after_its_own() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a", 9), 0.5, *FIT)
    queue.event(Event.NODE_ADDED, 0.6)
    queue.add(pod("b"), 0.7)
    assert pop_all(queue, 2.0) == ["a", "b"]


@pytest.mark.parametrize(("failures", "seconds"), [*enumerate([1, 2, 4, 8, 10, 10], start=1)])
def test_back_off_doubles_up_to_ten_seconds(failures: int, seconds: int) -> None:
    queue = SchedulingQueue()
    given_pod = pod("a")
    queue.add(given_pod, 0)
    for _ in range(failures):
        assert queue.pop(100) is given_pod
        queue.event(Event.NODE_ADDED, 100)
        queue.fail(given_pod, 100, FIT)
    assert queue.backing_off() == ("default/a",)
    queue.add(pod("b", 1), 100)
    assert queue.pop(100 + seconds) is not None
    assert queue.backing_off() == ("default/a",)
    queue.add(pod("b", 1), 100 + seconds)
    assert queue.pop(100 + seconds + 1) is not None
    assert queue.backing_off() == ()


def test_pods_whose_back_off_ends_in_the_same_second_leave_by_priority() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("low", 1), 0.1, *FIT)
    refused(queue, pod("high", 2), 0.9, *FIT)
    queue.event(Event.NODE_ADDED, 0.95)
    assert pop_all(queue, 0.95) == ["high", "low"]


def test_an_error_is_tried_again_after_its_back_off_and_no_sooner() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a"), 0)
    assert queue.pop(1.5) is None
    assert pop_all(queue, 2) == ["a"]


def test_five_minutes_later_a_refused_pod_is_tried_anyway() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a"), 10, *FIT)
    assert queue.pop(329) is None
    assert pop_all(queue, 330) == ["a"]


def test_a_new_toleration_helps_a_pod_that_taints_refused() -> None:
    queue = SchedulingQueue()
    refused(queue, pod("a"), 0, "TaintToleration")
    refused(queue, pod("b"), 0, *FIT)
    queue.update(pod("a", tolerations=1), 20)
    queue.update(pod("b", tolerations=1), 20)
    assert queue.active() == ("default/a",)


def test_a_pod_that_is_done_is_forgotten() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), 0)
    assert queue.pop(0) is not None
    queue.done("default/a")
    queue.event(Event.POD_REMOVED, 1)
    assert queue.pop(1) is None


def test_only_a_popped_pod_can_fail() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), 0)
    with pytest.raises(ValueError, match="default/a was not popped: it is active"):
        queue.fail(pod("a"), 0, FIT)


@pytest.mark.parametrize("event", Event)
def test_a_plugin_of_which_nothing_is_known_is_helped_by_every_event(event: Event) -> None:
    assert could_help(["example.com/Plugin"], event)


def test_every_plugin_is_helped_by_a_new_node() -> None:
    assert all(Event.NODE_ADDED in events for events in HELPED_BY.values())


@pytest.mark.parametrize("event", NODE_CHANGED)
def test_a_changed_node_frees_no_port(event: Event) -> None:
    assert not could_help(["NodePorts"], event)


class NaiveQueue:
    """The same rules, looked up anew each time: no heaps, no pools, no tickets."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[Pod, int, float, int, frozenset[str], bool]] = {}
        self.flying: dict[str, tuple[Pod, int, int, set[Event]]] = {}
        self.numbers = 0

    def add(self, given_pod: Pod, at: float) -> None:
        self.numbers += 1
        self.flying.pop(given_pod.key, None)
        self.waiting[given_pod.key] = (given_pod, self.numbers, at, 0, frozenset(), True)

    def delete(self, key: str) -> None:
        self.waiting.pop(key, None)
        self.flying.pop(key, None)

    def pop(self, at: float) -> Pod | None:
        def key(name: str) -> tuple[float, tuple[int, float], int]:
            given_pod, number, since, failures, _, _ = self.waiting[name]
            end = math.floor(since + min(2 ** (failures - 1), 10)) if failures else -math.inf
            passed = end < math.floor(at)
            return (-math.inf if passed else end, sort_key(given_pod, since), number)

        flushed = {
            name
            for name, (_, _, since, _, plugins, _) in self.waiting.items()
            if plugins and math.floor(at / 30) * 30 - since > 300
        }
        ready = [name for name in self.waiting if self.waiting[name][5] or name in flushed]
        if not ready:
            return None
        given_pod, number, _, failures, _, _ = self.waiting.pop(min(ready, key=key))
        self.flying[given_pod.key] = (given_pod, number, failures, set())
        return given_pod

    def fail(self, given_pod: Pod, at: float, plugins: frozenset[str]) -> None:
        _, number, failures, missed = self.flying.pop(given_pod.key)
        ready = any(could_help(plugins, event) for event in missed)
        self.waiting[given_pod.key] = (given_pod, number, at, failures + 1, plugins, ready)

    def event(self, event: Event) -> None:
        for name, (given_pod, number, since, failures, plugins, ready) in self.waiting.items():
            helped = ready or could_help(plugins, event)
            self.waiting[name] = (given_pod, number, since, failures, plugins, helped)
        for *_, missed in self.flying.values():
            missed.add(event)


Step = tuple[str, float, int, Event, frozenset[str]]
steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "pop", "fail", "event", "delete", "pop", "fail", "event"]),
        st.sampled_from([0.0, 0.3, 1.0, 2.5, 11.0, 100.0]),
        st.integers(0, 5),
        st.sampled_from(Event),
        st.frozensets(st.sampled_from(sorted(HELPED_BY)), min_size=1, max_size=2),
    ),
    max_size=60,
)


@given(steps)
def test_the_queue_agrees_with_its_naive_twin(given_steps: list[Step]) -> None:
    queue, naive, at = SchedulingQueue(), NaiveQueue(), 0.0
    flying: list[Pod] = []
    for op, passed, number, event, plugins in given_steps:
        at += passed
        name = f"default/{number}"
        if op == "add":
            flying = [each for each in flying if each.key != name]
            queue.add(pod(str(number), number % 3), at)
            naive.add(pod(str(number), number % 3), at)
        elif op == "delete":
            flying = [each for each in flying if each.key != name]
            queue.delete(name)
            naive.delete(name)
        elif op == "event":
            queue.event(event, at)
            naive.event(event)
        elif op == "fail" and flying:
            failed = flying.pop(number % len(flying))
            queue.fail(failed, at, plugins)
            naive.fail(failed, at, plugins)
        elif op == "pop":
            popped, twin = queue.pop(at), naive.pop(at)
            assert (popped and popped.key) == (twin and twin.key)
            flying += [popped] if popped is not None else []
