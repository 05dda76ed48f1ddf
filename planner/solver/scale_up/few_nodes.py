"""A few nodes of an arrangement anew: the cheapest nodes for the pods that are on them.

    t[s, p]   whether place s gets a node of offer p; all offers of a place are of one class
    y[g, s]   pods of group g in place s
    sum over g of request[g, r] x y[g, s] <= sum over p of free[p, r] x t[s, p]
    minimise  sum of cost x t

Everybody else stays where he is, and counts for every rule (`few_nodes_rules`). The model is small,
so that CP-SAT soon says what is best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.engine import improve
from planner.solver.model.linear import Linear
from planner.solver.scale_up.arrangement import Arrangement, Class, PaperRules

FAR = 1 << 40
Terms = list[tuple[int, int]]
"""(variable, coefficient)."""


@dataclass(frozen=True)
class Place:
    """Where a node is or could be: one of the offers of a class, or the one that is there."""

    node: int
    """The node of before, or any that could be."""
    offers: tuple[int, ...]
    """Empty if the node is no offer's: it stays."""
    before: int | None = None
    """The position in the arrangement; None if nothing was there."""


@dataclass(frozen=True, eq=False)
class Anew:
    """The arrangement with these nodes anew, None if none as cheap was found; and the work."""

    found: Arrangement | None
    work: float


