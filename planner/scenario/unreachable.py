"""Nodes that stop answering: what the node lifecycle and taint eviction controllers do.

After 50 seconds without a sign of life a node is `Ready: Unknown`, and its pods are not ready. The
taint `node.kubernetes.io/unreachable:NoSchedule` comes at once. The one with `NoExecute`, which
makes pods go, comes to one node of a zone after the other, at a rate that depends on the zone:

    Normal             fewer than 3 nodes or less than 55 % down   a node every 10 seconds
    PartialDisruption  otherwise, while some node answers          every 100 seconds,
                                                                   never with 50 nodes or fewer
    FullDisruption     no node answers                             a node every 10 seconds,
                                                                   never if all zones are so

A pod is deleted when its toleration of the taints ends (`tolerationSeconds`; admission gives every
pod 300), at once without one, and never if it tolerates them for ever. With nobody there to end it,
it stays terminating until its node answers again or is removed.

All numbers are the defaults of kube-controller-manager.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from planner.cluster import Cluster
from planner_models.node import REGION, ZONE, Node, NodeCondition
from planner_models.pod import Pod
from planner_models.taints import Taint

GRACE_SECONDS = 50
"""`--node-monitor-grace-period`."""
TOLERATION_SECONDS = 300
"""What the admission plugin DefaultTolerationSeconds gives to pods without a toleration."""
USUAL_SECONDS = 10
"""Between two nodes of a zone: `--node-eviction-rate` 0.1."""
REDUCED_SECONDS = 100
"""`--secondary-node-eviction-rate` 0.01."""
LARGE_ZONE = 50
"""`--large-cluster-size-threshold`: a zone with more nodes is large."""
UNHEALTHY_PERCENT = 55
"""`--unhealthy-zone-threshold`."""
FEW_NODES = 2
"""So many nodes may be down in any zone."""

EXCLUDED = "node.kubernetes.io/exclude-disruption"
"""Nodes with this label do not count for the state of their zone."""
UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"
_REPORTED = frozenset(
    (NOT_READY, *(f"node.kubernetes.io/{kind}-pressure" for kind in ("memory", "disk", "pid")))
)
"""Taints for what a node said about itself: once it is silent, nobody knows."""
_KEEPS_OUT = Taint(key=UNREACHABLE, effect="NoSchedule")
_EVICTS = Taint(key=UNREACHABLE, effect="NoExecute")
_SILENT = NodeCondition(type="Ready", status="Unknown")
_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_OLD_REGION = "failure-domain.beta.kubernetes.io/region"

ZoneState = Literal["Normal", "PartialDisruption", "FullDisruption"]


def zone_state(ready: int, not_ready: int) -> ZoneState:
    """The state of a zone by its nodes."""
    if ready == 0 and not_ready > 0:
        return "FullDisruption"
    if not_ready > FEW_NODES and not_ready * 100 >= UNHEALTHY_PERCENT * (ready + not_ready):
        return "PartialDisruption"
    return "Normal"


def seconds_between_nodes(state: ZoneState, size: int) -> int | None:
    """How long the next node of the zone waits for its NoExecute taint; None: for ever."""
    if state != "PartialDisruption":
        return USUAL_SECONDS
    return REDUCED_SECONDS if size > LARGE_ZONE else None


@dataclass(frozen=True)
class ZoneOutage:
    """A zone with lost nodes, in the order in which they are tainted.

    `seconds` pass between two of them; None: none of them ever is.
    """

    zone: str
    size: int
    """Nodes that count for its state."""
    not_ready: int
    state: ZoneState
    seconds: int | None
    lost: tuple[int, ...]


def zone_outages(
    cluster: Cluster, lost: Collection[int], random: Random | None = None
) -> tuple[ZoneOutage, ...]:
    """What the controller sees when these nodes are silent, zone by zone.

    Nodes that were not ready before count as well. Which node of a zone is noticed first is up to
    chance: drawn, or without `random` by name.
    """
    silent = frozenset(lost)
    ready: dict[tuple[str, str], list[bool]] = defaultdict(list)
    gone: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, node in enumerate(cluster.nodes):
        if index in cluster.ghosts:
            continue
        if EXCLUDED not in node.labels:
            ready[_zone_key(node)].append(node.ready and index not in silent)
        if index in silent:
            gone[_zone_key(node)].append(index)
    states = {key: zone_state(sum(each), len(each) - sum(each)) for key, each in ready.items()}
    everywhere = all(state == "FullDisruption" for state in states.values())
    found = []
    for key in sorted(gone):
        if random is not None:
            random.shuffle(gone[key])
        state, size = states.get(key, "Normal"), len(ready[key])
        seconds = None if everywhere else seconds_between_nodes(state, size)
        down = size - sum(ready[key])
        found.append(ZoneOutage(key[1] or key[0], size, down, state, seconds, tuple(gone[key])))
    return tuple(found)


def emptied_alone(cluster: Cluster) -> Iterator[bool]:
    """By node, whether its pods are evicted if it alone falls silent."""
    sizes: Counter[tuple[str, str]] = Counter()
    ready: Counter[tuple[str, str]] = Counter()
    for index, node in enumerate(cluster.nodes):
        if index not in cluster.ghosts and EXCLUDED not in node.labels:
            sizes[_zone_key(node)] += 1
            ready[_zone_key(node)] += node.ready
    states = {key: zone_state(ready[key], size - ready[key]) for key, size in sizes.items()}
    answering = sum(state != "FullDisruption" for state in states.values())
    for node in cluster.nodes:
        key = _zone_key(node)
        before, size = states.get(key, "Normal"), sizes[key]
        left = ready[key] - (node.ready and EXCLUDED not in node.labels)
        state = zone_state(left, size - left) if key in states else before
        others = answering - (key in states and before != "FullDisruption")
        everywhere = not others and (state == "FullDisruption" or key not in states)
        yield not everywhere and seconds_between_nodes(state, size) is not None


def _zone_key(node: Node) -> tuple[str, str]:
    """Region and zone, the old labels before the new ones; empty without any."""
    labels = node.labels
    region = labels.get(_OLD_REGION, labels.get(REGION, ""))
    return region, labels.get(_OLD_ZONE, labels.get(ZONE, ""))


def silent_node(node: Node, *, evicts: bool) -> Node:
    """The node once it is known to be unreachable; `evicts`: its pods have to go."""
    taints = [t for t in node.spec.taints if t.key not in _REPORTED and t.key != UNREACHABLE]
    taints += (_KEEPS_OUT, _EVICTS) if evicts else (_KEEPS_OUT,)
    others = [c for c in node.status.conditions if c.type != "Ready"]
    conditions = (*others, _SILENT)
    return node.replace(
        spec=node.spec.replace(taints=tuple(taints)),
        status=node.status.replace(conditions=conditions),
    )


def toleration_seconds(pod: Pod, taints: Iterable[Taint]) -> int | None:
    """How long the pod stays on a node with these taints; None: as long as it likes.

    Of several tolerations that answer a taint the first one counts, of several taints the one that
    is tolerated for the shortest time. Pods that no API server has stored yet have no default.
    """
    shortest: int | None = None
    for taint in taints:
        if taint.effect != "NoExecute":
            continue
        found = next((each for each in pod.spec.tolerations if each.tolerates(taint)), None)
        if found is None and (pod.stored or taint.key != UNREACHABLE):
            return 0
        seconds = TOLERATION_SECONDS if found is None else found.toleration_seconds
        if seconds is not None:
            shortest = max(0, seconds) if shortest is None else min(shortest, max(0, seconds))
    return shortest


@dataclass(frozen=True, eq=False)
class Unreachable:
    """Lost nodes as the cluster sees them, and when their pods are deleted.

    `deleted_at` has the pods that are, in seconds from the outage; others stay where they are.
    """

    zones: tuple[ZoneOutage, ...]
    nodes: Mapping[int, Node]
    deleted_at: Mapping[int, int]


def unreachable(
    cluster: Cluster, lost: Collection[int], pods: Iterable[int], random: Random | None = None
) -> Unreachable:
    """What becomes of lost nodes and of the pods on them."""
    zones = zone_outages(cluster, lost, random)
    nodes: dict[int, Node] = {}
    tainted_at: dict[int, int] = {}
    for zone in zones:
        for position, node in enumerate(zone.lost):
            nodes[node] = silent_node(cluster.nodes[node], evicts=zone.seconds is not None)
            if zone.seconds is not None:
                tainted_at[node] = GRACE_SECONDS + position * zone.seconds
    deleted_at: dict[int, int] = {}
    for pod in pods:
        node = int(cluster.node_of[pod])
        if node in tainted_at:
            seconds = toleration_seconds(cluster.pods[pod], nodes[node].spec.taints)
            if seconds is not None:
                deleted_at[pod] = tainted_at[node] + seconds
    return Unreachable(zones, nodes, deleted_at)
