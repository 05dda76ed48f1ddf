"""The scheduling framework: what a plugin is and what it may say.

kube-scheduler asks each plugin about one pod and one node at a time. Here a plugin answers for one
group of interchangeable pods and all nodes at once, as an array of verdicts; and it keeps that
answer up to date as pods come and go, instead of computing it again for the next replica.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from planner.cluster.groups import PodGroup
from planner.cluster.topology import IntArray, Topology

if TYPE_CHECKING:
    from planner.scheduler.framework.changes import Changes
    from planner.scheduler.framework.node_table import NodeTable
    from planner.scheduler.framework.state import SchedulingState

Code = Literal["Unschedulable", "UnschedulableAndUnresolvable"]
UNSCHEDULABLE: Code = "Unschedulable"
"""Preemption might help."""
UNRESOLVABLE: Code = "UnschedulableAndUnresolvable"
"""Preemption can't help."""

MAX_NODE_SCORE = 100
PASS = 0
"""The verdict of a node that passes; other numbers mean what the filter's `status` says."""


@dataclass(frozen=True)
class Status:
    """A refusal: by which plugin, of what kind, in Kubernetes' own words."""

    plugin: str
    code: Code
    reasons: tuple[str, ...]


class Change(NamedTuple):
    """A pod of `group` came to (`delta` 1) or left (-1) `node`; terminating ones count less."""

    group: int
    node: int
    delta: int
    terminating: bool


class Filter(Protocol):
    """One plugin's verdicts for one group over all nodes, kept current by `apply`.

    A filter for which no other pod matters, or that reads the state anew each time, has nothing to
    apply.
    """

    local: ClassVar[bool] = False
    """Whether a node's verdict is about the node and the pods there alone, and more pods never open
    it: then only a pod that leaves the node can, and none where the refusal is unresolvable."""

    def verdicts(self) -> IntArray:
        """PASS or a number that `status` explains, for each node."""

    def refused(self) -> NDArray[np.bool_]:
        """The nodes that don't pass."""
        refused: NDArray[np.bool_] = self.verdicts() != PASS
        return refused

    def verdict_at(self, node: int) -> int:
        """The verdict of one node; preemption asks after every step of a what-if."""
        return int(self.verdicts()[node])

    def refused_at(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Which of a few nodes don't pass."""
        verdicts = [self.verdict_at(node) != PASS for node in nodes.tolist()]
        return np.array(verdicts, np.bool_)

    def leaves(self) -> tuple[Topology, tuple[int, ...]] | None:
        """The domains of a topology to which it leaves the pod now, if there are few to tell."""
        return None

    def passing_in(self, table: NodeTable) -> NDArray[np.bool_] | None:
        """Which nodes of a table pass, of which all are in the domains that are left; None: all."""
        return ~self.refused()[table.nodes]

    def kinds(self, nodes: IntArray) -> list[IntArray] | None:
        """Numbers by which a filter that is not `local` tells these nodes apart.

        Nodes with the same numbers have the same verdict, whatever comes to or leaves other nodes;
        a pod changes the numbers of its own node only. None if the filter can't say.
        """
        return None

    def status(self, verdict: int) -> Status:
        """What a verdict means."""

    def numbers(self, nodes: IntArray) -> Sequence[str]:
        """For people: what was compared when each of these nodes was refused, if anything was."""
        return [""] * len(nodes)

    def apply(self, changes: Changes) -> None:
        """Pods were placed or removed."""
        return

    def dry_run(self, change: Change) -> None:
        """Preemption takes a pod away or gives it back for the length of a what-if.

        Until all pods are back, only `verdict_at` is asked, of the node that changed.
        """
        return


def first_refusal(filters: Iterable[Filter], node: int) -> Status | None:
    """The first filter that refuses the node now, in its words; None if all let it pass."""
    for each in filters:
        verdict = each.verdict_at(node)
        if verdict != PASS:
            return each.status(verdict)
    return None


class Score(Protocol):
    """One plugin's scores for one group, kept current by `apply`."""

    local: ClassVar[bool] = False
    """Whether a node's score is about the node and the pods there alone, and stays as it is."""

    def active(self) -> bool:
        """Whether the plugin has anything to say now; if not, it skips scoring this pod."""
        return True

    def scores(self, feasible: IntArray) -> IntArray:
        """The raw score of each feasible node."""

    def score_at(self, node: int) -> int:
        """The raw score of one node that is feasible."""
        return int(self.scores(np.array([node]))[0])

    def scores_in(self, table: NodeTable) -> IntArray | NDArray[np.float64]:
        """The raw scores of the nodes of a table, for those of them that are feasible."""
        return self.scores(table.nodes)

    def scores_of(self, examples: IntArray, sizes: IntArray) -> IntArray:
        """The raw scores of nodes that stand for so many feasible ones of the same `kinds` each."""
        return self.scores(examples)

    def kinds(self, nodes: IntArray) -> list[IntArray] | None:
        """Numbers by which a score that is not `local` tells nodes apart, as for filters."""
        return None

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """Raw scores brought to 0..100, which the profile's weight multiplies."""
        return raw

    def apply(self, changes: Changes) -> None:
        """Pods were placed or removed."""
        return


@dataclass(frozen=True)
class PreFilterResult:
    """What a plugin says before any node is looked at.

    `filter` None means that the plugin has nothing to say about this pod; `nodes` names the nodes
    that are looked at at all.
    """

    filter: Filter | None = None
    nodes: frozenset[str] | None = None
    rejection: Status | None = None


SKIP = PreFilterResult()
"""For good: a plugin that skips a group would do so wherever pods ran."""


class FilterPlugin(Protocol):
    """A plugin with PreFilter and Filter."""

    name: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]
    """What it says of refused nodes, where that can be compared with kube-scheduler's own message:
    not where volumes decide, which come and go without a trace."""

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """The filter for a group, made once and kept current from then on."""


