"""PodTopologySpread: where a pod lands, its domain ends no more than maxSkew above the smallest.

    count(d) = matching pods on the eligible nodes of domain d
    minimum <= count(d)                        for each eligible domain; 0 below minDomains
    count(D) <= minimum + maxSkew              where a pod that carries the constraint lands in D
    excess(d) >= count(d) - minimum - maxSkew  what level 2 makes small

Domains where nothing lands may exceed. Every field of a constraint is in `SpreadConstraint`:
selector with matchLabelKeys, policies and eligible nodes, several carriers. Landing nodes have the
keys of all hard constraints (static.landing), or with --relax a price. A domain that the policies
exclude has count 0 and refuses nobody.

Judged at the moment of landing, not in the end (`judged="moment"`), only this holds for every
order: at the last landing of a carrier in D, all fixed pods and all carriers that end in D are
there, and no domain ever has more than it has now plus what arrives:

    fixed(D) + carriers(D) <= highest + maxSkew,   highest <= now(d) + arrivals(d)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import CORDON
from planner.cluster.spread import SpreadConstraint, too_few_domains
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.model.linear import Linear, total
from planner.solver.model.model import Model


@dataclass(frozen=True, eq=False)
class Spread:
    """A constraint in the model: its counts per domain and the smallest of them."""

    constraint: SpreadConstraint
    counts: list[Linear]
    minimum: Linear

    @property
    def domains(self) -> IntArray:
        """The eligible domains."""
        return np.flatnonzero(self.constraint.scope.domains)


@dataclass(frozen=True, eq=False)
class Broken:
    """With --relax: by how much a landing domain of a constraint exceeds.

    NO_DOMAIN stands for the nodes without the label, where every landing is one too many.
    """

    spread: Spread
    domain: int
    excess: int
    """A variable."""


def counted(model: Model) -> list[Spread]:
    """Counts and minimum of every distinct hard constraint."""
    return [count(model, constraint) for constraint in model.problem.spreads]


def count(model: Model, constraint: SpreadConstraint) -> Spread:
    """Counts and minimum of one constraint."""
    counts = _counts(model, constraint)
    domains = np.flatnonzero(constraint.scope.domains)
    if constraint.too_few_domains:
        return Spread(constraint, counts, Linear())
    stay = [_stays(model, constraint, d) for d in domains.tolist()]
    return Spread(constraint, counts, _lowest(model, [counts[d] for d in domains], stay))


def _stays(model: Model, constraint: SpreadConstraint, domain: int) -> int | None:
    """A literal that the domain still takes part; None if it does in any case.

    Nodes that are emptied are cordoned; only where taints are honoured do they take no part.
    """
    groups = model.problem.cluster.groups
    tolerated = all(
        any(each.tolerates(CORDON) for each in groups[carrier.group].spec.tolerations)
        for carrier in constraint.carriers
    )
    if constraint.constraint.node_taints_policy != "Honor" or tolerated:
        return None
    return model.domain_stays(constraint.scope, domain)


def _counts(model: Model, constraint: SpreadConstraint) -> list[Linear]:
    domain_of, size = _counted_domain(constraint), len(constraint.scope.topology.domains)
    matching = constraint.matching.tolist()
    counts = model.by_domain(matching, domain_of, size)
    fixed = model.fixed_by_domain(matching, domain_of, size, terminating=False)
    for each, constant in zip(counts, fixed.tolist(), strict=True):
        each.constant = constant
    return counts


def _counted_domain(constraint: SpreadConstraint) -> IntArray:
    """The domain of each node that is counted."""
    scope = constraint.scope
    return np.where(scope.eligible, scope.topology.domain_of, NO_DOMAIN)


def _lowest(model: Model, counts: list[Linear], stay: list[int | None]) -> Linear:
    """A variable that no count is below, of domains that stay; a constant if that is known."""
    if any(literal is not None for literal in stay):
        return _lowest_of_those_that_stay(model, counts, stay)
    constants = [each.constant for each in counts if each.is_constant]
    highest = min((model.highest(each) for each in counts), default=0)
    if highest == 0 or len(constants) == len(counts):
        return Linear(constant=highest)
    lowest = model.integer(0, highest)
    for each in counts:
        if not each.is_constant:
            model.at_most(Linear([lowest], [1]).plus(each, -1))
    return Linear([lowest], [1])


def _lowest_of_those_that_stay(
    model: Model, counts: list[Linear], stay: list[int | None]
) -> Linear:
    lowest = model.integer(0, max(model.highest(each) for each in counts))
    for each, literal in zip(counts, stay, strict=True):
        model.at_most(
            Linear([lowest], [1]).plus(each, -1), given=() if literal is None else (literal,)
        )
    return Linear([lowest], [1])


def add(model: Model, spreads: list[Spread]) -> list[Broken]:
    """The rule for landings; with --relax it may be broken, at a price."""
    broken: list[Broken] = []
    for number, spread in enumerate(spreads):
        broken += _unlabelled(model, spread)
        landing = _landing(model, spread.constraint)
        if not any(each.vars for each in landing):
            continue
        with model.rule("PodTopologySpread", number):
            if model.problem.options.judged == "moment":
                _at_the_moment(model, spread, landing)
                continue
            for domain in spread.domains.tolist():
                broken += _limit(model, spread, domain, landing[domain])
    return broken


def _landing(model: Model, constraint: SpreadConstraint) -> list[Linear]:
    """Arrivals of carriers in each domain, counted ones or not."""
    topology = constraint.scope.topology
    carriers = sorted({carrier.group for carrier in constraint.carriers})
    return model.arrivals_by_domain(carriers, topology.domain_of, len(topology.domains))


def _unlabelled(model: Model, spread: Spread) -> list[Broken]:
    """Landings of carriers on nodes without the label: there are such nodes only with --relax."""
    carriers = sorted({carrier.group for carrier in spread.constraint.carriers})
    pods = model.unlabelled(carriers, spread.constraint.scope.topology.domain_of)
    return [] if pods is None else [Broken(spread, NO_DOMAIN, pods)]


def _limit(model: Model, spread: Spread, domain: int, landing: Linear) -> list[Broken]:
    """count(D) - minimum <= maxSkew, given that something lands in D."""
    skew = spread.counts[domain].plus(spread.minimum, -1)
    allowed = spread.constraint.constraint.max_skew
    top = model.highest(skew)
    if not landing.vars or top <= allowed:
        return []
    landed = model.lands(landing)
    if not model.problem.options.relax:
        model.at_most(skew, allowed, (landed,))
        return []
    excess = model.integer(0, top - allowed)
    model.at_most(skew.plus(Linear([excess], [-1])), allowed, (landed,))
    return [Broken(spread, domain, excess)]


def _at_the_moment(model: Model, spread: Spread, landing: list[Linear]) -> None:
    constraint = spread.constraint
    domain_of, size = _counted_domain(constraint), len(constraint.scope.topology.domains)
    matching = constraint.matching.tolist()
    carriers = {carrier.group for carrier in constraint.carriers}
    arrived = model.arrivals_by_domain(matching, domain_of, size)
    there = model.by_domain([g for g in matching if g in carriers], domain_of, size)
    fixed = model.fixed_by_domain(matching, domain_of, size, terminating=False).tolist()
    now = model.now_by_domain(matching, domain_of, size).tolist()
    ever = [arrived[d].plus(Linear(constant=now[d] + fixed[d])) for d in range(size)]
    highest = Linear()
    among = spread.domains.tolist()
    if not too_few_domains(constraint.constraint, len(among)):
        stay = [
            model.domain_stays(constraint.scope, d) if model.emptied_are_gone else None
            for d in among
        ]
        highest = _lowest(model, [ever[d] for d in among], stay)
        _zero_below_min_domains(model, constraint, stay, highest)
    for domain in among:
        there[domain].constant = fixed[domain]
        skew = there[domain].plus(highest, -1)
        if landing[domain].vars and model.highest(skew) > constraint.constraint.max_skew:
            landed = model.lands(landing[domain])
            model.at_most(skew, constraint.constraint.max_skew, (landed,))


def _zero_below_min_domains(
    model: Model, constraint: SpreadConstraint, stay: list[int | None], minimum: Linear
) -> None:
    """Where fewer domains are there than minDomains, the minimum is 0."""
    wanted = constraint.constraint.min_domains or 1
    optional = [literal for literal in stay if literal is not None]
    wanted -= len(stay) - len(optional)
    if wanted > 0 and not minimum.is_constant:
        enough = model.literal()
        model.at_least(Linear([*optional, enough], [*[1] * len(optional), -wanted]))
        model.at_most(minimum, 0, (-enough - 1,))


def excess(model: Model, spreads: list[Spread]) -> Linear:
    """The total excess over all constraints and eligible domains."""
    return total(_excess_of(model, spread) for spread in spreads)


def _excess_of(model: Model, spread: Spread) -> Linear:
    result = Linear()
    allowed = spread.constraint.constraint.max_skew
    for domain in spread.domains.tolist():
        skew = spread.counts[domain].plus(spread.minimum, -1)
        top = model.highest(skew) - allowed
        if top <= 0:
            continue
        if skew.is_constant:
            result.constant += top
            continue
        over = model.integer(0, top)
        model.at_most(skew.plus(Linear([over], [-1])), allowed)
        result.add(over)
    return result
