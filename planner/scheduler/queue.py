"""The scheduling queue: which pod is tried next, and when a pod that failed is tried again.

Time is whatever the caller says it is, in seconds; calls come in the order of time. A pod is in one
of five places, as in kube-scheduler:

* active: ready, by priority and then by the time since which it waits;
* gated: kept out by scheduling gates;
* unschedulable: was refused, and waits for an event that could help it;
* backing off: was helped by an event, but failed a short while ago;
* in flight: popped, and neither `done` nor `fail` was said about it.

Which events could help is a matter of the plugins that refused the pod. Their queueing hints, which
look at the very object of an event, are left out: a pod is then tried once too often rather than
once too rarely, and a try changes nothing but the time it takes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from planner.rules import HELPED_BY, Event
from planner.scheduler.plugins import priority_sort, scheduling_gates
from planner_models.pod import Pod

WINDOW = 1.0
"""Back-off ends with whole seconds; pods whose back-off ends in the same one leave by priority."""
FLUSH_AFTER = 300.0
FLUSH_EVERY = 30.0
"""A pod that was unschedulable for five minutes is tried again anyway; looked for every 30 s."""


ANY_EVENT = frozenset(Event)
"""A plugin that registers nothing is asked again after every event."""


def could_help(plugins: Iterable[str], event: Event) -> bool:
    """Whether a pod that these plugins refused is worth another try after the event."""
    return any(event in HELPED_BY.get(plugin, ANY_EVENT) for plugin in plugins)


def own_changes(old: Pod, new: Pod) -> frozenset[Event]:
    """What an update of a waiting pod means to the plugins that refused it."""
    found: set[Event] = set()
    if old.labels != new.labels:
        found.add(Event.POD_LABELS_CHANGED)
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        found.add(Event.POD_TOLERATIONS_CHANGED)
    requests = new.spec.requests
    if any(amount > requests.get(name, -1) for name, amount in old.spec.requests.items()):
        found.add(Event.POD_SCALED_DOWN)
    return frozenset(found)


class _Place(Enum):
    ACTIVE = "active"
    GATED = "gated"
    UNSCHEDULABLE = "unschedulable"
    BACKING_OFF = "backing off"
    IN_FLIGHT = "in flight"


@dataclass(eq=False)
class _Entry:
    """A pod in the queue. `since` is its arrival or last failure, `number` settles equal times."""

    pod: Pod
    number: int
    since: float
    place: _Place = _Place.ACTIVE
    ticket: int = 0
    """Changes with every move, so that what older moves left in the heaps is known as stale."""
    plugins: frozenset[str] = frozenset()
    failures: int = 0
    errors: int = 0
    missed: set[Event] = field(default_factory=set)
    """What happened while the pod was in flight."""

    @property
    def sort_key(self) -> tuple[int, float, int]:
        return (*priority_sort.sort_key(self.pod, self.since), self.number)


_Heap = list[tuple[float, tuple[int, float, int], int, str]]


class SchedulingQueue:
    """kube-scheduler's queue on a simulated clock; pods are known by `namespace/name`."""

    def __init__(self, initial_backoff: float = 1.0, max_backoff: float = 10.0) -> None:
        self._initial_backoff = initial_backoff
        self._max_backoff = max_backoff
        self._entries: dict[str, _Entry] = {}
        self._active: _Heap = []
        self._backing_off: _Heap = []
        self._backing_off_after_error: _Heap = []
        self._refused: dict[frozenset[str], dict[str, _Entry]] = {}
        self._in_flight: dict[str, _Entry] = {}
        self._numbers = 0
        self._tickets = 0
        self._last_flush = 0.0

    def add(self, pod: Pod, at: float) -> None:
        """A new pod: ready at once, unless gates keep it out."""
        self.delete(pod.key)
        self._numbers += 1
        entry = self._entries[pod.key] = _Entry(pod, self._numbers, at)
        self._enter(entry)

    def update(self, pod: Pod, at: float) -> None:
        """A waiting pod changed: its gates fell, or what it was refused for.

        It keeps the time of its arrival, so that it overtakes equals that came after it.
        """
        entry = self._entries.get(pod.key)
        if entry is None:
            self.add(pod, at)
            return
        changes = own_changes(entry.pod, pod)
        entry.pod = pod
        match entry.place:
            case _Place.GATED | _Place.ACTIVE:
                self._enter(entry)
            case _Place.BACKING_OFF:
                self._back_off(entry)
            case _Place.UNSCHEDULABLE:
                if any(could_help(entry.plugins, change) for change in changes):
                    self._try_again(entry, at)
            case _Place.IN_FLIGHT:
                entry.missed |= changes

    def delete(self, key: str) -> None:
        """The pod is gone; it need not have been here."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._leave(entry)

    def pop(self, at: float) -> Pod | None:
        """The next pod to try, or None if no pod is ready.

        If nothing is active, the pod whose back-off ends first need not wait for it: back-off is
        there to let others go first (KEP 5142). After an error, though, a pod waits in any case.
        """
        self._advance(at)
        entry = self._first(self._active) or self._first(self._backing_off)
        if entry is None:
            return None
        self._move(entry, _Place.IN_FLIGHT)
        self._in_flight[entry.pod.key] = entry
        return entry.pod

    def done(self, key: str) -> None:
        """A popped pod found its node."""
        self.delete(key)

    def fail(self, pod: Pod, at: float, plugins: Iterable[str]) -> None:
        """A popped pod found no node; `plugins` are those that refused it.

        These are the first plugin to refuse, for each node, and those that limited the nodes.
        Without any it was an error (or a cluster without nodes): the pod is tried again after its
        back-off. An event since the pod was popped counts as if it came now.
        """
        entry = self._entries[pod.key]
        if entry.place is not _Place.IN_FLIGHT:
            raise ValueError(f"{pod.key} was not popped: it is {entry.place.value}")
        missed, entry.missed = entry.missed, set()
        entry.plugins = frozenset(plugins)
        entry.since = at
        if entry.plugins:
            entry.failures, entry.errors = entry.failures + 1, 0
        else:
            entry.errors += 1
        if not entry.plugins or any(could_help(entry.plugins, event) for event in missed):
            self._try_again(entry, at)
            return
        self._move(entry, _Place.UNSCHEDULABLE)
        self._refused.setdefault(entry.plugins, {})[pod.key] = entry

    def event(self, event: Event, at: float) -> None:
        """Something happened to a placed pod or a node: pods that it could help are tried again."""
        for plugins in [each for each in self._refused if could_help(each, event)]:
            for entry in list(self._refused[plugins].values()):
                self._try_again(entry, at)
        for entry in self._in_flight.values():
            entry.missed.add(event)

    def active(self) -> tuple[str, ...]:
        """Pods that are ready, sorted by name."""
        return self._in(_Place.ACTIVE)

    def gated(self) -> tuple[str, ...]:
        """Pods that gates keep out."""
        return self._in(_Place.GATED)

    def backing_off(self) -> tuple[str, ...]:
        """Pods that failed a short while ago and are worth another try."""
        return self._in(_Place.BACKING_OFF)

    def unschedulable(self) -> Mapping[str, frozenset[str]]:
        """Pods that wait for an event, with the plugins that refused them."""
        return {key: self._entries[key].plugins for key in self._in(_Place.UNSCHEDULABLE)}

    def _in(self, place: _Place) -> tuple[str, ...]:
        return tuple(sorted(k for k, entry in self._entries.items() if entry.place is place))

    def _advance(self, at: float) -> None:
        """What kube-scheduler's tickers did up to now."""
        window = math.floor(at / WINDOW) * WINDOW
        for heap in (self._backing_off, self._backing_off_after_error):
            while (entry := self._peek(heap)) is not None and self._backoff_end(entry) < window:
                self._enter(entry)
        flush = math.floor(at / FLUSH_EVERY) * FLUSH_EVERY
        if flush > self._last_flush:
            self._last_flush = flush
            for refused in list(self._refused.values()):
                for entry in [e for e in refused.values() if flush - e.since > FLUSH_AFTER]:
                    self._try_again(entry, at)

    def _backoff_end(self, entry: _Entry) -> float:
        """1 s after the first failure, 2 s after the second, doubling up to 10 s."""
        count = entry.errors or entry.failures
        if not count or not self._max_backoff:
            return -math.inf
        duration = min(self._initial_backoff * 2.0 ** min(count - 1, 64), self._max_backoff)
        return math.floor((entry.since + duration) / WINDOW) * WINDOW

    def _try_again(self, entry: _Entry, at: float) -> None:
        if self._backoff_end(entry) < math.floor(at / WINDOW) * WINDOW:
            self._enter(entry)
        else:
            self._back_off(entry)

    def _enter(self, entry: _Entry) -> None:
        if scheduling_gates.pre_enqueue(entry.pod.spec) is not None:
            self._move(entry, _Place.GATED)
            return
        self._move(entry, _Place.ACTIVE)
        heapq.heappush(self._active, (0.0, entry.sort_key, entry.ticket, entry.pod.key))

    def _back_off(self, entry: _Entry) -> None:
        self._move(entry, _Place.BACKING_OFF)
        heap = self._backing_off_after_error if entry.errors else self._backing_off
        end = self._backoff_end(entry)
        heapq.heappush(heap, (end, entry.sort_key, entry.ticket, entry.pod.key))

    def _move(self, entry: _Entry, place: _Place) -> None:
        self._leave(entry)
        self._tickets += 1
        entry.ticket = self._tickets
        entry.place = place

    def _leave(self, entry: _Entry) -> None:
        self._in_flight.pop(entry.pod.key, None)
        refused = self._refused.get(entry.plugins)
        if refused is not None and entry.pod.key in refused:
            del refused[entry.pod.key]
            if not refused:
                del self._refused[entry.plugins]

    def _first(self, heap: _Heap) -> _Entry | None:
        entry = self._peek(heap)
        if entry is not None:
            heapq.heappop(heap)
        return entry

    def _peek(self, heap: _Heap) -> _Entry | None:
        """The first entry of a heap, once stale ones are gone."""
        while heap:
            _, _, ticket, key = heap[0]
            entry = self._entries.get(key)
            if entry is not None and entry.ticket == ticket:
                return entry
            heapq.heappop(heap)
        return None
