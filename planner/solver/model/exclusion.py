"""Pods that can't be in one domain together: anti-affinity, and disks that can't be shared.

Two sets of groups, `one` and `other`, over domains. As landings alone are judged, by either side:

    one(D) = 0 or other(D) = 0, unless both are there now and nothing of either lands in D

A group in both sets (anti-affinity to oneself) has at most one pod in a domain, in the same sense.
With --relax landings may break this; each that does costs one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.cluster.topology import IntArray
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model


@dataclass(frozen=True, eq=False)
class Side:
    """One set of groups over domains.

    `broken` are, with --relax, the variables that count landings against the rule, per domain.
    """

    counts: list[Linear]
    arrivals: list[Linear]
    fixed: list[int]
    now: list[int]
    broken: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, groups: Sequence[int], domain_of: IntArray, size: int) -> Side:
        """Terminating pods are there until they are gone."""
        fixed = model.fixed_by_domain(groups, domain_of, size, terminating=True)
        now = fixed + model.now_by_domain(groups, domain_of, size)
        return cls(
            model.by_domain(groups, domain_of, size),
            model.arrivals_by_domain(groups, domain_of, size),
            fixed.tolist(),
            now.tolist(),
        )

    def possible(self, domain: int) -> bool:
        """Whether any pod of this side may be in the domain."""
        return bool(self.fixed[domain] or self.counts[domain].vars)


def apart(model: Model, one: Side, other: Side, *, relax: bool) -> None:
    """Keep two disjoint sets of groups out of each other's domains."""
    for domain in range(len(one.counts)):
        if not one.possible(domain) or not other.possible(domain):
            continue
        together_now = one.now[domain] > 0 and other.now[domain] > 0
        given = _unless_together(model, (one, other), domain, together_now, relax)
        _one_or_other(model, one, other, domain, given)


def alone(model: Model, side: Side, *, relax: bool) -> None:
    """At most one pod of the side in each domain."""
    for domain, counts in enumerate(side.counts):
        if not counts.vars or model.highest(counts) + side.fixed[domain] <= 1:
            continue
        given = _unless_together(model, (side,), domain, side.now[domain] > 1, relax)
        if side.fixed[domain] > 1:
            model.any_of([-literal - 1 for literal in given])
        else:
            model.at_most(counts, 1 - side.fixed[domain], given)


def _unless_together(
    model: Model, sides: tuple[Side, ...], domain: int, together_now: bool, relax: bool
) -> tuple[int, ...]:
    """The condition under which the rule holds.

    Pods that are together already may stay so while nothing lands; --relax lets landings break the
    rule, and counts them.
    """
    if not together_now and not relax:
        return ()
    together = model.literal()
    for side in sides:
        if relax:
            _count_landings(model, side, domain, together)
        else:
            model.nothing_lands(side.arrivals[domain], (together,))
    return (-together - 1,)


def _count_landings(model: Model, side: Side, domain: int, together: int) -> None:
    """Count the arrivals as broken, if pods are together."""
    arrivals = side.arrivals[domain]
    if not arrivals.vars:
        return
    if domain not in side.broken:
        side.broken[domain] = model.integer(0, model.highest(arrivals))
    model.at_most(arrivals.plus(Linear([side.broken[domain]], [-1])), 0, (together,))


def _one_or_other(
    model: Model, one: Side, other: Side, domain: int, given: tuple[int, ...]
) -> None:
    if one.fixed[domain] and other.fixed[domain]:
        model.any_of([-literal - 1 for literal in given])
    elif one.fixed[domain]:
        _empty(model, other.counts[domain], given)
    elif other.fixed[domain]:
        _empty(model, one.counts[domain], given)
    else:
        first = model.literal()
        _empty(model, one.counts[domain], (*given, first))
        _empty(model, other.counts[domain], (*given, -first - 1))


def _empty(model: Model, counts: Linear, given: tuple[int, ...]) -> None:
    if counts.vars:
        model.at_most(counts, 0, given)
