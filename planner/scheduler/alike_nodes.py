"""The nodes as the rules of one group tell them apart, kept current pod by pod.

Replicas come one after the other, and a landing changes little: the node that it is on, and what
rules count per domain. So nodes with room are kept in classes that no rule over domains tells
apart, in each of them by the scores that a node has of its own. The next replica is decided by
looking at one node of each class: what it finds is what looking at all nodes would have found.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cluster.topology import IntArray
from planner.scheduler.choice import Choice, FromClasses
from planner.scheduler.framework.changes import Changes
from planner.scheduler.framework.node_table import NodeTable
from planner.scheduler.framework.plugin import PASS
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.group_rules import GroupRules
from planner.scheduler.open_nodes import Left, OpenNodes, passing_all

MOST_CLASSES = 60
"""With more of them, looking at all nodes at once is quicker."""
FEW_REPLICAS = 2
"""Up to so many in a row, making classes of nodes takes longer than it saves."""
_MOST_CODES = 2**40
_FEW_CHANGES = 4
"""More than these at once are not followed: other pods have come in between."""

Kind = tuple[int, ...]
"""What the rules see of a node, a number for each of them."""


@dataclass(slots=True)
class _Class:
    """Nodes with room that are alike: by their own score, each list in the order of the nodes."""

    by_score: dict[int, list[int]] = field(default_factory=dict)
    scores: list[int] = field(default_factory=list)
    """Those that some node has, the highest last."""
    size: int = 0

    def add(self, node: int, score: int) -> None:
        nodes = self.by_score.get(score)
        if nodes is None:
            nodes = self.by_score[score] = []
            insort(self.scores, score)
        insort(nodes, node)
        self.size += 1

    def remove(self, node: int, score: int) -> None:
        nodes = self.by_score[score]
        del nodes[bisect_left(nodes, node)]
        if not nodes:
            del self.by_score[score]
            del self.scores[bisect_left(self.scores, score)]
        self.size -= 1

    @property
    def example(self) -> int:
        return self.by_score[self.scores[-1]][0]


class AlikeNodes:
    """The classes of one group; `catch_up` follows what happens to single nodes."""

    def __init__(
        self, cycle: GroupCycle, rules: GroupRules, left: Left, table: NodeTable, made: _Made
    ) -> None:
        self._cycle = cycle
        self._rules = rules
        self._left = left
        self._table = table
        self._classes = made.classes
        self._made = made
        self._judged: dict[int, tuple[Kind, int] | None] = {}
        """Where nodes are that have changed since the classes were made."""

    @classmethod
    def of(cls, cycle: GroupCycle, open_nodes: OpenNodes, left: Left) -> AlikeNodes | None:
        """Of the nodes in the domains that are left.

        None where the rules tell too many nodes apart, or one of them can't say how it does.
        """
        rules, table = open_nodes.rules, open_nodes.table(left)
        if table is None:
            return None
        cycle.score_catch_up()
        room = passing_all(rules.local, table)
        nodes = table.nodes[room]
        kinds = rules.kinds(nodes)
        if kinds is None or not len(nodes):
            return None
        own = rules.own_scores(table)[room].astype(np.int64)
        made = _made(nodes, kinds, own, len(cycle.never))
        return None if made is None else cls(cycle, rules, left, table, made)

    def covers(self, left: Left) -> bool:
        """Whether the nodes in these domains are among those that are in classes."""
        return not self._left or all(
            set(now).issuperset(domains)
            for (_, now), (_, domains) in zip(self._left, left, strict=True)
        )

    def catch_up(self, changes: Changes) -> None:
        """Judge the nodes again on which pods came or left; the cycle has caught up already."""
        self._cycle.score_catch_up()
        for node in changes.touched.tolist():
            self._judge(node)

    def _judge(self, node: int) -> None:
        before = self._judged[node] if node in self._judged else self._made.place(node)
        if before is not None:
            kind, score = before
            left = self._classes[kind]
            left.remove(node, score)
            if not left.size:
                del self._classes[kind]
        self._judged[node] = None
        if not self._table.has(node):
            return
        if any(each.verdict_at(node) != PASS for each in self._rules.local):
            return
        one = np.array([node])
        score = self._rules.score_at(node)
        kind = tuple(int(each[0]) for each in self._rules.kinds(one) or ())
        self._judged[node] = kind, score
        found = self._classes.get(kind)
        if found is None:
            found = self._classes[kind] = _Class()
        found.add(node, score)

    def choice(self) -> Choice | None:
        """The best nodes now, if any passes all filters; None if that takes a look at them all."""
        if not 0 < len(self._classes) <= MOST_CLASSES:
            return None
        rules, classes = self._rules, list(self._classes.values())
        if not rules.filters and not rules.shared:
            return _best(classes, [each.scores[-1] for each in classes])
        examples = np.array([each.example for each in classes])
        if rules.filters:
            refused = rules.refused_at(examples)
            if True in refused:
                classes = [each for each, no in zip(classes, refused, strict=True) if not no]
                examples = np.array([each.example for each in classes])
        if not classes:
            return None
        totals = np.array([each.scores[-1] for each in classes])
        if rules.shared:
            sizes = np.array([each.size for each in classes])
            for weight, score in rules.shared:
                if score.active():
                    raw = score.scores_of(examples, sizes)
                    totals += weight * score.normalise(raw, examples)
        return _best(classes, totals.tolist())


def _best(classes: Sequence[_Class], totals: Sequence[int]) -> Choice:
    highest = max(totals)
    best = [
        each.by_score[each.scores[-1]]
        for each, total in zip(classes, totals, strict=True)
        if total == highest
    ]
    return FromClasses(sum(each.size for each in classes), best)


@dataclass(frozen=True, eq=False)
class _Made:
    """Classes as they are made, and where a node is in them."""

    classes: dict[Kind, _Class]
    list_of: IntArray
    """By node, the number of its list; -1 for nodes that are in none."""
    lists: Sequence[tuple[Kind, int]]

    def place(self, node: int) -> tuple[Kind, int] | None:
        """The class and the score of a node that has not changed."""
        number = int(self.list_of[node])
        return None if number < 0 else self.lists[number]


def _made(nodes: IntArray, kinds: Sequence[IntArray], own: IntArray, size: int) -> _Made | None:
    """Sorted by class, by score and by node in one go; None if there are too many classes."""
    codes, numbers = np.zeros(len(nodes), np.int64), 1
    for each in (*kinds, own):
        lowest = int(each.min())
        width = int(each.max()) - lowest + 1
        numbers *= width
        if numbers > _MOST_CODES:
            return None
        if width > 1:
            codes = codes * width + (each - lowest)
    order = np.argsort(codes, kind="stable")
    changes = np.diff(codes[order], prepend=-1) != 0
    first = np.flatnonzero(changes)
    heads, listed = order[first], nodes[order]
    columns = [each[heads].tolist() for each in kinds]
    rows: Iterable[Kind] = zip(*columns, strict=True) if columns else [()] * len(heads)
    lists = list(zip(rows, own[heads].tolist(), strict=True))
    list_of = np.full(size, -1)
    list_of[listed] = np.cumsum(changes) - 1
    found: dict[Kind, _Class] = {}
    everything, ends = listed.tolist(), [*first[1:].tolist(), len(listed)]
    for (kind, score), start, end in zip(lists, first.tolist(), ends, strict=True):
        each_class = found.get(kind)
        if each_class is None:
            if len(found) == MOST_CLASSES:
                return None
            each_class = found[kind] = _Class()
        each_class.by_score[score] = everything[start:end]
        each_class.scores.append(score)
        each_class.size += end - start
    return _Made(found, list_of, lists)


class RunsOfReplicas:
    """Notices when pods of one group come one after the other.

    After some of them the classes are made; a few pods are sooner judged over all open nodes.
    """

    def __init__(self, state: SchedulingState) -> None:
        self._state = state
        self._cycle: GroupCycle | None = None
        self._seen = 0
        self._in_a_row = 0
        self._alike: AlikeNodes | None = None

    def choice(self, cycle: GroupCycle, open_nodes: OpenNodes) -> Choice | None:
        """For the next pod of a group whose cycle has caught up; None if all nodes are asked.

        Classes are made of the nodes that are open then; once others are, too, of all.
        """
        log, seen = self._state.log, self._seen
        self._seen = len(log)
        if cycle is not self._cycle or len(log) - seen > _FEW_CHANGES:
            self._cycle, self._alike, self._in_a_row = cycle, None, 1
            return None
        if seen < len(log):  # whoever asks twice need not be about to place anybody
            self._in_a_row += 1
            if self._alike is not None:
                self._alike.catch_up(log.since(seen))
            elif self._in_a_row == FEW_REPLICAS + 1:
                self._alike = AlikeNodes.of(cycle, open_nodes, open_nodes.left())
        if self._alike is not None and not self._alike.covers(open_nodes.left()):
            self._alike = AlikeNodes.of(cycle, open_nodes, ())
        return None if self._alike is None else self._alike.choice()
