"""Every sequence of evictions and placements, pod by pod, straight from the definitions.

No groups, no counts kept, no pruning, and no code of the scheduler or the solver: rules are read
from the objects each time. Good for about five pods on four nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.disruption.movability import Movability, immovable
from planner_models.affinity import PodAffinityTerm
from planner_models.node import UNSCHEDULABLE_TAINT, Node
from planner_models.pod import DEFAULT_SCHEDULER, Pod
from planner_models.selectors import LabelSelector, with_match_label_keys
from planner_models.taints import HARD_EFFECTS, Taint, first_untolerated
from planner_models.topology_spread import TopologySpreadConstraint

NOWHERE = -1
Where = tuple[int, ...]
"""The node of each pod, NOWHERE if it has none."""


@dataclass(frozen=True)
class World:
    """The nodes and pods, and what may be decided about them."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    start: Where
    movable: frozenset[int]
    waiting: frozenset[int]
    displaceable: frozenset[int] = frozenset()
    """Those of the movable pods that may end without a node, and count as placed if they don't."""

    @classmethod
    def of(cls, cluster: Cluster, *, rebalance: bool, preempt: bool = False) -> World:
        start = tuple(max(int(node), NOWHERE) for node in cluster.node_of)
        movability = Movability(cluster)
        movable = {
            i
            for i in range(len(cluster.pods))
            if rebalance and start[i] >= 0 and movability.why(i) is None
        }
        waiting = {
            i
            for i, pod in enumerate(cluster.pods)
            if start[i] == NOWHERE
            and not pod.terminating
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name == DEFAULT_SCHEDULER
        }
        highest = max((cluster.pods[i].priority for i in waiting), default=-(2**31))
        displaceable = {
            i
            for i, pod in enumerate(cluster.pods)
            if preempt
            and start[i] >= 0
            and pod.priority < highest
            and not pod.terminating
            and immovable(pod) != "mirror"
        }
        return cls(
            cluster.nodes,
            cluster.pods,
            start,
            frozenset(movable | displaceable),
            frozenset(waiting),
            frozenset(displaceable),
        )

    def others(self, where: Where, pod: int) -> Iterator[tuple[Pod, Node]]:
        """Every other pod that has a node."""
        for i, node in enumerate(where):
            if i != pod and node != NOWHERE:
                yield self.pods[i], self.nodes[node]


# The filters.


def passes(world: World, where: Where, pod: int, index: int) -> bool:
    """Whether kube-scheduler may bind the pod to the node now."""
    candidate, node = world.pods[pod], world.nodes[index]
    others = list(world.others(where, pod))
    return (
        _node_rules(candidate, node)
        and _not_cordoned(candidate, node)
        and _ports(candidate, node, others)
        and _room(candidate, node, others)
        and all(
            _spread(world, candidate, node, c, others)
            for c in candidate.spec.topology_spread_constraints
            if c.hard
        )
        and _affinity(candidate, node, others)
        and not _repelled(candidate, node, others)
    )


def _node_affinity(pod: Pod, node: Node) -> bool:
    required = pod.spec.affinity.node_affinity.required
    chosen = all(node.labels.get(k) == v for k, v in pod.spec.node_selector.items())
    return chosen and (required is None or required.matches(node.labels, node.name))


def _tolerated(pod: Pod, node: Node) -> bool:
    return first_untolerated(node.spec.taints, pod.spec.tolerations, HARD_EFFECTS) is None


def _node_rules(pod: Pod, node: Node) -> bool:
    return _node_affinity(pod, node) and _tolerated(pod, node)


def _not_cordoned(pod: Pod, node: Node) -> bool:
    taint = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")
    return not node.spec.unschedulable or any(t.tolerates(taint) for t in pod.spec.tolerations)


def _ports(pod: Pod, node: Node, others: list[tuple[Pod, Node]]) -> bool:
    """The generator gives no host address, so equal ports are in each other's way."""
    taken = {port for other, there in others if there is node for port in other.spec.host_ports}
    return not taken.intersection(pod.spec.host_ports)