class ScorePlugin(Protocol):
    """A plugin with PreScore, Score and NormalizeScore."""

    name: ClassVar[str]

    def pre_score(self, state: SchedulingState, group: PodGroup) -> Score | None:
        """The scorer for a group, or None if the plugin has nothing to say about it."""


class StaticFilter(Filter):
    """Verdicts that no other pod changes."""

    local: ClassVar[bool] = True

    def __init__(self, verdicts: IntArray, statuses: Sequence[Status]) -> None:
        self._verdicts = verdicts
        self._statuses = statuses

    def verdicts(self) -> IntArray:
        """The same as ever."""
        return self._verdicts

    def status(self, verdict: int) -> Status:
        """The first status for verdict 1, the second for 2, and so on."""
        return self._statuses[verdict - 1]


def static_result(verdicts: IntArray, statuses: Sequence[Status]) -> PreFilterResult:
    """Verdicts that no other pod changes; where they refuse no node, there is nothing to say."""
    return PreFilterResult(StaticFilter(verdicts, statuses)) if verdicts.any() else SKIP


class StaticScore(Score):
    """Scores that no other pod changes."""

    local: ClassVar[bool] = True

    def __init__(self, raw: IntArray) -> None:
        self._raw = raw

    def scores(self, feasible: IntArray) -> IntArray:
        """The same as ever."""
        return self._raw[feasible]

    def score_at(self, node: int) -> int:
        """The same of one node."""
        return int(self._raw[node])

    def kinds(self, nodes: IntArray) -> list[IntArray] | None:
        """By the score itself, where it is seen beside others."""
        return [self._raw[nodes]]


class LocalScore(Score):
    """Scores by a node and its pods alone: judged again only where pods came or left.

    Groups that ask for the same share one, whoever's turn it is: it knows itself
    how far it has followed.
    """

    local: ClassVar[bool] = True

    def __init__(self, state: SchedulingState) -> None:
        self._state = state
        self._seen = 0
        self._scores: IntArray | None = None

    @abstractmethod
    def judge(self, nodes: IntArray | None) -> IntArray:
        """The scores of these nodes, or of all."""

    @property
    def of_all(self) -> IntArray:
        """As judged last, node by node; not to be changed. The first to ask has them judged."""
        if self._scores is None:
            self._scores = self.judge(None)
            self._seen = len(self._state.log)
        return self._scores

    def scores(self, feasible: IntArray) -> IntArray:
        """The same of these nodes."""
        return self.of_all[feasible]

    def score_at(self, node: int) -> int:
        """The same of one node, which is judged alone while nobody has asked for all."""
        return self.judge_at(node) if self._scores is None else int(self._scores[node])

    def scores_in(self, table: NodeTable) -> IntArray | NDArray[np.float64]:
        """Judged or caught up with just now."""
        self.catch_up()
        return self.scores(table.nodes)

    def apply(self, changes: Changes) -> None:
        """Only the nodes that changed are judged again."""
        self.catch_up()

    def catch_up(self) -> None:
        """The same, whatever was told so far."""
        log, scores = self._state.log, self._scores
        if scores is None or self._seen == len(log):
            return
        changes = log.since(self._seen)
        self._seen = len(log)
        if changes.few is None:
            scores[changes.touched] = self.judge(changes.touched)
            return
        for node in {change.node for change in changes.few}:
            scores[node] = self.judge_at(node)

    def judge_at(self, node: int) -> int:
        """The score of one node, as a landing asks for it."""
        return int(self.judge(np.array([node]))[0])


class Follower(Protocol):
    """What is kept current with the log by itself, and so can serve several groups."""

    def catch_up(self) -> None:
        """Follow what happened since."""


def default_normalise(raw: IntArray, *, reverse: bool) -> IntArray:
    """100 x score // max, or the rest to 100; all equal if the highest score is 0.

    DefaultNormalizeScore of the scheduler's plugin helpers.
    """
    highest = int(raw.max(initial=0))
    if highest == 0:
        return np.full_like(raw, MAX_NODE_SCORE) if reverse else raw
    scaled = raw * MAX_NODE_SCORE // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
