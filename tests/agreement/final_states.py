"""Every final state of a small problem, judged by the landing rules written down plainly.

The naive twin of the solver: no variables, no bounds, pods one by one. Slow, and meant to be read.

    best(problem)   the best (placed by priority, broken, excess, moves) over all states
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.solver.problem.problem import Cell, Problem
from planner_models.affinity import PodAffinityTerm
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.pod import PodSpec
from planner_models.selectors import with_match_label_keys
from planner_models.taints import HARD_EFFECTS, Taint, Toleration, first_untolerated
from planner_models.topology_spread import TopologySpreadConstraint

CORDON = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")
ANY_ADDRESS = "0.0.0.0"
Value = tuple[int, ...]
_Wish = tuple[int | None, tuple[str, ...], frozenset[int]]


@dataclass(frozen=True, eq=False)
class Present:
    """A pod in the final state."""

    group: PodGroup
    node: int
    landed: bool
    terminating: bool = False


def best(problem: Problem) -> Value:
    """The best value: placed by priority (negated), broken, excess, moves."""
    return min(value for _, value in judged(problem))


def judged(problem: Problem) -> Iterator[tuple[Mapping[Cell, int], Value]]:
    """Every state that the rules allow, with its value."""
    for state in states(problem):
        value = _Judge(problem, state).value()
        if value is not None:
            yield state, value


def states(problem: Problem) -> Iterator[dict[Cell, int]]:
    """Every way to put the pods of each group on nodes, as counts."""
    groups = problem.groups
    for choice in product(*(list(_group_states(problem, g)) for g in groups)):
        yield {
            (g, n): count
            for g, counts in zip(groups, choice, strict=True)
            for n, count in enumerate(counts)
            if count
        }


def _group_states(problem: Problem, group: int) -> Iterator[tuple[int, ...]]:
    running = sum(len(pods) for (g, _), pods in problem.movable.items() if g == group)
    waiting = len(problem.waiting.get(group, ()))
    least = running - problem.displaceable.get(group, 0)
    for total in range(least, running + waiting + 1):
        yield from _splits(total, len(problem.cluster.nodes))


def _splits(total: int, nodes: int) -> Iterator[tuple[int, ...]]:
    if nodes == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, nodes - 1):
            yield (first, *rest)


class _Judge:
    def __init__(self, problem: Problem, state: Mapping[Cell, int]) -> None:
        self.problem = problem
        self.cluster: Cluster = problem.cluster
        self.state = state
        self.now = {cell: len(pods) for cell, pods in problem.movable.items()}
        self.pods = list(self._everybody())
        self.landed = [pod for pod in self.pods if pod.landed]

    def _everybody(self) -> Iterator[Present]:
        groups = self.cluster.groups
        for (g, n), count in self.problem.fixed_all.items():
            staying = self.problem.fixed_counts.get((g, n), 0)
            for i in range(count):
                yield Present(groups[g], n, landed=False, terminating=i >= staying)
        for (g, n), count in self.state.items():
            here = self.now.get((g, n), 0)
            for i in range(count):
                yield Present(groups[g], n, landed=i >= here)

    def value(self) -> Value | None:
        """None if a rule is broken that must not be."""
        options = self.problem.options
        moves = sum(max(0, n - self.state.get(cell, 0)) for cell, n in self.now.items())
        if options.max_moves is not None and moves > options.max_moves:
            return None
        if not all(self._static(pod) for pod in self.landed) or not self._fits():
            return None
        if not all(self._ports(pod) for pod in self.landed) or not self._only_waiting_ones_land():
            return None
        broken = self._unlabelled() + self._broken_spread()
        broken += self._broken_apart() + self._broken_near()
        if broken and not options.relax:
            return None
        result = [-placed for placed in self._placed()]
        if options.relax:
            result.append(broken)
        if options.rebalance:
            result.append(self._excess())
        if options.rebalance or options.preempt:
            result.append(moves)
        return tuple(result)

    def _placed(self) -> list[int]:
        """Per priority from the top; with --preempt those that run count too."""
        placed: Counter[int] = Counter()
        groups = self.cluster.groups
        preempt = self.problem.options.preempt
        for g in self.problem.groups if preempt else self.problem.waiting:
            there = sum(n for (other, _), n in self.state.items() if other == g)
            before = sum(n for (other, _), n in self.now.items() if other == g)
            base = 0 if preempt else before
            placed[groups[g].priority] += there - base
        return [count for _, count in sorted(placed.items(), reverse=True)]

    def _only_waiting_ones_land(self) -> bool:
        """Of groups whose pods nobody brings back."""
        landed = Counter(pod.group.index for pod in self.landed)
        waiting = self.problem.waiting
        return all(landed[g] <= len(waiting.get(g, ())) for g in self.problem.no_return)

    # Node rules

    def _static(self, pod: Present) -> bool:
        spec, node = pod.group.spec, self.cluster.nodes[pod.node]
        if node.spec.unschedulable and not any(t.tolerates(CORDON) for t in spec.tolerations):
            return False
        taint = first_untolerated(node.spec.taints, spec.tolerations, HARD_EFFECTS)
        return taint is None and self._node_affinity(spec, pod.node)

    def _node_affinity(self, spec: PodSpec, index: int) -> bool:
        node = self.cluster.nodes[index]
        required = spec.affinity.node_affinity.required
        chosen = all(node.labels.get(k) == v for k, v in spec.node_selector.items())
        return chosen and (required is None or required.matches(node.labels, node.name))

    def _unlabelled(self) -> int:
        """Landed pods whose node lacks the label of a rule: one per spread and key of terms."""
        broken = 0
        for pod in self.landed:
            spec, labels = pod.group.spec, self.cluster.nodes[pod.node].labels
            hard = [c for c in spec.topology_spread_constraints if c.hard]
            spread = {self._meaning(pod.group, c): c.topology_key for c in hard}
            near = {term.topology_key for term in spec.affinity.pod_affinity.required}
            broken += sum(key not in labels for key in (*spread.values(), *near))
        return broken

    def _fits(self) -> bool:
        """Used <= allocatable where a pod that asks for it lands."""
        table = self.cluster.resources
        for pod in self.landed:
            together = [p for p in self.pods if p.node == pod.node]
            for r in range(len(table.names)):
                used = sum(int(table.requests[p.group.index, r]) for p in together)
                wanted = int(table.requests[pod.group.index, r])
                if wanted > 0 and used > int(table.allocatable[pod.node, r]):
                    return False
        return True

    def _ports(self, pod: Present) -> bool:
        for other in self.pods:
            if other is pod or other.node != pod.node:
                continue
            for a in pod.group.spec.host_ports:
                for b in other.group.spec.host_ports:
                    if a[1:] == b[1:] and (a[0] == b[0] or ANY_ADDRESS in (a[0], b[0])):
                        return False
        return True

    # Spread

    def _broken_spread(self) -> int:
        """Excess of domains where a carrier lands, once per distinct constraint and domain."""
        broken: dict[tuple[object, ...], int] = {}
        for pod in self.landed:
            hard = [c for c in pod.group.spec.topology_spread_constraints if c.hard]
            for constraint in hard:
                domain = self.cluster.nodes[pod.node].labels.get(constraint.topology_key)
                if domain is None:
                    continue
                counts, smallest = self._counts(pod.group, constraint)
                over = counts.get(domain, 0) - smallest - constraint.max_skew
                broken[(*self._meaning(pod.group, constraint), domain)] = max(0, over)
        return sum(broken.values())

    def _meaning(self, group: PodGroup, constraint: TopologySpreadConstraint) -> tuple[object, ...]:
        for i, spread in enumerate(self.problem.spreads):
            for carrier in spread.carriers:
                own = self.cluster.groups[carrier.group].spec.topology_spread_constraints
                if carrier.group == group.index and own[carrier.index] is constraint:
                    return (i,)
        raise AssertionError("a constraint that nobody carries")

    def _counts(
        self, group: PodGroup, constraint: TopologySpreadConstraint
    ) -> tuple[dict[str, int], int]:
        """Counts per eligible domain, and the smallest, as kube-scheduler sees them."""
        selector = constraint.label_selector
        if selector is not None:
            selector = with_match_label_keys(selector, constraint.match_label_keys, group.labels)
        key = constraint.topology_key
        counts = {
            self.cluster.nodes[n].labels[key]: 0
            for n in range(len(self.cluster.nodes))
            if self._eligible(group, constraint, n)
        }
        for pod in self.pods:
            if (
                selector is not None
                and not selector.is_empty
                and not pod.terminating
                and pod.group.namespace == group.namespace
                and selector.matches(pod.group.labels)
                and self._eligible(group, constraint, pod.node)
            ):
                counts[self.cluster.nodes[pod.node].labels[key]] += 1
        enough = len(counts) >= (constraint.min_domains or 1) and counts
        return counts, min(counts.values()) if enough else 0

    def _eligible(self, group: PodGroup, constraint: TopologySpreadConstraint, n: int) -> bool:
        node, spec = self.cluster.nodes[n], group.spec
        keys = [c.topology_key for c in spec.topology_spread_constraints if c.hard]
        if not all(key in node.labels for key in keys):
            return False
        if constraint.node_affinity_policy == "Honor" and not self._node_affinity(spec, n):
            return False
        honoured = constraint.node_taints_policy == "Honor"
        taint = first_untolerated(node.spec.taints, spec.tolerations, HARD_EFFECTS)
        return not honoured or taint is None

    # Other pods

    def _about(self, term: PodAffinityTerm, owner: PodGroup, other: PodGroup) -> bool:
        if term.label_selector is None or not term.label_selector.matches(other.labels):
            return False
        if not term.namespaces and term.namespace_selector is None:
            return owner.namespace == other.namespace
        everywhere = term.namespace_selector is not None and term.namespace_selector.is_empty
        return everywhere or other.namespace in term.namespaces

    def _same_domain(self, key: str, one: int, other: int) -> bool:
        value = self.cluster.nodes[one].labels.get(key)
        return value is not None and value == self.cluster.nodes[other].labels.get(key)

    def _broken_apart(self) -> int:
        """Landed pods against their own terms and those of others, one per pod and term."""
        broken = 0
        for g in self.cluster.groups:
            for term in g.spec.affinity.pod_anti_affinity.required:
                owners = [p for p in self.pods if p.group is g]
                for pod in self.landed:
                    own = pod.group is g and any(
                        other is not pod
                        and self._about(term, g, other.group)
                        and self._same_domain(term.topology_key, pod.node, other.node)
                        for other in self.pods
                    )
                    others = (
                        pod.group is not g
                        and self._about(term, g, pod.group)
                        and any(
                            self._same_domain(term.topology_key, pod.node, owner.node)
                            for owner in owners
                        )
                    )
                    broken += own or others
        return broken

    def _broken_near(self) -> int:
        """Classes of groups with the same wishes; who is no mate of itself is a class alone."""
        classes: dict[_Wish, list[int]] = defaultdict(list)
        for g in sorted({pod.group.index for pod in self.landed}):
            keys, mates = self._wishes(self.cluster.groups[g])
            if keys:
                classes[None if g in mates else g, keys, mates].append(g)
        alone = (self._alone(keys, mates, own) for (_, keys, mates), own in classes.items())
        return sum(alone)

    def _wishes(self, group: PodGroup) -> tuple[tuple[str, ...], frozenset[int]]:
        terms = group.spec.affinity.pod_affinity.required
        keys = tuple(sorted({term.topology_key for term in terms}))
        mates = frozenset(
            other.index
            for other in self.cluster.groups
            if all(self._about(term, group, other) for term in terms)
        )
        return keys, mates

    def _alone(self, keys: tuple[str, ...], mates: frozenset[int], members: list[int]) -> int:
        """What is broken at the least, over all places where the first pod may start."""
        landed = [pod for pod in self.landed if pod.group.index in members]
        together = set(members) <= mates
        anchors = [
            pod
            for pod in self.pods
            if pod.group.index in mates and not (pod.landed and pod.group.index in members)
        ]
        before = [
            pod
            for pod in self.pods
            if pod.group.index in mates
            and not pod.landed
            and any(key in self.cluster.nodes[pod.node].labels for key in keys)
        ]
        starts: list[Present | None] = [None]
        if together and not before:
            starts += landed
        return min(self._without(keys, landed, anchors, start, together) for start in starts)

    def _without(
        self,
        keys: tuple[str, ...],
        landed: list[Present],
        anchors: list[Present],
        start: Present | None,
        together: bool,
    ) -> int:
        helped = [*anchors, start] if start is not None else anchors
        broken = 0
        for key in keys:
            lonely = [
                pod
                for pod in landed
                if key in self.cluster.nodes[pod.node].labels
                and not any(self._same_domain(key, pod.node, other.node) for other in helped)
            ]
            domains = {self.cluster.nodes[pod.node].labels[key] for pod in lonely}
            broken += len(domains) if together else len(lonely)
        return broken

    # Level 2

    def _excess(self) -> int:
        total = 0
        for spread in self.problem.spreads:
            carrier = spread.carriers[0]
            group = self.cluster.groups[carrier.group]
            constraint = group.spec.topology_spread_constraints[carrier.index]
            counts, smallest = self._counts(group, constraint)
            total += sum(max(0, n - smallest - constraint.max_skew) for n in counts.values())
        return total + sum(self._misplaced(pod) for pod in self.pods if not pod.terminating)

    def _misplaced(self, pod: Present) -> int:
        """One for each kind of rule that the pod breaks where it runs."""
        spec, node = pod.group.spec, self.cluster.nodes[pod.node]
        tolerations = (*spec.tolerations, Toleration(key=UNSCHEDULABLE_TAINT, operator="Exists"))
        taint = first_untolerated(node.spec.taints, tolerations, HARD_EFFECTS)
        crowded = any(
            other is not pod
            and not other.terminating
            and self._about(term, pod.group, other.group)
            and self._same_domain(term.topology_key, pod.node, other.node)
            for term in spec.affinity.pod_anti_affinity.required
            for other in self.pods
        )
        return (not self._node_affinity(spec, pod.node)) + (taint is not None) + crowded
