"""One scheduling cycle: filter the nodes for a pod, score what is left, choose the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from random import Random

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.alike_nodes import RunsOfReplicas
from planner.scheduler.choice import Choice
from planner.scheduler.framework.plugin import PASS, UNSCHEDULABLE, Filter, Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle, Limit
from planner.scheduler.open_nodes import NodeTables, OpenNodes
from planner.scheduler.profile import Profile

_NONE: IntArray = np.empty(0, np.int64)


@dataclass(frozen=True)
class Scores:
    """Scores of the feasible nodes, in the order of `Evaluation.feasible`."""

    raw: Mapping[str, IntArray]
    weighted: Mapping[str, IntArray]
    totals: IntArray


@dataclass(frozen=True, eq=False)
class Search:
    """Which nodes are looked at, in which order, until `wanted` of them pass."""

    order: IntArray
    wanted: int


class Evaluation:
    """What the scheduler thinks of one pod right now; valid until the state changes.

    `search` limits the nodes that are looked at (all, if None). `yields` are nodes where the pod
    has to make way for pods that are nominated there, with the refusal. `choose` finds the outcome,
    where that is known without a look at all nodes; it is asked at most once.
    """

    def __init__(
        self,
        state: SchedulingState,
        pod: int,
        cycle: GroupCycle,
        search: Search | None = None,
        yields: Mapping[int, Status] | None = None,
        choose: Callable[[], Choice | None] = lambda: None,
    ) -> None:
        self.pod = pod
        self._state = state
        self._cycle = cycle
        self._search = search
        self._yields = yields or {}
        self._choose = choose

    @cached_property
    def _choice(self) -> Choice | None:
        return self._choose()

    @property
    def known(self) -> bool:
        """Whether the outcome is known without a look at all nodes."""
        return self._choice is not None

    @property
    def feasible_count(self) -> int:
        """How many nodes pass every filter."""
        return len(self.feasible) if self._choice is None else self._choice.feasible

    @property
    def tied(self) -> int:
        """How many of them have the highest total."""
        return len(self.best) if self._choice is None else self._choice.tied

    def some_best(self, most: int) -> list[int]:
        """The first of the best nodes."""
        found: list[int] = (
            self.best[:most].tolist() if self._choice is None else self._choice.nodes(most)
        )
        return found

    def pick(self, random: Random | None) -> int:
        """One of the best nodes: the first by name, or any, as kube-scheduler draws it."""
        if self._choice is not None:
            return self._choice.pick(random)
        return int(self.best[0] if random is None else random.choice(self.best))

    @property
    def rejection(self) -> Status | None:
        """A refusal before any node was looked at."""
        return self._cycle.rejection

    @property
    def limit(self) -> Limit | None:
        """The nodes that PreFilter left, if it left out some."""
        return self._cycle.limit

    @cached_property
    def _candidates(self) -> IntArray:
        if self.rejection is not None:
            return _NONE
        if self.limit is not None:
            return self.limit.known(self._state.cluster.node_index)
        return self._state.all_nodes

    @cached_property
    def looked_at(self) -> IntArray:
        """The nodes that filters were asked about; the search ends before one too many passes."""
        if self._search is None:
            return self._candidates
        order = self._search.order[np.isin(self._search.order, self._candidates)]
        passing = np.flatnonzero(~self._failed[order])
        if len(passing) > self._search.wanted:
            order = order[: passing[self._search.wanted]]
        return np.sort(order)

    @cached_property
    def _failed(self) -> BoolArray:
        failed = self._cycle.refused()
        if self._yields:
            failed[list(self._yields)] = True
        if self._state.cluster.ghosts:
            failed[list(self._state.cluster.ghosts)] = True
        return failed

    @cached_property
    def feasible(self) -> IntArray:
        """The nodes that pass every filter."""
        if self._search is None and self.rejection is None and self.limit is None:
            return np.flatnonzero(~self._failed)
        return self.looked_at[~self._failed[self.looked_at]]

    @cached_property
    def scores(self) -> Scores:
        """All scores of the feasible nodes."""
        raw: dict[str, IntArray] = {}
        weighted: dict[str, IntArray] = {}
        totals = np.zeros(len(self.feasible), np.int64)
        for name, weight, score in self._cycle.scores:
            if not len(self.feasible) or not score.active():
                continue
            raw[name] = score.scores(self.feasible)
            weighted[name] = weight * score.normalise(raw[name], self.feasible)
            totals = totals + weighted[name]
        return Scores(raw, weighted, totals)

    @cached_property
    def best(self) -> IntArray:
        """The feasible nodes with the highest total; kube-scheduler picks any of them."""
        if self._choice is not None:
            return self._choice.best()
        if len(self.feasible) <= 1:
            return self.feasible
        totals = self.scores.totals
        best: IntArray = self.feasible[totals == totals.max()]
        return best

    @cached_property
    def resolvable(self) -> BoolArray:
        """Nodes that do not pass, and might if other pods left."""
        found = np.zeros(len(self._state.cluster.nodes), np.bool_)
        for node, status in self._yielding().items():
            found[node] = status.code == UNSCHEDULABLE
        for nodes, status, _ in self._first_refusals():
            found[nodes] = status.code == UNSCHEDULABLE
        return found

    @property
    def local(self) -> bool:
        """Whether nothing but pods that leave one of the `resolvable` nodes can help the pod."""
        return self._cycle.local

    def verdicts(self) -> dict[int, Status]:
        """The first refusal of each node that was looked at and does not pass."""
        found = self._yielding()
        for nodes, status, _ in self._first_refusals():
            found.update(dict.fromkeys(nodes.tolist(), status))
        return found

    @cached_property
    def verdict_counts(self) -> Counter[Status]:
        """How many nodes have which refusal; many pods may ask for the same that is kept."""
        counts = Counter(self._yielding().values())
        for nodes, status, _ in self._first_refusals():
            counts[status] += len(nodes)
        return counts

    def _yielding(self) -> dict[int, Status]:
        """Of the nodes that were looked at, those where the pod makes way for nominated ones."""
        if not self._yields:
            return {}
        looked_at = set(self.looked_at.tolist())
        return {node: status for node, status in self._yields.items() if node in looked_at}

    def _first_refusals(self) -> Iterator[tuple[IntArray, Status, Filter]]:
        """Nodes and the refusal that they share, filter by filter; without those that yield."""
        open_nodes = self.looked_at
        if self._yields:
            open_nodes = open_nodes[~np.isin(open_nodes, list(self._yields))]
        for _, each in self._cycle.filters:
            verdicts = each.verdicts()[open_nodes]
            refused = verdicts != PASS
            if refused.any():
                for verdict in np.unique(verdicts[refused]).tolist():
                    yield open_nodes[verdicts == verdict], each.status(verdict), each
                open_nodes = open_nodes[~refused]

    @cached_property
    def plugins(self) -> frozenset[str]:
        """Plugins that refused a pod without a node: in PreFilter, or as the first of a node."""
        if self.rejection is not None:
            return frozenset((self.rejection.plugin,))
        limited = self.limit.plugins if self.limit is not None else ()
        return frozenset((*(status.plugin for status in self.verdict_counts), *limited))

    def refusals(self) -> dict[int, list[Status]]:
        """Every plugin that refuses a node, not only the first."""
        found: dict[int, list[Status]] = {}
        for _, each in self._cycle.filters:
            verdicts = each.verdicts()
            for node in self.looked_at[verdicts[self.looked_at] != PASS].tolist():
                found.setdefault(node, []).append(each.status(int(verdicts[node])))
        return found

    def classes(self) -> dict[tuple[Status, str], list[int]]:
        """Refused nodes by their first refusal and by what was compared there."""
        found: dict[tuple[Status, str], list[int]] = {}
        for node, status in self._yielding().items():
            found.setdefault((status, ""), []).append(node)
        for nodes, status, each in self._first_refusals():
            for node, numbers in zip(nodes.tolist(), each.numbers(nodes), strict=True):
                found.setdefault((status, numbers), []).append(node)
        return found

    def message(self) -> str:
        """The FitError text of kube-scheduler for a pod that no node takes."""
        nodes = len(self._state.all_nodes)
        elsewhere = self.limit.status if self.limit is not None else None
        return fit_error(nodes, self.rejection, self.verdict_counts, elsewhere)


class Scheduler:
    """Evaluates pods against a state under one profile."""

    def __init__(self, state: SchedulingState, profile: Profile) -> None:
        self.state = state
        self.profile = profile
        self._cycles: dict[tuple[int, str], GroupCycle] = {}
        self._runs = RunsOfReplicas(state)
        self._tables = NodeTables(state)
        self._open: dict[GroupCycle, OpenNodes] = {}

    def cycle(self, pod: int) -> GroupCycle:
        """The current filters and scores of a pod's group."""
        group = self.state.group(pod)
        named = self.state.named.get(pod, "")
        key = (group.index, named)
        found = self._cycles.get(key)
        if found is None:
            if named:
                group = replace(group, node_name=named)
            found = self._cycles[key] = GroupCycle(self.state, self.profile, group)
        found.catch_up()
        return found

    def evaluate(
        self, pod: int, search: Search | None = None, yields: Mapping[int, Status] | None = None
    ) -> Evaluation:
        """What kube-scheduler would say of this pod now."""
        cycle = self.cycle(pod)
        if search is not None:
            return Evaluation(self.state, pod, cycle, search, yields)
        return Evaluation(
            self.state, pod, cycle, None, yields, partial(self._choice, cycle, yields or ())
        )

    def choice(self, pod: int, hidden: Collection[int] = ()) -> Choice | None:
        """The best nodes for this pod but for the `hidden` ones; None if that takes more words."""
        return self._choice(self.cycle(pod), hidden)

    def _choice(self, cycle: GroupCycle, hidden: Collection[int]) -> Choice | None:
        if cycle.rejection is not None or cycle.limit is not None:
            return None
        found = self._open.get(cycle)
        if found is None:
            found = self._open[cycle] = OpenNodes(self.state, cycle, self._tables)
        choice = None if hidden else self._runs.choice(cycle, found)
        return found.choice(hidden) if choice is None else choice


def fit_error(
    nodes: int, rejection: Status | None, counts: Mapping[Status, int], elsewhere: Status | None
) -> str:
    """`0/N nodes are available: ` and the sorted histogram of reasons.

    `counts` says how many nodes have which verdict. Each node counts once per reason; nodes that
    were not looked at count with `elsewhere`.
    """
    head = f"0/{nodes} nodes are available:"
    if rejection is not None:
        return f"{head} {', '.join(rejection.reasons)}."
    reasons: Counter[str] = Counter()
    others = nodes - sum(counts.values())
    left_out = ((elsewhere, others),) if elsewhere is not None and others else ()
    for status, count in (*counts.items(), *left_out):
        for reason in status.reasons:
            reasons[reason] += count
    histogram = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f"{head} {', '.join(histogram)}." if histogram else head
