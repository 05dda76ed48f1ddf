"""Free room and domain counts while thousands of pods move, in plain numbers.

Asking every filter about every landing of a large plan would take far too long. For most groups
only two of them can change their verdict while the plan runs: NodeResourcesFit and
PodTopologySpread. Both are sums, kept here. Groups with other rules about pods are put before the
real filters as well. Either way `planner.replay` has to check the finished order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planner.cluster.spread import CountedPods, Scope, SpreadConstraint, counted_pods, domain_counts
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import PASS
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_resources_fit import NodeResourcesFit
from planner.scheduler.profile import Profile
from planner.sequences.group_dependencies import GroupDependencies
from planner.solver.problem.problem import Cell, Problem

Domains = tuple[int, ...]
"""A node's domain in each spread constraint of a group: equal ones are alike to the group."""


class _ScopeLists(NamedTuple):
    """A scope as lists: the domain of each node, and the one it counts for; -1 for none."""

    domain_of: list[int]
    counts_for: list[int]
    eligible: list[int]

    @classmethod
    def of(cls, scope: Scope) -> _ScopeLists:
        domain_of: list[int] = scope.topology.domain_of.tolist()
        eligible: list[bool] = scope.eligible.tolist()
        counts_for = [d if e else -1 for d, e in zip(domain_of, eligible, strict=True)]
        return cls(domain_of, counts_for, sorted({d for d in counts_for if d >= 0}))


class DomainCounter:
    """The counts of one constraint, with their minimum always at hand."""

    def __init__(self, spread: SpreadConstraint, scope: _ScopeLists, pods: CountedPods) -> None:
        constraint = spread.constraint
        self.scope = scope
        self.counts: list[int] = domain_counts(pods, spread).tolist()
        self._max_skew = constraint.max_skew
        self._short = spread.too_few_domains
        self._how_many = Counter([self.counts[domain] for domain in scope.eligible])
        self._minimum = min(self._how_many, default=0)

    def add(self, node: int, delta: int) -> None:
        """A matching pod came or left."""
        domain = self.scope.counts_for[node]
        if domain < 0:
            return
        old = self.counts[domain]
        self.counts[domain] = old + delta
        self._how_many[old] -= 1
        self._how_many[old + delta] += 1
        if old + delta < self._minimum or (old == self._minimum and not self._how_many[old]):
            self._minimum = old + delta

    def at(self, domain: int) -> int:
        """The count in a domain; 0 for nodes without one."""
        return self.counts[domain] if domain >= 0 else 0

    def admits(self, node: int, self_match: bool) -> bool:
        """PodTopologySpread: count + self - minimum <= maxSkew in the node's domain."""
        domain = self.scope.domain_of[node]
        minimum = 0 if self._short else self._minimum
        return domain >= 0 and self.counts[domain] + self_match - minimum <= self._max_skew


