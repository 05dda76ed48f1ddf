"""Which pods a ReplicaSet deletes when it has too many.

It sorts its pods and deletes from the front (`ActivePodsWithRanks` in Kubernetes v1.36):

    1. without a node        before  with one
    2. Pending               before  Unknown, before Running
    3. not ready             before  ready
    4. lower value of controller.kubernetes.io/pod-deletion-cost first
    5. more pods of the same Deployment on the node first
    6. ready for less time first, on a scale of powers of two
    7. more restarts first: of main containers, then of sidecars
    8. younger first, on the same scale

Different times that are equal on the scale are sorted by UID at once: 7 and 8 are not asked. UIDs
are random, so any of such pods may go. Zones take no part: scaling down does not look at spread.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from planner.cluster import Cluster
from planner.cluster.times import latest
from planner_models.pod import Pod
from planner_models.pod_status import Phase

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
BURST = 500
"""So many pods a ReplicaSet makes or deletes before it looks again."""
ACTED_AFTER_SECONDS = 60
"""What is done with a snapshot is done later than the last thing that it tells of."""
MOST_OUTCOMES = 100_000
"""Beyond it choices are not counted any more."""

_PHASES: Mapping[Phase, int] = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST = re.compile(r"-[0-9]+|0|[1-9][0-9]*", re.ASCII)
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class Candidate:
    """What the order looks at in one pod; `together` counts pods of its Deployment on its node."""

    pod: int
    uid: str
    assigned: bool
    phase: Phase
    ready: bool
    cost: int = 0
    together: int = 0
    ready_since: int | None = None
    created: int | None = None
    restarts: int = 0
    sidecar_restarts: int = 0


@dataclass(frozen=True)
class Rank:
    """Pods of which any may go first; `exact` if each choice among them is equally likely."""

    candidates: tuple[Candidate, ...]
    exact: bool = True


def acted_at(cluster: Cluster) -> int:
    """The moment at which ages are compared, unless somebody knows better."""
    return latest(cluster) + ACTED_AFTER_SECONDS


def as_stored(index: int, pod: Pod) -> Candidate:
    """A pod as its status says; who else is on its node is for others to say."""
    main, sidecars = _restarts(pod)
    return Candidate(
        pod=index,
        uid=pod.uid or pod.name,
        assigned=bool(pod.node_name),
        phase=pod.phase,
        ready=pod.ready,
        cost=deletion_cost(pod),
        ready_since=next((c.since for c in pod.conditions if c.type == "Ready"), None),
        created=pod.created,
        restarts=main,
        sidecar_restarts=sidecars,
    )


def deletion_cost(pod: Pod) -> int:
    """The annotation, where it is a number that the API server accepts; 0 otherwise."""
    text = pod.annotations.get(DELETION_COST, "")
    cost = int(text) if _COST.fullmatch(text) and len(text) <= len("-2147483648") else 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _restarts(pod: Pod) -> tuple[int, int]:
    """The most restarts of a main container, and of a sidecar.

    A snapshot does not tell sidecars from other init containers: where there is one, all count.
    """
    sidecars = any(each.sidecar for each in pod.spec.init_containers)
    main = (state.restarts for state in pod.container_states if state.kind == "main")
    init = (s.restarts for s in pod.container_states if s.kind == "init" and sidecars)
    return max(main, default=0), max(init, default=0)


def ranks(candidates: Iterable[Candidate], now: int) -> list[Rank]:
    """The pods in the order in which they are deleted, those together that may change places."""
    return list(_ranking(candidates, now).ranks())


def _first(each: Candidate, now: int) -> tuple[int, ...]:
    """Rules 1 to 6."""
    since = _age(each.ready_since, now) if each.ready else 0
    return (each.assigned, _PHASES[each.phase], each.ready, each.cost, -each.together, since)


def _then(each: Candidate, now: int) -> tuple[int, ...]:
    """Rules 7 and 8."""
    return (-each.restarts, -each.sidecar_restarts, _age(each.created, now))


def _age(since: int | None, now: int) -> int:
    """The power of two below the age in nanoseconds; a missing time is younger than all others."""
    if since is None:
        return -2
    return int(math.log2((now - since) * _NANOSECONDS)) if now > since else -1


def _time(each: Candidate) -> int | None:
    return each.ready_since if each.ready else None


_Kind = tuple[int | None, tuple[int, ...]]
"""What rules 7 and 8 tell pods apart by: the ready time, and then `_then`."""


class Ranking:
    """The pods of a ReplicaSet in the order in which they are deleted, kept current pod by pod."""

    def __init__(self, now: int) -> None:
        self._now = now
        self._ranks: dict[tuple[int, ...], dict[_Kind, dict[int, Candidate]]] = {}
        """By rules 1 to 6, then by kind."""
        self._place: dict[int, tuple[tuple[int, ...], _Kind]] = {}

    def put(self, candidate: Candidate) -> None:
        """A pod is there, or is other than before."""
        self.drop(candidate.pod)
        first = _first(candidate, self._now)
        kind = (_time(candidate), _then(candidate, self._now))
        self._ranks.setdefault(first, {}).setdefault(kind, {})[candidate.pod] = candidate
        self._place[candidate.pod] = (first, kind)

    def drop(self, pod: int) -> None:
        """A pod is gone."""
        if pod not in self._place:
            return
        first, kind = self._place.pop(pod)
        kinds = self._ranks[first]
        del kinds[kind][pod]
        if not kinds[kind]:
            del kinds[kind]
        if not kinds:
            del self._ranks[first]

    def ranks(self) -> Iterator[Rank]:
        """Rules 7 and 8 tell pods apart only where rules 1 to 6 leave pods of equal times."""
        for first in sorted(self._ranks):
            kinds = self._ranks[first]
            times = len({time for time, _ in kinds})
            if times == 1:
                yield from (Rank(tuple(kinds[kind].values())) for kind in sorted(kinds, key=_last))
            else:
                members = (each for kind in kinds.values() for each in kind.values())
                yield Rank(tuple(members), exact=times == len(kinds))

    def deleted_first(self, count: int, random: Random | None = None) -> list[Candidate]:
        """The pods that go: ties drawn, or without `random` by the UIDs of the snapshot."""
        chosen: list[Candidate] = []
        for rank in self.ranks():
            wanted = count - len(chosen)
            if not wanted:
                break
            chosen += _drawn_first(rank, min(wanted, len(rank.candidates)), self._now, random)
        return chosen


def _last(kind: _Kind) -> tuple[int, ...]:
    return kind[1]


def _ranking(candidates: Iterable[Candidate], now: int) -> Ranking:
    found = Ranking(now)
    for each in candidates:
        found.put(each)
    return found


def deleted_first(
    candidates: Iterable[Candidate], count: int, now: int, random: Random | None = None
) -> list[Candidate]:
    """The pods that go: ties drawn, or without `random` by the UIDs of the snapshot."""
    return _ranking(candidates, now).deleted_first(count, random)


def _drawn_first(rank: Rank, count: int, now: int, random: Random | None) -> list[Candidate]:
    if rank.exact and random is not None:
        return random.sample(rank.candidates, count)
    members = sorted(rank.candidates, key=lambda each: each.uid)
    if random is not None:
        random.shuffle(members)
    return (members if rank.exact else _by_time(members, now))[:count]


def _by_time(members: Sequence[Candidate], now: int) -> list[Candidate]:
    """Given in the order of their UIDs: pods with the same ready time change places among them.

    Comparing by UID here and by restarts there may go in a circle; then Kubernetes' own order is
    arbitrary, too.
    """
    waiting: dict[int | None, list[Candidate]] = {}
    for each in sorted(members, key=lambda each: _then(each, now), reverse=True):
        waiting.setdefault(_time(each), []).append(each)
    return [waiting[_time(each)].pop() for each in members]


def choices(
    candidates: Iterable[Candidate], count: int, now: int, domain_of: Callable[[int], int]
) -> Counter[tuple[int, ...]] | None:
    """How many choices leave how many pods in each domain (0, 1, 2, ...).

    Every choice is equally likely. None where they can't be counted: pods of one rank that are not
    equally likely, more outcomes than anybody looks at, or more pods than are deleted at once.
    """
    pods = list(candidates)
    left = Counter(domain_of(each.pod) for each in pods)
    size = max(left, default=-1) + 1
    if count > BURST:
        return None
    for rank in ranks(pods, now):
        members = Counter(domain_of(each.pod) for each in rank.candidates)
        if count >= len(rank.candidates):
            left -= members
            count -= len(rank.candidates)
            continue
        if not rank.exact and count:
            return None
        return _drawn([left[d] for d in range(size)], [members[d] for d in range(size)], count)
    return Counter({tuple(left[d] for d in range(size)): 1})


def _drawn(
    left: Sequence[int], members: Sequence[int], count: int
) -> Counter[tuple[int, ...]] | None:
    """`count` of the members go, domain by domain: in how many ways which numbers stay."""
    ways: dict[tuple[tuple[int, ...], int], int] = {((), count): 1}
    for domain, there in enumerate(members):
        beyond = sum(members[domain + 1 :])
        following: dict[tuple[tuple[int, ...], int], int] = {}
        for (stays, open_), number in ways.items():
            for goes in range(max(0, open_ - beyond), min(there, open_) + 1):
                key = ((*stays, left[domain] - goes), open_ - goes)
                following[key] = number * math.comb(there, goes)
        if len(following) > MOST_OUTCOMES:
            return None
        ways = following
    return Counter({stays: number for (stays, _), number in ways.items()})
