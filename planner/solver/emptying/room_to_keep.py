"""How much can be emptied at the most, by counting: what stays has to hold all pods.

Nodes that are alike are one class, and only their number is decided: whatever pods do, with as few
nodes as this something would not fit. Every row holds for each state that keeps the rules:

    pool     the pods that may only run on some nodes ask for no more than those of them that stay
             have, resource by resource
    domain   by hard spread of maxSkew s, T pods over k domains, each domain keeps at least
             ceil((T - (k - 1) s) / k) of them
    host     once a node is empty and still counted, no other may have more than maxSkew
    large    the pods of a pool that ask for much have to find room that they can use
             (`usable_room`)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import sum_by
from planner.cluster.spread import SpreadConstraint, counted_key, hard_constraints
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.emptying.usable_room import large_pods, slots, usable
from planner.solver.model.cp_sat import cp_model
from planner.solver.problem.static_rules import StaticRules

TIGHTEST = 40
"""So many rows about large pods are enough."""


@dataclass(frozen=True, eq=False)
class Row:
    """Of these nodes, those that stay have to have so much; `key` and `subject` name a domain."""

    nodes: BoolArray
    needed: IntArray
    offered: IntArray
    key: str = ""
    subject: str = ""


@dataclass(frozen=True, eq=False)
class DomainNeed:
    """So many of a domain's nodes have to stay for what hard spread keeps there."""

    key: str
    domain: str
    needed: IntArray
    kept: int
    nodes: int
    asked: int
    """How many of its nodes were asked about."""

    @property
    def free(self) -> int:
        """How many of those asked about can be empty together, at the most."""
        return min(self.asked, self.nodes - self.kept)


@dataclass(frozen=True, eq=False)
class RoomToKeep:
    """`bound` is a price that no set of emptied nodes exceeds.

    `emptied` is how many nodes of each class the bound empties, `class_of` the class of each node,
    -1 for those that stay in any case.
    """

    bound: int
    class_of: IntArray
    emptied: IntArray