class RoomAndSkew:
    """What keeps pods of some groups from landing now."""

    def __init__(
        self,
        problem: Problem,
        profile: Profile,
        dependencies: GroupDependencies,
        groups: Sequence[int],
    ) -> None:
        chosen = frozenset(groups)
        self._asks = {
            group: [(r, a) for r, a in enumerate(problem.requests[group].tolist()) if a > 0]
            for group in groups
        }
        self._free: list[list[int]] = (problem.allocatable - problem.cluster.used).tolist()
        self._carried: dict[int, list[tuple[DomainCounter, bool]]] = defaultdict(list)
        self._counted: dict[int, list[DomainCounter]] = defaultdict(list)
        self._count(problem, chosen)
        self.need_filters = frozenset(filter(dependencies.needs_filters, groups))
        """Groups whose landings depend on more than sums."""
        self._other_filters: _OtherFilters | None = None
        if self.need_filters:
            watched = frozenset().union(*map(dependencies.of, self.need_filters))
            self._other_filters = _OtherFilters(problem, profile, groups, watched)

    def _count(self, problem: Problem, chosen: frozenset[int]) -> None:
        pods = counted_pods(problem.cluster)
        scopes: dict[int, _ScopeLists] = {}
        for spread in problem.spreads:
            carriers = [each for each in spread.carriers if each.group in chosen]
            if not carriers:
                continue
            scope = scopes.get(id(spread.scope))
            if scope is None:
                scope = scopes[id(spread.scope)] = _ScopeLists.of(spread.scope)
            counter = DomainCounter(spread, scope, pods)
            for carrier in carriers:
                self._carried[carrier.group].append((counter, carrier.self_match))
            for group in spread.matching.tolist():
                if group in chosen:
                    self._counted[group].append(counter)

    def admits(self, group: int, node: int) -> bool:
        """Whether a pod of the group may land on the node now; static rules are taken as met."""
        free = self._free[node]
        for resource, amount in self._asks[group]:
            if free[resource] < amount:
                return False
        for counter, self_match in self._carried[group]:
            if not counter.admits(node, self_match):
                return False
        others = self._other_filters
        return others is None or group not in self.need_filters or others.admit(group, node)

    def domains(self, group: int, node: int) -> Domains:
        """The domains of the node in all of the group's constraints."""
        return tuple([c.scope.domain_of[node] for c, _ in self._carried[group]])

    def fullness(self, group: int, domains: Domains) -> int:
        """Pods in these domains, over all of the group's constraints: low ones go first."""
        carried = self._carried[group]
        return sum([c.at(domain) for (c, _), domain in zip(carried, domains, strict=True)])

    def counters(self, group: int) -> Iterable[int]:
        """Names of the constraints that pods of the group obey."""
        return (id(counter) for counter, _ in self._carried[group])

    def counted_by(self, group: int) -> Iterable[int]:
        """Names of the constraints that count pods of the group."""
        return (id(counter) for counter in self._counted[group])

    def shift(self, group: int, node: int, delta: int) -> None:
        """A pod of the group lands (1) or leaves (-1)."""
        free = self._free[node]
        for resource, amount in self._asks[group]:
            free[resource] -= delta * amount
        for counter in self._counted[group]:
            counter.add(node, delta)
        if self._other_filters is not None:
            self._other_filters.shift(group, node, delta)


class _OtherFilters:
    """The scheduler's own filters, all but NodeResourcesFit, which is kept as a sum.

    Only pods of `watched` groups are followed: those that can change what these filters say.
    """

    def __init__(
        self, problem: Problem, profile: Profile, groups: Sequence[int], watched: frozenset[int]
    ) -> None:
        self._state = SchedulingState(problem.cluster)
        self._scheduler = Scheduler(self._state, profile)
        self._watched = watched
        chosen = frozenset(groups)
        self._there: dict[Cell, list[int]] = defaultdict(list)
        for cell, pods in problem.movable.items():
            if cell[0] in chosen:
                self._there[cell] = list(pods)
        self._afloat = {group: list(problem.waiting.get(group, ())) for group in groups}
        self._example = {group: pods[0] for group, pods in self._afloat.items() if pods}
        self._example |= {group: pods[0] for (group, _), pods in self._there.items()}

    def admit(self, group: int, node: int) -> bool:
        """Whether a pod of the group passes them on the node now."""
        cycle = self._scheduler.cycle(self._example[group])
        return cycle.rejection is None and all(
            each.verdict_at(node) == PASS
            for name, each in cycle.filters
            if name != NodeResourcesFit.name
        )

    def shift(self, group: int, node: int, delta: int) -> None:
        """Some pod of the group lands or leaves."""
        if group not in self._watched:
            return
        if delta > 0:
            pod = self._afloat[group].pop()
            self._there[group, node].append(pod)
            self._state.place(pod, node)
        else:
            pod = self._there[group, node].pop()
            self._afloat[group].append(pod)
            self._state.remove(pod)
