"""What a group asks of nodes, by how far its rules look: at a node alone, or also at others."""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import IntArray
from planner.scheduler.framework.node_table import FloatArray, NodeTable
from planner.scheduler.framework.plugin import Filter, Score, StaticFilter, StaticScore
from planner.scheduler.group_cycle import GroupCycle


class GroupRules:
    """The filters and scores of a group: about a node alone, or also about others."""

    def __init__(self, cycle: GroupCycle) -> None:
        open_ = np.flatnonzero(~cycle.never)
        filters = [each for _, each in cycle.filters if not isinstance(each, StaticFilter)]
        self.local = [each for each in filters if each.local]
        self.filters = [each for each in filters if not each.local]
        telling = [(w, score) for _, w, score in cycle.scores if not _constant(score, open_)]
        self.own = [(weight, score) for weight, score in telling if score.local]
        self.shared = [(weight, score) for weight, score in telling if not score.local]

    def kinds(self, nodes: IntArray) -> list[IntArray] | None:
        """What all that looks at several nodes sees of these."""
        found: list[IntArray] = []
        rules: list[Filter | Score] = [*self.filters, *(score for _, score in self.shared)]
        for each in rules:
            kinds = each.kinds(nodes)
            if kinds is None:
                return None
            found += kinds
        return found

    def own_scores(self, table: NodeTable) -> FloatArray:
        """What the nodes of a table have of their own, if they are feasible."""
        total = np.zeros(len(table.nodes))
        for weight, score in self.own:
            found = score.scores_in(table)
            total += found if weight == 1 else weight * found
        return total

    def score_at(self, node: int) -> int:
        """The same of one node."""
        return sum(weight * score.score_at(node) for weight, score in self.own)

    def refused_at(self, nodes: IntArray) -> list[bool]:
        """Which of them do not pass the filters that look at several nodes."""
        found = self.filters[0].refused_at(nodes)
        for each in self.filters[1:]:
            found = found | each.refused_at(nodes)
        refused: list[bool] = found.tolist()
        return refused


def _constant(score: Score, open_: IntArray) -> bool:
    """Whether no pod ever gets more points for one of these nodes than for another."""
    if not isinstance(score, StaticScore):
        return False
    raw = score.scores(open_)
    return not len(raw) or bool((raw == raw[0]).all())
