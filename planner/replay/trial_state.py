"""The cluster on which trials are carried out, one after the other, all from the same start.

Trials repeat each other for long stretches: the same waves in another manner, or some waves changed
and the rest as before. So each of the scheduler's answers is kept by who ran where. Its own state
catches up only when a question is new; until then, going back to the start costs nothing.

A cordon hides nodes from pods that do not tolerate it, and is simply part of the next question to
the scheduler. Only where a rule looks at taints (`nodeTaintsPolicy: Honor`) does it change what
filters know, and the scheduler starts afresh. Where placing a pod promises volumes to its claims,
the order of placements matters: then no answer is kept, and the scheduler follows at every step.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import compress, count
from random import Random
from typing import TypeAlias

import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.replay.cordons import CORDON, cordoned_node, taints_honoured
from planner.replay.refused_groups import RefusedGroups
from planner.replay.room_by_priority import RoomByPriority
from planner.scheduler.cycle import Evaluation, Scheduler
from planner.scheduler.framework.plugin import UNRESOLVABLE, Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_resources_fit import NodeResourcesFit
from planner.scheduler.preemption import Preemption, preempt
from planner.scheduler.profile import Profile

Question: TypeAlias = tuple[int, int]
NONE: IntArray = np.empty(0, np.int64)
HIDDEN = Status("NodeUnschedulable", UNRESOLVABLE, ("node(s) were unschedulable",))
KEPT = 4_000_000
"""So many nodes in kept answers, 32 MB, are enough."""
LOGGED = 1_000_000
"""After so many changes, some 150 MB, the scheduler starts afresh with the next trial."""
_MEMO = "groups that tolerate a cordon"
FINGERPRINT_BITS = 128
_FINGERPRINT_MASK = (1 << FINGERPRINT_BITS) - 1


class Fingerprint:
    """A number for who runs where, kept current change by change; it starts at 0.

    To the scheduler it does not matter which of several interchangeable pods is on a node, only how
    many of each group are, and how many of them are terminating. Every such cell gets a random
    number of 128 bits; the sum over all pods tells two states apart, however they were reached
    (Zobrist hashing). Among a million states two have the same number once in 10^26 times.
    """

    def __init__(self) -> None:
        self.value = 0
        self._random = random.Random(0)
        self._numbers: dict[tuple[int, int, bool], int] = {}

    def shift(self, group: int, node: int, terminating: bool, delta: int) -> None:
        """Pods of the group came to the node (`delta` 1) or left it (-1)."""
        cell = (group, node, terminating)
        number = self._numbers.get(cell)
        if number is None:
            number = self._numbers[cell] = self._random.getrandbits(FINGERPRINT_BITS)
        self.value = (self.value + delta * number) & _FINGERPRINT_MASK


class CordonFingerprint:
    """The same for the set of nodes that are cordoned; 0 if there is none."""

    def __init__(self, nodes: int) -> None:
        self.value = 0
        rng = np.random.default_rng(0)
        self._numbers = rng.integers(2**64, size=(2, nodes), dtype=np.uint64)

    def take(self, cordoned: BoolArray) -> None:
        """These nodes are cordoned, and no others; both sums wrap around."""
        low, high = self._numbers[:, cordoned].sum(axis=1, dtype=np.uint64).tolist()
        self.value = high << 64 | low


class TrialState:
    """Pods come and go; `restore` brings everything back to where it was."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self.cluster = cluster
        self._profile = profile
        self._cordoned: frozenset[int] = frozenset()
        self._cordons = CordonFingerprint(len(cluster.nodes))
        self._hides = not taints_honoured(cluster, profile)
        self._tolerating = _tolerating(cluster)
        self._begin()
        self._keeps = not self._start.volumes.promising
        self._now = cluster.node_of.copy()
        self._changed: set[int] = set()
        """Pods that may be elsewhere than in the snapshot."""
        self._behind: set[int] = set()
        """Pods that may be elsewhere than the scheduler's state has them."""
        self._fingerprint = Fingerprint()
        self._room = RoomByPriority(cluster, self._now)
        self._judges_room = _judges_room(profile)
        self._all = np.arange(len(cluster.nodes))
        self._is_cordoned = np.zeros(len(cluster.nodes), np.bool_)
        self._possible: dict[int, BoolArray | None] = {}
        """By group the nodes that could ever take it, where nothing but these matters."""
        self._answers: dict[Question, IntArray] = {}
        self._kept = 0
        self._hopeless: set[Question] = set()
        """Questions after preemption that had no answer."""
        self._freed: list[int] = []
        """Nodes that pods have left since the start, or cordons, in that order."""
        self._refused = RefusedGroups(self._freed)
        self._helpless = RefusedGroups(self._freed)
        """Groups that no node takes, and those that preemption does not help, either."""
        self._asleep = np.zeros(len(cluster.groups), np.bool_)
        """Groups of which both is known, as of so many nodes that were left."""
        self._looked = 0
        self.position = 0
        """Grows with every change."""

    def restore(self) -> None:
        """Every pod is where the snapshot has it, and no cordon is left."""
        self._cordoned = frozenset()
        self._cordons.value = 0
        self._forget_refusals()
        if len(self._start.log) > LOGGED:
            self._begin()
        self._state, self._scheduler = self._start, self._scheduler_at_start
        self._fingerprint.value = 0
        changed = list(self._changed)
        for pod in changed:
            self._shift_room(pod, int(self.cluster.node_of[pod]))
        self._now[changed] = self.cluster.node_of[changed]
        self._changed.clear()
        self._moved(*changed)

    def at_start(self) -> Scheduler:
        """Back at the start, with a scheduler that has followed there."""
        self.restore()
        self._follow()
        return self._scheduler

    def _begin(self) -> None:
        """A scheduler that has seen nothing but the snapshot."""
        self._start = SchedulingState(self.cluster)
        self._scheduler_at_start = Scheduler(self._start, self._profile)
        self._state, self._scheduler = self._start, self._scheduler_at_start

    @property
    def node_of(self) -> IntArray:
        """Where pods are now."""
        return self._now.copy()

    @property
    def cordoned(self) -> frozenset[int]:
        """The nodes that are cordoned now, beyond those that were from the start."""
        return self._cordoned

    def cordon(self, nodes: Iterable[int]) -> None:
        """Exactly these nodes are cordoned from now on."""
        wanted = frozenset(nodes)
        if wanted == self._cordoned:
            return
        lifted, self._cordoned = self._cordoned - wanted, wanted
        self._is_cordoned[:] = False
        self._is_cordoned[list(wanted)] = True
        self._cordons.take(self._is_cordoned)
        if self._hides:
            self._freed.extend(sorted(lifted))  # to whoever waits it is as if somebody had left
            return
        self._forget_refusals()
        changed = list(self.cluster.nodes)
        for node in wanted:
            changed[node] = cordoned_node(changed[node], True)
        self._follow()
        now = replace(self._state.snapshot(), nodes=tuple(changed))
        self._state = SchedulingState(now)
        self._scheduler = Scheduler(self._state, self._profile)

    def evict(self, pod: int, old: int | None) -> None:
        """The pod waits again; `old`, its terminating twin, stays where it was."""
        node = int(self._now[pod])
        self._put(pod, PENDING)
        if old is not None:
            self._put(old, node)

    def node(self, pod: int) -> int:
        """Where the pod is now."""
        return int(self._now[pod])

    def waits(self, pod: int) -> bool:
        """Whether the pod has no node now."""
        return self.node(pod) == PENDING

    def forget(self, old: int) -> None:
        """A terminating twin is gone."""
        self._put(old, GONE)

    def place(self, pod: int, node: int) -> None:
        """The pod runs on the node."""
        self._put(pod, node)

    def take_up(self, node_of: IntArray) -> None:
        """Every pod is where it is said to be; of others nothing is."""
        for pod in np.flatnonzero(self._now[: len(node_of)] != node_of).tolist():
            self._put(pod, int(node_of[pod]))

    def best(self, pod: int) -> IntArray:
        """The nodes of which kube-scheduler picks any for the pod now; none if it has to wait."""
        group = int(self.cluster.group_of[pod])
        if self._refused.still(group, self._may_fit):
            return NONE
        if not self._keeps:
            return self._asked(pod, group)
        question = self._question(group)
        found = self._answers.get(question)
        if found is None:
            found = self._asked(pod, group)
            if self._kept < KEPT:
                self._kept += len(found)
                self._answers[question] = found
        return found

    def _question(self, group: int) -> Question:
        """The group, and a number for who runs where under which cordons.

        Sets of nodes that are cordoned, one after the other, would take far more room than answers.
        """
        return group, self._fingerprint.value ^ self._cordons.value

    @property
    def leavings(self) -> int:
        """How often a node was left: refusals hold at least until the next time."""
        return len(self._freed)

    def asleep(self) -> BoolArray:
        """Groups whose pods have been refused, and nothing could have helped since.

        The same is said by `best` and `preemption`, group by group.
        """
        if self._looked != len(self._freed):
            self._wake()
        return self._asleep

    def rest(self, group: int) -> None:
        """Pods of the group were refused just now, also if it came to driving others off."""
        known = self._refused.since(group)[0]
        if known and (not self._outranks(group) or self._helpless.since(group)[0]):
            self._asleep[group] = True

    def _wake(self) -> None:
        """Groups for which one of the nodes that were left since may have room; for all at once."""
        nodes = np.unique(self._freed[self._looked :])
        self._looked = len(self._freed)
        groups = np.flatnonzero(self._asleep)
        by_cordon = np.isin(groups, list(self._tolerating)) if self._cordoned else groups < 0
        for some in (groups[by_cordon], groups[~by_cordon]):
            if len(some):
                self._wake_for(some, self._shown(int(some[0]), nodes))

    def _wake_for(self, groups: IntArray, nodes: IntArray) -> None:
        if self._judges_room:
            groups = groups[self._room.may_help(groups, nodes)]
        for group in groups.tolist():
            rows = (self._refused.since(group)[1], self._helpless.since(group)[1])
            self._asleep[group] = not any(row is not None and row[nodes].any() for row in rows)

    def message(self, pod: int) -> str:
        """kube-scheduler's word on a pod that no node takes now."""
        return self._evaluated(pod, int(self.cluster.group_of[pod])).message()

    def preemption(self, pod: int, random: Random | None) -> Preemption | None:
        """The node where pods of lower priority give way to this one, which no node takes now."""
        group = int(self.cluster.group_of[pod])
        if not self._outranks(group) or self._helpless.still(group, self._may_preempt):
            return None
        question = self._question(group)
        if question in self._hopeless:
            return None
        may_take = self._may_take(pod, group)
        if not self._may_preempt(
            group, self._all if may_take is None else np.flatnonzero(may_take)
        ):
            self._helpless.note(group, may_take)
            return None
        evaluation = self._evaluated(pod, group)
        drawn = None if random is None else random.getstate()
        offset = 0 if random is None else random.randrange(len(self._state.all_nodes))
        found = preempt(self._scheduler, evaluation, offset)
        if found.nominated is None:
            if random is not None and drawn is not None:
                random.setstate(drawn)  # what is known from elsewhere does not draw, either
            self._hopeless.add(question)
            self._helpless.note(group, self._may_take(pod, group))
            return None
        if random is None:
            return found
        node = random.choice(found.nominated_any_of)
        return replace(found, nominated=node, victims=found.candidates[node].pods)

    def _outranks(self, group: int) -> bool:
        """Whether there is any pod that this one could drive off."""
        return self.cluster.groups[group].priority > self._lowest

    @cached_property
    def _lowest(self) -> int:
        groups = np.unique(self.cluster.group_of).tolist()
        return min((self.cluster.groups[group].priority for group in groups), default=0)

    def _asked(self, pod: int, group: int) -> IntArray:
        self._follow()
        choice = self._scheduler.choice(pod, self._hidden(group))
        if choice is not None:
            return choice.best()
        evaluation = self._evaluated(pod, group)
        if not evaluation.feasible_count:
            self._refused.note(group, self._may_take(pod, group))
        return evaluation.best

    def _may_take(self, pod: int, group: int) -> BoolArray | None:
        """Nodes that take the pod if others leave them, or a cordon; None if more could help."""
        self._follow()
        if group not in self._possible:
            cycle = self._scheduler.cycle(pod)
            request = self.cluster.resources.requests[group]
            large = ((request <= self.cluster.resources.allocatable) | (request == 0)).all(axis=1)
            self._possible[group] = (large & ~cycle.never) if cycle.local else None
        return self._possible[group]

    def _may_fit(self, group: int, nodes: IntArray) -> bool:
        """Whether one of the nodes has room for a pod of the group; in doubt it has."""
        nodes = self._shown(group, nodes)
        return bool(not self._judges_room or self._room.fits(group, nodes).any())

    def _may_preempt(self, group: int, nodes: IntArray) -> bool:
        """The same if all pods below it were gone."""
        nodes = self._shown(group, nodes)
        return bool(not self._judges_room or self._room.fits_without_lower(group, nodes).any())

    def _shown(self, group: int, nodes: IntArray) -> IntArray:
        """Those that no cordon hides from the group."""
        if not self._hides or not self._cordoned or group in self._tolerating:
            return nodes
        return nodes[~self._is_cordoned[nodes]]

    def _evaluated(self, pod: int, group: int) -> Evaluation:
        self._follow()
        hidden = dict.fromkeys(self._hidden(group), HIDDEN)
        return self._scheduler.evaluate(pod, yields=hidden)

    def _hidden(self, group: int) -> frozenset[int]:
        """The nodes that a cordon keeps from the group, if not by the scheduler."""
        return self._cordoned if self._hides and group not in self._tolerating else frozenset()

    def _put(self, pod: int, node: int) -> None:
        group, terminating = int(self.cluster.group_of[pod]), bool(self.cluster.terminating[pod])
        for place, delta in ((int(self._now[pod]), -1), (node, 1)):
            if place >= 0:
                self._fingerprint.shift(group, place, terminating, delta)
                if delta < 0:
                    self._freed.append(place)
        self._shift_room(pod, node)
        self._now[pod] = node
        self._changed.add(pod)
        self._moved(pod)

    def _shift_room(self, pod: int, node: int) -> None:
        group = int(self.cluster.group_of[pod])
        for place, delta in ((int(self._now[pod]), -1), (node, 1)):
            if place >= 0:
                self._room.shift(group, place, delta)

    def _forget_refusals(self) -> None:
        self._possible.clear()
        self._freed.clear()
        self._refused.clear()
        self._helpless.clear()
        self._asleep[:] = False
        self._looked = 0

    def _moved(self, *pods: int) -> None:
        self._behind.update(pods)
        self.position += 1
        if not self._keeps:
            self._follow()

    def _follow(self) -> None:
        """The scheduler's state takes up what has changed since its last question."""
        for pod in sorted(self._behind):
            before, now = int(self._state.node_of[pod]), int(self._now[pod])
            if before == now:
                continue
            if before >= 0:
                self._state.remove(pod, min(now, PENDING))
            if now >= 0:
                self._state.place(pod, now)
        self._behind.clear()


def _tolerating(cluster: Cluster) -> frozenset[int]:
    """Groups that a cordon does not keep away; found once for all snapshots with these groups."""
    memo = cluster.group_memo
    if _MEMO not in memo:
        memo[_MEMO] = _found_tolerating(cluster)
    found: frozenset[int] = memo[_MEMO]
    return found


def _found_tolerating(cluster: Cluster) -> frozenset[int]:
    """Equal tolerations are asked once, and so is each group."""
    known: dict[int, bool] = {}
    found: tuple[bool, ...] = cluster.each_group.get(_MEMO, ())
    groups = cluster.groups[len(found) :]
    for tolerations in (group.spec.tolerations for group in groups):
        if id(tolerations) not in known:
            known[id(tolerations)] = any(each.tolerates(CORDON) for each in tolerations)
    found = (*found, *(known[id(group.spec.tolerations)] for group in groups))
    cluster.each_group[_MEMO] = found
    return frozenset(compress(count(), found))


def _judges_room(profile: Profile) -> bool:
    """Whether every request has to find room on a node."""
    args = profile.resolved.args.node_resources_fit
    judged = any(plugin.name == NodeResourcesFit.name for plugin in profile.filters)
    return judged and not (args.ignored_resources or args.ignored_resource_groups)