def _room(pod: Pod, node: Node, others: list[tuple[Pod, Node]]) -> bool:
    there = [other for other, at in others if at is node]
    if len(there) + 1 > node.allocatable.get("pods", 0):
        return False
    return all(
        wanted == 0
        or wanted + sum(other.spec.requests.get(name, 0) for other in there)
        <= node.allocatable.get(name, 0)
        for name, wanted in pod.spec.requests.items()
    )


def _selector(constraint: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    selector = constraint.label_selector
    if selector is None:
        return None
    return with_match_label_keys(selector, constraint.match_label_keys, pod.labels)


def domain_counts(
    world: World, pod: Pod, constraint: TopologySpreadConstraint, others: list[tuple[Pod, Node]]
) -> dict[str, int]:
    """Matching pods in each domain of the eligible nodes."""
    keys = {c.topology_key for c in pod.spec.topology_spread_constraints if c.hard}
    counts: dict[str, int] = {}
    selector = _selector(constraint, pod)
    for node in world.nodes:
        if not keys <= node.labels.keys():
            continue
        if constraint.node_affinity_policy == "Honor" and not _node_affinity(pod, node):
            continue
        if constraint.node_taints_policy == "Honor" and not _tolerated(pod, node):
            continue
        domain = node.labels[constraint.topology_key]
        counts[domain] = counts.get(domain, 0) + sum(
            at is node
            and other.namespace == pod.namespace
            and not other.terminating
            and selector is not None
            and not selector.is_empty
            and selector.matches(other.labels)
            for other, at in others
        )
    return counts


def _minimum(constraint: TopologySpreadConstraint, counts: Mapping[str, int]) -> int:
    return min(counts.values()) if len(counts) >= (constraint.min_domains or 1) else 0


def _spread(
    world: World,
    pod: Pod,
    node: Node,
    constraint: TopologySpreadConstraint,
    others: list[tuple[Pod, Node]],
) -> bool:
    if constraint.topology_key not in node.labels:
        return False
    counts = domain_counts(world, pod, constraint, others)
    selector = _selector(constraint, pod)
    itself = selector is not None and selector.matches(pod.labels)
    count = counts.get(node.labels[constraint.topology_key], 0)
    return count + itself - _minimum(constraint, counts) <= constraint.max_skew


def about(term: PodAffinityTerm, carrier: Pod, other: Pod) -> bool:
    """Whether a term is about another pod; the generator's namespace selectors mean all."""
    near = other.namespace == carrier.namespace or term.namespace_selector is not None
    return near and term.label_selector is not None and term.label_selector.matches(other.labels)


def _same_domain(key: str, one: Node, other: Node) -> bool:
    return key in one.labels and one.labels[key] == other.labels.get(key)


def _affinity(pod: Pod, node: Node, others: list[tuple[Pod, Node]]) -> bool:
    """Some pod that matches all terms is near by each; or nobody matches and the pod starts it."""
    terms = pod.spec.affinity.pod_affinity.required
    if not all(term.topology_key in node.labels for term in terms):
        return False
    mates = [at for other, at in others if all(about(term, pod, other) for term in terms)]
    labelled = [at for at in mates if any(term.topology_key in at.labels for term in terms)]
    if not labelled and all(about(term, pod, pod) for term in terms):
        return True
    return all(any(_same_domain(t.topology_key, node, at) for at in mates) for t in terms)


def _repelled(pod: Pod, node: Node, others: list[tuple[Pod, Node]]) -> bool:
    """Anti-affinity, the pod's own and that of the others."""
    return any(
        about(term, pod, other) and _same_domain(term.topology_key, node, at)
        for other, at in others
        for term in pod.spec.affinity.pod_anti_affinity.required
    ) or any(
        about(term, other, pod) and _same_domain(term.topology_key, node, at)
        for other, at in others
        for term in other.spec.affinity.pod_anti_affinity.required
    )


# What running pods break.


def violations(world: World, where: Where) -> int:
    """Excess of each distinct constraint, and pods where their other hard rules forbid them."""
    running = [
        (pod, world.nodes[node])
        for pod, node in zip(world.pods, where, strict=True)
        if node != NOWHERE and not pod.terminating
    ]
    off_limits = sum(
        (not _node_affinity(pod, node)) + (not _tolerated_but_cordon(pod, node))
        for pod, node in running
    )
    too_close = sum(
        any(
            about(term, pod, other) and _same_domain(term.topology_key, node, at)
            for term in pod.spec.affinity.pod_anti_affinity.required
            for other, at in running
            if other is not pod
        )
        for pod, node in running
    )
    return off_limits + too_close + sum(excesses(world, running).values())


def _tolerated_but_cordon(pod: Pod, node: Node) -> bool:
    taints = [taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE_TAINT]
    return first_untolerated(taints, pod.spec.tolerations, HARD_EFFECTS) is None


def excesses(world: World, running: list[tuple[Pod, Node]]) -> dict[tuple[object, ...], int]:
    """The excess of each constraint that means something different."""
    found: dict[tuple[object, ...], int] = {}
    for pod in world.pods:
        for constraint in pod.spec.topology_spread_constraints:
            if constraint.hard and not pod.terminating:
                counts = domain_counts(world, pod, constraint, running)
                above = _minimum(constraint, counts) + constraint.max_skew if counts else 0
                meaning = _meaning(world, pod, constraint)
                found[meaning] = sum(max(0, count - above) for count in counts.values())
    return found


def _meaning(world: World, pod: Pod, constraint: TopologySpreadConstraint) -> tuple[object, ...]:
    selector = _selector(constraint, pod)
    keys = {c.topology_key for c in pod.spec.topology_spread_constraints if c.hard}
    eligible = tuple(
        keys <= node.labels.keys()
        and (constraint.node_affinity_policy == "Ignore" or _node_affinity(pod, node))
        and (constraint.node_taints_policy == "Ignore" or _tolerated(pod, node))
        for node in world.nodes
    )
    return (
        pod.namespace,
        constraint.topology_key,
        constraint.max_skew,
        constraint.min_domains or 1,
        constraint.node_affinity_policy,
        constraint.node_taints_policy,
        None if selector is None else selector.canonical(),
        eligible,
    )


# All sequences.

State = tuple[Where, frozenset[int]]
"""Where pods are, and which were evicted."""


def reachable(world: World) -> dict[Where, int]:
    """Every final placement in which all evicted pods run, with the fewest evictions to it.

    Only displaceable ones may be without a node.
    """
    first: State = (world.start, frozenset())
    seen: set[State] = {first}
    open_states = [first]
    final: dict[Where, int] = {}
    while open_states:
        where, evicted = open_states.pop()
        if all(where[pod] != NOWHERE for pod in evicted - world.displaceable):
            final[where] = min(len(evicted), final.get(where, len(evicted)))
        for state in _next(world, where, evicted):
            if state not in seen:
                seen.add(state)
                open_states.append(state)
    return final


def _next(world: World, where: Where, evicted: frozenset[int]) -> Iterator[State]:
    for pod in world.movable - evicted:
        yield (*where[:pod], NOWHERE, *where[pod + 1 :]), evicted | {pod}
    for pod in world.waiting | evicted:
        comes_back = pod in world.waiting or world.pods[pod].owner is not None
        if where[pod] == NOWHERE and comes_back:
            for node in range(len(world.nodes)):
                if passes(world, where, pod, node):
                    yield (*where[:pod], node, *where[pod + 1 :]), evicted


def placed(world: World, where: Where, *, preempt: bool = False) -> tuple[int, ...]:
    """Waiting pods with a node, by priority from the top; `preempt` counts movable ones, too."""
    counted = world.waiting | world.movable if preempt else world.waiting
    levels = sorted({world.pods[pod].priority for pod in counted}, reverse=True)
    return tuple(
        sum(where[p] != NOWHERE for p in counted if world.pods[p].priority == level)
        for level in levels
    )


def optimum(
    world: World, *, preempt: bool = False, steady: bool = True
) -> tuple[tuple[int, ...], int, int]:
    """(placed by priority, violations, evictions) of the best final placement.

    Violations are nobody's aim if not `steady`.
    """
    best = max(
        (
            placed(world, where, preempt=preempt),
            -violations(world, where) if steady else 0,
            -evictions,
        )
        for where, evictions in reachable(world).items()
    )
    return best[0], -best[1], -best[2]