class FewNodes:
    """The model for nodes at some positions of an arrangement, and for further places.

    `some` says which offers of a class are looked at, beside the one that is there.
    """

    def __init__(
        self,
        rules: PaperRules,
        state: Arrangement,
        chosen: Sequence[int],
        more: Sequence[Class],
        some: Callable[[list[int]], list[int]] = list,
    ) -> None:
        self.rules, self.state, self._some = rules, state, some
        self.kept = np.ones(len(state.nodes), np.bool_)
        """By position: whether it stays as it is."""
        self.kept[list(chosen)] = False
        self.freed: IntArray = state.pods[~self.kept].sum(axis=0)
        """By group: pods that are placed anew."""
        self.groups: list[int] = np.flatnonzero(self.freed).tolist()
        self.places = [self._place(position) for position in chosen]
        self.places += [
            Place(o[0], tuple(o)) for o in (some(rules.offers_of[each]) for each in more)
        ]
        self._cp, self._hint = cp_model.CpModel(), Terms()
        self.nodes = [self._nodes(place) for place in self.places]
        """By place: for each offer, whether one of its nodes is there."""
        self.pods = [self._pods(place) for place in self.places]
        """By place: for each group that some node there takes, its pods."""
        self._demand()
        for place, types, here in zip(self.places, self.nodes, self.pods, strict=True):
            self._room(place, types, here)
            for group, pods in here.items():
                self._cap(place, types, group, pods)
        self._limits()

    def _place(self, position: int) -> Place:
        node = int(self.state.nodes[position])
        offered = node in self.rules.offer_of
        some = self._some(self.rules.offers_of[self.rules.classes[node]]) if offered else []
        offers = some if node in some or not offered else [*some, node]
        return Place(node, tuple(offers), position)

    # What a model is made of

    def variable(self, upper: int, before: int = 0) -> int:
        """A whole number from 0 on, and what it was in the arrangement."""
        number = len(self._cp.proto.variables)
        self._cp.proto.variables.add().domain.extend((0, upper))
        self._hint.append((number, before))
        return number

    def row(
        self, entries: Terms, lower: int | None, upper: int | None, only_if: int | None = None
    ) -> None:
        """A sum within a range, always or only if a literal holds."""
        row = self._cp.proto.constraints.add()
        if only_if is not None:
            row.enforcement_literal.append(only_if)
        row.linear.vars.extend([variable for variable, _ in entries])
        row.linear.coeffs.extend([amount for _, amount in entries])
        ends = -FAR if lower is None else lower, FAR if upper is None else upper
        row.linear.domain.extend(ends)

    def landed(self, groups: Sequence[int], places: Sequence[int]) -> Terms:
        """Pods of some groups in some places."""
        return [(self.pods[s][g], 1) for s in places for g in groups if g in self.pods[s]]

    def used(self, places: Sequence[int]) -> Terms:
        """How many of these places get a new node."""
        return [(each, 1) for s in places for each in self.nodes[s].values()]

    def inside(self, domain_of: IntArray, domain: int) -> list[int]:
        """The places in a domain."""
        return [s for s, place in enumerate(self.places) if domain_of[place.node] == domain]

    def _nodes(self, place: Place) -> dict[int, int]:
        there = place.node if place.before is not None else None
        found = {p: self.variable(1, int(p == there)) for p in place.offers}
        if found:
            self.row([(each, 1) for each in found.values()], None, 1)
        return found

    def _pods(self, place: Place) -> dict[int, int]:
        most = self.rules.cap[list(place.offers or (place.node,))].max(axis=0)
        found: dict[int, int] = {}
        for g in self.groups:
            upper = int(min(most[g], self.freed[g]))
            if upper:
                there = 0 if place.before is None else int(self.state.pods[place.before, g])
                found[g] = self.variable(max(upper, there), there)
        return found

    # Rows

    def _demand(self) -> None:
        """Nobody is lost who has to run; others may be."""
        kept = self.state.pods[self.kept].sum(axis=0)
        for g in self.groups:
            need = int(self.rules.need[g] - kept[g])
            self.row(self.landed([g], range(len(self.places))), need, int(self.freed[g]))

    def _room(self, place: Place, types: dict[int, int], here: dict[int, int]) -> None:
        free, request = self.rules.free, self.rules.request[list(here)]
        for resource in np.flatnonzero(request.any(axis=0)).tolist():
            asked = request[:, resource].tolist()
            unit = math.gcd(*asked)
            entries = [(y, n // unit) for y, n in zip(here.values(), asked, strict=True) if n]
            have = int(free[place.node, resource]) // unit
            entries += [(t, -(int(free[p, resource]) // unit)) for p, t in types.items()]
            self.row(entries, None, 0 if types else have)

    def _cap(self, place: Place, types: dict[int, int], group: int, pods: int) -> None:
        """Where fewer pods may be than there is room for."""
        offers, request = list(place.offers), self.rules.request[group]
        if not offers:
            return
        asked = np.flatnonzero(request > 0)
        room = self.rules.free[offers][:, asked] // request[asked]
        cap = self.rules.cap[offers, group]
        if (cap < np.minimum(room.min(axis=1, initial=FAR), self.freed[group])).any():
            each = zip(types.values(), cap.tolist(), strict=True)
            self.row([(pods, 1), *((t, -n) for t, n in each if n)], None, 0)

    def _limits(self) -> None:
        """What pools may have, each alone and several together, and zones that get a node."""
        rules, offers = self.rules, self.rules.question.offers
        kept = self.state.nodes[self.kept].tolist()
        numbers = [rules.offer_of[node] for node in kept if node in rules.offer_of]
        have = np.bincount(np.array(numbers, np.int64), minlength=len(offers))
        mine: list[Terms] = [[] for _ in offers]
        for types in self.nodes:
            for p, t in types.items():
                mine[rules.offer_of[p]].append((t, 1))
        for offer, there, terms in zip(offers, have.tolist(), mine, strict=True):
            if terms and (offer.least or offer.most is not None):
                most = None if offer.most is None else offer.most - there
                self.row(terms, offer.least - there, most)
        for most, each in rules.question.shared_limits:
            terms = [(t, n) for n, own in zip(each, mine, strict=True) if n for t, _ in own]
            self.row(terms, None, most - int(have @ np.array(each, np.int64)))
        for opened in rules.question.opened:
            if not have[list(opened)].any():
                self.row([term for i in opened for term in mine[i]], 1, None)

    # The answer

    def solved(self, work: float, seed: int) -> Anew:
        """The cheapest way that was found, no dearer than before."""
        each = [(t, self.rules.cost_of(p)) for types in self.nodes for p, t in types.items()]
        self.row(each, None, self.rules.cost(self.state.nodes[~self.kept]))
        cost = Linear([t for t, _ in each], [n for _, n in each])
        found = improve(self._cp, cost, self._hint, work=work, seed=seed)
        if found.interrupted:
            raise KeyboardInterrupt
        arranged = None if found.values is None else self._arranged(found.values)
        return Anew(arranged, found.time)

    def _arranged(self, values: Sequence[int]) -> Arrangement:
        state, nodes = self.state, list[int]()
        pods = np.zeros((len(self.places), len(self.rules.groups)), np.int64)
        for place, types, here in zip(self.places, self.nodes, self.pods, strict=True):
            used = [p for p, t in types.items() if values[t]]
            if place.offers and not used:
                continue
            for g, y in here.items():
                pods[len(nodes), g] = values[y]
            nodes.append(used[0] if used else place.node)
        return Arrangement(
            np.concatenate((state.nodes[self.kept], np.array(nodes, np.int64))),
            np.concatenate((state.pods[self.kept], pods[: len(nodes)])),
        )