def kept_in_each_domain(spread: SpreadConstraint, pods: int) -> int:
    """How many of the pods every domain keeps if none has more than maxSkew above the least."""
    domains = int(spread.scope.domains.sum())
    if spread.too_few_domains or spread.constraint.node_taints_policy == "Honor" or not domains:
        return 0
    return max(0, -(-(pods - (domains - 1) * spread.constraint.max_skew) // domains))


class Counting:
    """The rows of one cluster.

    `going` pods have to be somewhere; all others are there as long as their node is. Spread is
    looked at only if the cluster is `steady`, and will be.
    """

    def __init__(self, cluster: Cluster, going: IntArray, *, steady: bool) -> None:
        self._cluster = cluster
        self._steady = steady
        staying = np.setdiff1d(cluster.running, going)
        resources, group_of = cluster.resources, cluster.group_of
        used = sum_by(
            cluster.node_of[staying], resources.requests[group_of[staying]], len(cluster.nodes)
        )
        here = cluster.running[np.isin(cluster.running, going)]
        kept = sum_by(cluster.node_of[here], resources.requests[group_of[here]], len(used))
        self._room = np.maximum(resources.allocatable - used, kept)
        """What nodes have for pods that may go, or for those that they have now, if that is more:
        nobody is driven off a node that has too many."""
        self._pods = going
        self._ones = np.ones((len(cluster.nodes), 1), np.int64)

    def rows(self, *, gone: bool = False) -> Iterator[Row]:
        """Every row; where emptied nodes are `gone` they are no hosts that count."""
        yield from self._pools()
        if self._steady:
            yield from self._domains()
        if self._steady and not gone:
            yield from self._hosts()

    def _pools(self) -> Iterator[Row]:
        resources, group_of = self._cluster.resources, self._cluster.group_of
        for pool, pods in self.pools():
            yield Row(pool, resources.requests[group_of[pods]].sum(axis=0), self._room)

    def _packed(self) -> Iterator[Row]:
        """What large pods need: amounts that they can use, and places side by side."""
        cluster = self._cluster
        for pool, pods in self.pools():
            requests = cluster.resources.requests[cluster.group_of[pods]]
            for chosen in large_pods(requests):
                asked, node_of = requests[chosen], cluster.node_of[pods[chosen]]
                if not len(asked):
                    continue
                here, there = node_of >= 0, len(cluster.nodes)
                kept = sum_by(node_of[here], asked[here], there)
                offered = np.maximum(usable(asked, self._room), kept)
                yield Row(pool, asked.sum(axis=0), offered)
                places = np.maximum(
                    slots(asked, self._room), np.bincount(node_of[here], None, there)
                )
                yield Row(pool, np.array([len(asked)], np.int64), places[:, None])

    def pools(self) -> Iterator[tuple[BoolArray, IntArray]]:
        """Nodes, and the pods that may run on no other."""
        cluster, static = self._cluster, StaticRules(self._cluster)
        groups = np.unique(cluster.group_of[self._pods]).tolist()
        masks: dict[bytes, BoolArray] = {}
        mask_of: dict[int, bytes] = {}
        for group in groups:
            landing = static.landing(group)
            mask_of[group] = landing.tobytes()
            masks.setdefault(mask_of[group], landing)
        everywhere = np.ones(len(cluster.nodes), np.bool_)
        masks.setdefault(everywhere.tobytes(), everywhere)
        for pool in masks.values():
            inside = {key for key, mask in masks.items() if not (mask & ~pool).any()}
            member = np.zeros(len(cluster.groups), np.bool_)
            member[[group for group in groups if mask_of[group] in inside]] = True
            pods = self._pods[member[cluster.group_of[self._pods]]]
            yield pool, pods[(cluster.node_of[pods] < 0) | pool[cluster.node_of[pods]]]

    def _domains(self) -> Iterator[Row]:
        cluster = self._cluster
        counts = np.bincount(cluster.group_of[self._pods], minlength=len(cluster.groups))
        needed: dict[tuple[str, int], IntArray] = {}
        seen: set[tuple[str, int]] = set()
        for spread in hard_constraints(cluster):
            topology = spread.scope.topology
            if len(topology.domains) > tuning.MANY_DOMAINS:
                continue
            groups = [g for g in spread.matching.tolist() if counts[g]]
            if not groups or any((topology.key, group) in seen for group in groups):
                continue
            seen.update((topology.key, group) for group in groups)
            least = cluster.resources.requests[groups].min(axis=0)
            kept = kept_in_each_domain(spread, self._counted(spread))
            for domain in np.flatnonzero(spread.scope.domains).tolist():
                key = (topology.key, domain)
                needed[key] = needed.get(key, np.zeros_like(least)) + least * kept
        for (name, domain), amounts in needed.items():
            topology = cluster.topology(name)
            nodes = topology.domain_of == domain
            yield Row(nodes, amounts, self._room, name, topology.domains[domain])

    def needs(self, nodes: Collection[int]) -> tuple[DomainNeed, ...]:
        """What the spread pods of each domain ask of it, where that keeps some of these nodes."""
        found: list[DomainNeed] = []
        for row in self._domains() if self._steady else ():
            there = np.flatnonzero(row.nodes)
            kept = _fewest(row.offered[there], row.needed)
            asked = sum(1 for node in there.tolist() if node in nodes)
            found.append(DomainNeed(row.key, row.subject, row.needed, kept, len(there), asked))
        return tuple(each for each in found if each.kept)

    def _hosts(self) -> Iterator[Row]:
        for spread in hard_constraints(self._cluster):
            scope = spread.scope
            nodes = scope.eligible & (scope.topology.domain_of >= 0)
            single = len(np.unique(scope.topology.domain_of[nodes])) == int(nodes.sum())
            if not single or spread.constraint.node_taints_policy == "Honor":
                continue
            needed = -(-self._counted(spread) // spread.constraint.max_skew)
            needed = min(needed, int(nodes.sum()))
            yield Row(nodes, np.array([needed], np.int64), self._ones)

    def _counted(self, spread: SpreadConstraint) -> int:
        """Matching pods on eligible nodes; those that go with their node are not looked at.

        Who waits counts, too, if the rule is its own: it can land on no other node.
        """
        cluster = self._cluster
        pods = self._pods[np.isin(cluster.group_of[self._pods], spread.matching)]
        pods = pods[~cluster.terminating[pods]]
        waits = pods[cluster.node_of[pods] == PENDING]
        own = np.isin(cluster.group_of[waits], [carrier.group for carrier in spread.carriers])
        there = spread.scope.eligible[cluster.node_of[pods[cluster.node_of[pods] >= 0]]]
        return int(there.sum()) + int(own.sum())

    def most(self, prices: Mapping[int, int], limit: float) -> RoomToKeep:
        """The most that candidates can be worth together, class by class."""
        return self._most([*_joined(self.rows()), *self._tightest(prices)], prices, limit)

    def _tightest(self, prices: Mapping[int, int]) -> list[Row]:
        """The rows about large pods that keep the most candidates, each by itself."""
        candidate = np.zeros(len(self._cluster.nodes), np.bool_)
        candidate[list(prices)] = True
        keeps = [(_kept_by(row, candidate), row) for row in self._packed()]
        keeps.sort(key=lambda each: -each[0])
        return [row for kept, row in keeps[:TIGHTEST] if kept]

    def with_spare(self, prices: Mapping[int, int], limit: float, spare: float) -> RoomToKeep:
        """Not quite as much: some room is left over, and as much in each zone. No bound."""
        rows = [*_joined(self.rows()), *self._spared(spare)]
        return self._most(rows, prices, limit)

    def _spared(self, spare: float) -> Iterator[Row]:
        key = counted_key(self._cluster)
        domain_of = np.zeros(len(self._cluster.nodes), np.int64)
        if key is not None:
            domain_of = self._cluster.topology(key).domain_of
        for row in (each for each in self._pools() if each.nodes.any()):
            domains = np.unique(domain_of[row.nodes]).tolist()
            needed = (row.needed * (1 + spare) / len(domains)).astype(np.int64)
            for domain in domains:
                yield Row(row.nodes & (domain_of == domain), needed, self._room)

    def _most(self, rows: list[Row], prices: Mapping[int, int], limit: float) -> RoomToKeep:
        class_of, columns = self._classes(rows, prices)
        return _solved(rows, class_of, columns, prices, limit)

    def _classes(
        self, rows: list[Row], prices: Mapping[int, int]
    ) -> tuple[IntArray, list[IntArray]]:
        nodes = np.fromiter(sorted(prices), np.int64, len(prices))
        worth = np.array([prices[node] for node in nodes.tolist()], np.int64)
        member = [row.nodes[nodes].astype(np.int64) for row in rows]
        offered = {id(row.offered): row.offered[nodes] for row in rows}
        table = np.column_stack([worth, *member, *offered.values()])
        _, inverse = np.unique(table, axis=0, return_inverse=True)
        class_of = np.full(len(self._cluster.nodes), -1, np.int64)
        class_of[nodes] = inverse.ravel()
        return class_of, [np.flatnonzero(class_of == c) for c in range(int(inverse.max()) + 1)]


def _joined(rows: Iterable[Row]) -> list[Row]:
    """Rows about the same nodes and the same amounts as one that asks for the most of them."""
    found: dict[tuple[bytes, int], Row] = {}
    for row in rows:
        key = (row.nodes.tobytes(), id(row.offered))
        known = found.setdefault(key, row)
        found[key] = replace(known, needed=np.maximum(known.needed, row.needed))
    return list(found.values())


def _kept_by(row: Row, candidate: BoolArray) -> int:
    """So many candidates have to stay for this row alone, those with the most first."""
    needed = row.needed - row.offered[row.nodes & ~candidate].sum(axis=0)
    return _fewest(row.offered[row.nodes & candidate], np.maximum(needed, 0))


def _fewest(offered: IntArray, needed: IntArray) -> int:
    """So many nodes it takes at the least, the largest first, resource by resource."""
    found = 0
    for resource in np.flatnonzero(needed > 0).tolist():
        total = np.cumsum(np.sort(offered[:, resource])[::-1])
        found = max(found, 1 + int(np.searchsorted(total, needed[resource])))
    return min(found, len(offered))


def _solved(
    rows: list[Row],
    class_of: IntArray,
    classes: list[IntArray],
    prices: Mapping[int, int],
    limit: float,
) -> RoomToKeep:
    """Few classes, few rows: CP-SAT proves the best number of each."""
    cp = cp_model.CpModel()
    kept = [cp.new_int_var(0, len(nodes), "") for nodes in classes]
    always = class_of < 0
    for row in rows:
        inside = [c for c, nodes in enumerate(classes) if row.nodes[nodes[0]]]
        for resource in np.flatnonzero(row.needed > 0).tolist():
            unit = max(1, int(row.needed[resource]) >> 30)
            offered = -(-row.offered[:, resource] // unit)
            needed = int(row.needed[resource]) // unit - int(offered[always & row.nodes].sum())
            if needed > 0:
                total = sum(int(offered[classes[c][0]]) * kept[c] for c in inside)
                most = sum(int(offered[classes[c][0]]) * len(classes[c]) for c in inside)
                cp.add(total >= min(needed, most))
    price = [prices[int(nodes[0])] for nodes in classes]
    cp.minimize(sum(p * k for p, k in zip(price, kept, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = limit
    solver.solve(cp)
    least = -(-int(solver.best_objective_bound * 1000) // 1000)
    emptied = [len(nodes) - solver.value(k) for nodes, k in zip(classes, kept, strict=True)]
    return RoomToKeep(sum(prices.values()) - least, class_of, np.array(emptied, np.int64))
