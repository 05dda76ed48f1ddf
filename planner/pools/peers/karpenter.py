"""Karpenter's rules: first fit decreasing onto claims that keep several instance types open.

Pods by CPU, then memory, descending. Each goes to the first node that takes it, else to the claim
with the fewest pods that does, else to a new claim. A claim narrows the offers that could still be
it, and is the cheapest of them in the end. Zone spread takes the domain with the smallest count;
for hosts the minimum is always 0. All zones of the pools are domains, with or without a node. A pod
that finds nothing is tried again while others find something. Facts from kubernetes-sigs/karpenter;
preferences and default constraints take no part (PreferencePolicy Ignore).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.pools.peers.world import Counted, SpreadRule, World
from planner.pools.pool import Offer
from planner_models.node import HOSTNAME
from planner_models.node_pool import NODE_POOL
from planner_models.resources import CPU, MEMORY


@dataclass(eq=False)
class Claim:
    """A node to be: the offers that it could still be, and its pods."""

    host: int
    open: BoolArray
    requests: IntArray
    pods: Counter[int]


@dataclass(frozen=True)
class Solved:
    """The offers of the new nodes, and the pods that found no place, by group."""

    claims: tuple[Claim, ...]
    failed: Counter[int]


class Provisioner:
    """One run of Karpenter's scheduling over the waiting pods of a world."""

    def __init__(self, world: World, offers: Sequence[Offer]) -> None:
        self._world, self._offers = world, offers
        self._columns = np.array(world.offers, np.int64)
        self._room = np.maximum(world.fresh.free[self._columns], 0)
        self._pools = _node_pools(offers)
        self._left = {limit.name: limit.most for o in offers for limit in o.pool.shared}
        self._dead: dict[int, set[int]] = {group: set() for group in world.rules}
        self.claims: list[Claim] = []
        for counted in world.counters:
            if counted.key != HOSTNAME:
                for column in self._columns.tolist():
                    if counted.eligible[column] and counted.domain_of[column] >= 0:
                        counted.open(int(counted.domain_of[column]))

    def solve(self, waiting: Counter[int]) -> Solved:
        """Place all pods, larger ones first; those that fail are tried again after the others."""
        resources = self._world.fresh.cluster.resources
        columns = [resources.column(CPU), resources.column(MEMORY)]

        def size(group: int) -> tuple[int, ...]:
            wanted = dict(self._world.rules[group].requests)
            return tuple(-wanted.get(i, 0) for i in columns)

        queue = [g for g in sorted(waiting, key=size) for _ in range(waiting[g])]
        while queue:
            failed = [group for group in queue if not self._add(group)]
            if len(failed) == len(queue):
                break
            queue = failed
        return Solved(tuple(self.claims), Counter(queue))

    def cheapest(self, claim: Claim, taken: Sequence[int] = ()) -> int | None:
        """The offer that the claim becomes, unless its pool is full."""
        used = Counter(taken)
        return min(
            (
                i
                for i in np.flatnonzero(claim.open).tolist()
                if self._offers[i].pool.most is None or used[i] < (self._offers[i].pool.most or 0)
            ),
            key=lambda i: (self._offers[i].cost, i),
            default=None,
        )

    def _add(self, group: int) -> bool:
        world, dead = self._world, self._dead[group]
        for node in world.nodes():
            if node in dead:
                continue
            if not world.has_room(group, node):
                dead.add(node)
            elif self._node_passes(group, node):
                world.place(group, node)
                return True
        self.claims.sort(key=lambda claim: claim.pods.total())
        for claim in self.claims:
            if claim.host not in dead and (narrowed := self._narrowed(group, claim)) is not None:
                self._put(group, claim, narrowed)
                return True
        return self._on_new(group)

    def _on_new(self, group: int) -> bool:
        host = -2 - len(self.claims)
        for pool in self._pools:
            open_offers = pool & self._within_limits()
            nothing = np.zeros(self._room.shape[1], np.int64)
            claim = Claim(host, open_offers, nothing, Counter())
            narrowed = self._narrowed(group, claim)
            if narrowed is not None:
                self.claims.append(claim)
                self._put(group, claim, narrowed)
                self._reserve(claim)
                return True
        return False

    def _within_limits(self) -> BoolArray:
        return np.array(
            [
                all(limit.each <= self._left[limit.name] for limit in offer.pool.shared)
                for offer in self._offers
            ]
        )

    def _reserve(self, claim: Claim) -> None:
        """A claim takes from the limits what the largest of its offers would."""
        largest: dict[str, int] = {}
        for i in np.flatnonzero(claim.open).tolist():
            for limit in self._offers[i].pool.shared:
                largest[limit.name] = max(largest.get(limit.name, 0), limit.each)
        for name, amount in largest.items():
            self._left[name] -= amount

    def _node_passes(self, group: int, node: int) -> bool:
        """Topology on a node that is there; it has one domain of each key."""
        world, rules = self._world, self._world.rules[group]
        column = world.columns[node]
        for rule in rules.spread:
            counted = world.counters[rule.counted]
            domain = counted.domain(column, node, world.old)
            if domain < 0 or not self._next(rule, counted, [domain]):
                return False
        for i in (*rules.near, *rules.apart, *rules.inverse):
            counted = world.counters[i]
            domain = counted.domain(column, node, world.old)
            if domain < 0:
                if counted.kind == "near":
                    return False
            elif not self._options(counted, [domain], starts=rules.may_start):
                return False
        return True

    def _narrowed(self, group: int, claim: Claim) -> BoolArray | None:
        """What the claim could still be with the pod; None if nothing."""
        world, rules = self._world, self._world.rules[group]
        if any(claim.pods[rival] for rival in rules.port_rivals):
            return None
        before: BoolArray = claim.open & rules.admitted[self._columns]
        requests = claim.requests.copy()
        for i, amount in rules.requests:
            requests[i] += amount
        found: BoolArray = before & (self._room >= requests).all(axis=1)
        if not found.any():
            self._dead[group].add(claim.host)
            return None
        spread = {rule.counted: rule for rule in rules.spread}
        for i in (*spread, *rules.near, *rules.apart, *rules.inverse):
            counted = world.counters[i]
            domains = self._domains(counted, claim, before)
            if i in spread:
                chosen = self._next(spread[i], counted, domains)
            else:
                chosen = self._options(counted, domains, starts=rules.may_start)
            if not chosen:
                return None
            if counted.key != HOSTNAME:
                found &= np.isin(counted.domain_of[self._columns], chosen)
        return found if found.any() else None

    def _domains(self, counted: Counted, claim: Claim, open_offers: BoolArray) -> list[int]:
        if counted.key == HOSTNAME:
            return [claim.host]
        found = np.unique(counted.domain_of[self._columns[open_offers]])
        return [domain for domain in found.tolist() if domain >= 0]

    def _next(self, rule: SpreadRule, counted: Counted, domains: Sequence[int]) -> list[int]:
        """The domain with the smallest count that keeps within maxSkew."""
        least = 0
        if counted.key != HOSTNAME and len(counted.counts) >= rule.min_domains:
            least = counted.least
        counts = {d: counted.counts.get(d, 0) + rule.own for d in domains}
        fitting = [d for d in domains if counts[d] - least <= rule.max_skew]
        return [min(fitting, key=lambda d: (counts[d], d))] if fitting else []

    def _options(self, counted: Counted, domains: Sequence[int], *, starts: bool) -> list[int]:
        """Domains with a mate; or, for those who keep away, without a rival."""
        if counted.kind != "near":
            return [d for d in domains if not counted.counts.get(d, 0)]
        with_mates = [d for d in domains if counted.counts.get(d, 0) > 0]
        if with_mates or not starts or any(counted.counts.values()):
            return with_mates
        return list(domains[:1])

    def _put(self, group: int, claim: Claim, narrowed: BoolArray) -> None:
        claim.open = narrowed
        claim.pods[group] += 1
        for i, amount in self._world.rules[group].requests:
            claim.requests[i] += amount
        for i, counted in enumerate(self._world.counters):
            if group not in counted.groups or not counted.eligible[self._columns[narrowed]].any():
                continue
            domains = self._domains(counted, claim, narrowed)
            if len(domains) == 1 or counted.kind in ("apart", "inverse"):
                for domain in domains:
                    self._world.counters[i].add(domain, 1)


def _node_pools(offers: Sequence[Offer]) -> list[BoolArray]:
    """Offers of one NodePool; templates with the same taints are taken for one."""

    def key(offer: Offer) -> tuple[str, tuple[str, ...]]:
        taints = tuple(sorted(str(taint) for taint in offer.template.spec.taints))
        return offer.template.labels.get(NODE_POOL, ""), taints

    every = [key(offer) for offer in offers]
    return [np.array([each == one for each in every]) for one in dict.fromkeys(every)]


def chosen_offers(provisioner: Provisioner, claims: Iterable[Claim]) -> list[int]:
    """What the claims become, one after the other."""
    found: list[int] = []
    for claim in claims:
        offer = provisioner.cheapest(claim, found)
        if offer is not None:
            found.append(offer)
    return found
