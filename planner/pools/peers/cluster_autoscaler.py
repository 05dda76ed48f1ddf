"""cluster-autoscaler's rules: one node group a round, each estimated by first fit decreasing.

For each node group (pool and zone) the pods that a fresh node takes are packed: groups of equal
pods by decreasing share of CPU and memory, each pod onto a node that was added for it, or a new
one. A group ends at the first pod that even an empty node refuses. Then an expander chooses one
node group, its nodes come, kube-scheduler fills them, and the next round begins. Facts from the
estimator and the expanders of kubernetes/autoscaler; `--balance-similar-node-groups` is off, as it
is by default.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.pools.peers.world import World
from planner_models.node import HOSTNAME
from planner_models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

ORDINARY = frozenset({CPU, MEMORY, PODS, EPHEMERAL_STORAGE})
GPU_UNFITNESS = 1000.0
STABILISING = (500, 500 << 20)
"""A pod that steadies the ratio of prices: milli-cores and bytes."""
PREFERRED = ((2, 1), (6, 2), (20, 4), (60, 8), (200, 16))
"""Up to so many nodes in the cluster, nodes with so many cores are preferred; then 32."""


@dataclass(frozen=True)
class Option:
    """So many nodes of an offer for these pods, by group."""

    offer: int
    nodes: int
    pods: Counter[int]


@dataclass(frozen=True)
class Market:
    """What expanders know: sizes and prices of nodes, and how many are there."""

    capacity: Sequence[tuple[int, int]]
    """Milli-cores and bytes, by offer."""
    prices: Sequence[float]
    units: tuple[float, float]
    """What a milli-core and a byte of a pod are worth."""
    requests: dict[int, tuple[int, int]]
    """The same of a pod, by group."""
    special: Sequence[bool]
    """Offers with resources beyond the ordinary, such as GPUs."""
    nodes: int

    def requested(self, option: Option) -> tuple[int, int]:
        """What the pods of an option request."""
        found = [(n, self.requests[group]) for group, n in option.pods.items()]
        return sum(n * each[0] for n, each in found), sum(n * each[1] for n, each in found)


Expander = Callable[[Market, Sequence[Option]], Option]


def estimate(world: World, offer: int, waiting: Counter[int], most: int | None) -> Option:
    """How many nodes of one offer the pods would need, and which of them they would take."""
    fresh = world.fork()
    node = fresh.add_node(offer)
    groups = [group for group in waiting if fresh.passes(group, node)]
    packing = _Packing(world.fork(), offer, most)
    allocatable = world.fresh.cluster.resources.allocatable[world.offers[offer]]
    for group in sorted(groups, key=lambda g: -_share(world, g, allocatable)):
        packing.pack(group, waiting[group])
    return Option(offer, len(packing.used), packing.placed)


def _share(world: World, group: int, allocatable: np.ndarray) -> float:
    """CPU and memory of a pod as shares of a node, added up."""
    names = world.fresh.cluster.resources
    wanted = dict(world.rules[group].requests)
    columns = [names.column(name) for name in (CPU, MEMORY)]
    return sum(wanted.get(i, 0) / int(allocatable[i]) for i in columns if allocatable[i] > 0)


class _Packing:
    """First fit on nodes of one offer."""

    def __init__(self, world: World, offer: int, most: int | None) -> None:
        self._world, self._offer, self._most = world, offer, most
        self._new: list[int] = []
        self._turn = 0
        self.used: set[int] = set()
        """Nodes that got pods. All of them count, even those that were there before."""
        self.placed: Counter[int] = Counter()

    def pack(self, group: int, pods: int) -> None:
        """Put the pods of a group onto added nodes while one takes them, then onto new ones."""
        while pods and (node := self._first(group)) is not None:
            self._put(group, node)
            pods -= 1
        while pods and self._on_last_or_new(group):
            pods -= 1

    def _first(self, group: int) -> int | None:
        """The next added node in turn that takes the pod."""
        count = len(self._new)
        for step in range(count):
            i = (self._turn + step) % count
            if self._world.passes(group, self._new[i]):
                self._turn = i
                return self._new[i]
        return None

    def _on_last_or_new(self, group: int) -> bool:
        world, last = self._world, self._new[-1] if self._new else None
        if last is not None:
            if world.passes(group, last):
                self._put(group, last)
                return True
            if self._spread_refuses(group, last) and self._elsewhere(group, last):
                return True
            if last not in self.used:
                return False  # an empty node refused it, and so would the next
        if self._most is not None and len(self._new) >= self._most:
            return False
        self._new.append(world.add_node(self._offer))
        if not world.passes(group, self._new[-1]):
            return False
        self._put(group, self._new[-1])
        return True

    def _spread_refuses(self, group: int, node: int) -> bool:
        """Whether spread over hosts is what refuses the pod: then other hosts may take it."""
        rules = self._world.rules[group].spread
        hosts = any(self._world.counters[rule.counted].key == HOSTNAME for rule in rules)
        return hosts and self._world.has_room(group, node) and not self._world.spreads(group, node)

    def _elsewhere(self, group: int, last: int) -> bool:
        """Any other node, of those that are there as well."""
        world = self._world
        node = next((n for n in world.nodes() if n != last and world.passes(group, n)), None)
        if node is None:
            return False
        self._put(group, node)
        return True

    def _put(self, group: int, node: int) -> None:
        self._world.place(group, node)
        self.placed[group] += 1
        self.used.add(node)


def least_waste(market: Market, options: Sequence[Option]) -> Option:
    """The smallest shares of CPU and memory that nobody requests, added up; ties by order."""

    def waste(option: Option) -> float:
        requested, capacity = market.requested(option), market.capacity[option.offer]
        return sum(
            (option.nodes * have - want) / (option.nodes * have)
            for want, have in zip(requested, capacity, strict=True)
            if have
        )

    return min(options, key=waste)


def price(market: Market, options: Sequence[Option]) -> Option:
    """Price of nodes by price of pods, worse for sizes far from the preferred one."""
    per_core, per_byte = market.units
    preferred = next((cores for most, cores in PREFERRED if market.nodes <= most), 32)

    def pod_price(request: tuple[int, int]) -> float:
        return request[0] * per_core + request[1] * per_byte

    def score(option: Option) -> float:
        steady = pod_price(STABILISING)
        paid = option.nodes * market.prices[option.offer] + steady
        worth = pod_price(market.requested(option)) + steady
        if market.special[option.offer]:
            return GPU_UNFITNESS * paid / worth
        ratio = market.capacity[option.offer][0] / (1000 * preferred)
        unfit = max(ratio, 1 / ratio)
        suppressed = (unfit - 1) * (1 - math.tanh((option.nodes - 1) / 15)) + 1
        return suppressed * paid / worth

    return min(options, key=score)


def unit_prices(
    capacity: Sequence[tuple[int, int]], prices: Sequence[float]
) -> tuple[float, float]:
    """What a milli-core and a byte cost, as the prices of nodes tell at best; none below 0.

    cluster-autoscaler asks its cloud provider; here all that is known are the nodes' prices.
    """
    sizes = np.array(capacity, np.float64)
    scale = np.maximum(sizes.max(axis=0), 1)
    found, *_ = np.linalg.lstsq(sizes / scale, np.array(prices), rcond=None)
    units = np.maximum(found, 0) / scale
    return float(units[0]), float(units[1])
