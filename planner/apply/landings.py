"""Waiting for what comes in place of evicted pods, and whether it came where it was promised.

A wave is over when its pods are gone and every controller has as many pods as before, each new one
ready for its `minReadySeconds`. New pods are told from others by the uid of their controller and by
uids that were not there before. Who landed is compared with who was expected as multisets: pods of
one controller are alike, and kube-scheduler does not care which of them it places first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.apply.clock import Clock
from planner.apply.course import Departure
from planner.apply.pods import Place, PodLists, SeenPod
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.words import count_of, named_or_counted
from planner_models.workload import Job, ReplicaSet, ReplicationController, StatefulSet

UNSCHEDULABLE = 30
"""Seconds without a node after which a pod counts as stuck."""
SETTLED = 10
"""Seconds without a node and without any change after which kube-scheduler has tried a pod: it
waits no longer than that before it tries one again."""
NOT_MADE = 30
"""Seconds after which it is asked whether a controller still wants a pod that it does not make."""


@dataclass
class Controlled:
    """The pods of one controller during a wave.

    `before` are those that were there when it began, `waited` those of them without a node.
    `departures` go in this wave or went before, and nothing has landed for them so far.
    """

    key: str
    owner: str
    place: Place
    before: frozenset[str]
    waited: frozenset[str] = frozenset()
    unready: int = 0
    """Pods that run without being ready, as they did before."""
    min_ready: int = 0
    allowed: int = 0
    """So many of its pods may be without a node in the end."""
    departures: list[Departure] = field(default_factory=list)
    wanted: int | None = None
    """Fewer pods than before, if its controller wants no more by now."""


class Landed(NamedTuple):
    """A pod that came, and the one that it came for."""

    departure: Departure
    pod: str
    node: str
    seconds: int
    as_promised: bool


class Look(NamedTuple):
    """How far a wave is: what is still waited for in words, and pods that no node takes.

    `moving`: pods are still ending, or not made yet. `settled`: kube-scheduler has tried all that
    wait, and everything else is ready.
    """

    missing: tuple[str, ...]
    stuck: tuple[str, ...]
    waiting: tuple[str, ...]
    moving: bool
    settled: bool

    @property
    def over(self) -> bool:
        """Nothing is waited for."""
        return not self.missing


def controlled_by(cluster: Cluster, owners: Mapping[str, str]) -> dict[str, Controlled]:
    """Controllers (`shop/ReplicaSet/web-5f787f47bf`) with all pods that they have now.

    `owners` are their uids, empty where nobody knows them; then the cluster does.
    """
    members: dict[str, list[int]] = {key: [] for key in owners}
    for index, pod in enumerate(cluster.pods):
        if pod.owner is not None and not pod.terminating:
            key = f"{pod.namespace}/{pod.owner.kind}/{pod.owner.name}"
            if key in members:
                members[key].append(index)
    found: dict[str, Controlled] = {}
    for key, mine in members.items():
        ref = WorkloadRef(*key.split("/", 2))
        found[key] = Controlled(
            key=key,
            owner=owners[key] or _uid(cluster, ref, mine),
            place=Place(ref.namespace, _labels(cluster, ref)),
            before=frozenset(cluster.pods[pod].uid for pod in mine),
            waited=frozenset(cluster.pods[p].uid for p in mine if cluster.node_of[p] < 0),
            min_ready=_min_ready(cluster, ref),
            unready=sum(not cluster.pods[p].ready and cluster.node_of[p] >= 0 for p in mine),
        )
    return found


def _uid(cluster: Cluster, ref: WorkloadRef, pods: Sequence[int]) -> str:
    for pod in pods:
        owner = cluster.pods[pod].owner
        if owner is not None:
            return owner.uid
    known = cluster.owners.controllers.get(ref)
    return "" if known is None else known.metadata.uid


def _labels(cluster: Cluster, ref: WorkloadRef) -> str:
    """What narrows the list down; the uid of the controller decides."""
    match cluster.owners.controllers.get(ref):
        case None | Job():
            return ""
        case ReplicationController() as found:
            labels: Mapping[str, str] = found.spec.selector
        case found:
            labels = found.spec.selector.match_labels if found.spec.selector else {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _min_ready(cluster: Cluster, ref: WorkloadRef) -> int:
    match cluster.owners.controllers.get(ref):
        case ReplicaSet() | StatefulSet() | ReplicationController() as found:
            return found.spec.min_ready_seconds
        case _:
            return 0


class WaveWatch:
    """Looks at the pods of a wave's controllers as often as it is asked to."""

    def __init__(
        self,
        lists: PodLists,
        clock: Clock,
        controlled: Sequence[Controlled],
        fewer: Callable[[], Mapping[str, int]],
    ) -> None:
        self._lists = lists
        self._clock = clock
        self._controlled = controlled
        self._fewer = fewer
        self._evicted: dict[str, float] = {}
        self._changed = clock.now()
        self._state: tuple[object, ...] = ()
        self._ready: dict[str, float] = {}
        self._short_since: float | None = None
        self._pods: Mapping[str, list[SeenPod]] = {}

    def left(self, uid: str) -> None:
        """This pod was evicted now, or was found to be gone."""
        self._evicted[uid] = self._clock.now()

    def look(self) -> Look:
        """List the pods once more."""
        self._pods = self._lists.pods(sorted({each.place for each in self._controlled}))
        now = self._clock.now()
        moving: list[str] = []
        unready: list[str] = []
        waiting: list[SeenPod] = []
        beyond: list[SeenPod] = []
        for each in self._controlled:
            pods = self._pods.get(each.owner, [])
            there = [pod for pod in pods if not pod.ending and not pod.failed]
            moving += [*self._ending(pods), *self._short(each, there, now)]
            fresh = list(self._fresh(each, there))
            mine = [pod for pod in fresh if not pod.node]
            waiting += mine
            beyond += mine if len(mine) > each.allowed else ()
            unready += self._unready(each, [pod for pod in fresh if pod.node], now)
        self._note_changes(moving, unready, waiting, now)
        quiet = now - self._changed
        settled = not moving and not unready and (not waiting or quiet >= SETTLED)
        missing = [*moving, *unready, *_without_node(beyond)]
        if not missing and not settled:
            missing = _without_node(waiting)
        stuck = sorted(p.name for p in beyond) if quiet >= UNSCHEDULABLE else []
        names = tuple(sorted(pod.name for pod in waiting))
        return Look(tuple(missing), tuple(stuck), names, bool(moving), settled)

    def again(self) -> None:
        """Something has changed for those that wait: a cordon was lifted."""
        self._changed = self._clock.now()

    def _note_changes(
        self, moving: Sequence[str], unready: Sequence[str], waiting: Sequence[SeenPod], now: float
    ) -> None:
        """Since when nothing has happened that might help a pod which waits."""
        state = (tuple(moving), tuple(unready), frozenset(pod.uid for pod in waiting))
        if state != self._state:
            self._state, self._changed = state, now

    def _ending(self, pods: Iterable[SeenPod]) -> Iterator[str]:
        names = sorted(pod.name for pod in pods if pod.uid in self._evicted)
        if names:
            yield f"{named_or_counted(names, 'pod')} still ending"

    def _short(self, each: Controlled, there: Sequence[SeenPod], now: float) -> Iterator[str]:
        """Pods that are not made yet, unless their controller wants no more of them."""
        lost = sum(departure.lost for departure in each.departures)
        wanted = len(each.before) - lost if each.wanted is None else each.wanted
        short = wanted - len(there)
        if short <= 0:
            return
        self._short_since = now if self._short_since is None else self._short_since
        if now - self._short_since >= NOT_MADE:
            self._short_since = None
            each.wanted = min(wanted, self._fewer().get(each.key, wanted))
        yield f"{each.key.partition('/')[2]} has {count_of(short, 'pod')} less than before"

    def _fresh(self, each: Controlled, there: Iterable[SeenPod]) -> Iterator[SeenPod]:
        for pod in there:
            if pod.uid not in each.before or (pod.uid in each.waited and not pod.node):
                yield pod

    def _unready(self, each: Controlled, pods: Iterable[SeenPod], now: float) -> Iterator[str]:
        late = []
        for pod in pods:
            if not pod.ready:
                self._ready.pop(pod.uid, None)
                late.append(pod.name)
            elif now - self._ready.setdefault(pod.uid, now) < each.min_ready:
                late.append(pod.name)
        if late:
            yield f"{named_or_counted(sorted(late), 'pod')} not ready"

    def landed(self, gone: Collection[str] | None = None) -> list[Landed]:
        """Who came for whom, as seen last; departures for which nobody came stay.

        `gone` are the uids of pods that have left, if others are still to leave.
        """
        found: list[Landed] = []
        for each in self._controlled:
            pods = self._pods.get(each.owner, [])
            came = [
                pod
                for pod in pods
                if pod.node and not pod.ending and not pod.failed
                and (pod.uid not in each.before or pod.uid in each.waited)
            ]  # fmt: skip
            left = [d for d in each.departures if not d.lost and (gone is None or d.uid in gone)]
            pairs = matched(left, came)
            for departure, pod, promised in pairs:
                began = self._evicted.get(departure.uid, self._clock.now())
                seconds = max(0, round(self._ready.get(pod.uid, began) - began))
                found.append(Landed(departure, pod.name, pod.node, seconds, promised))
            settled = {departure.uid for departure, _, _ in pairs}
            each.departures = [d for d in each.departures if d.uid not in settled and not d.lost]
        return found


def _without_node(waiting: Sequence[SeenPod]) -> list[str]:
    names = sorted(pod.name for pod in waiting)
    return [f"{named_or_counted(names, 'pod')} without a node"] if names else []


def matched(
    gone: Sequence[Departure], came: Sequence[SeenPod]
) -> list[tuple[Departure, SeenPod, bool]]:
    """As many pods as possible to departures that expected them; the rest in any order."""
    taken: dict[int, int] = {}

    def place(index: int, seen: set[int]) -> bool:
        for number, pod in enumerate(came):
            expected = gone[index].expected
            if number in seen or (expected and pod.node not in expected):
                continue
            seen.add(number)
            if number not in taken or place(taken[number], seen):
                taken[number] = index
                return True
        return False

    as_promised = [index for index in range(len(gone)) if place(index, set())]
    pod_of = {index: number for number, index in taken.items()}
    left = [number for number in range(len(came)) if number not in taken]
    others = [index for index in range(len(gone)) if index not in as_promised]
    pairs = [(index, pod_of[index], True) for index in as_promised]
    pairs += [(index, number, False) for index, number in zip(others, left, strict=False)]
    return [(gone[index], came[number], promised) for index, number, promised in sorted(pairs)]
