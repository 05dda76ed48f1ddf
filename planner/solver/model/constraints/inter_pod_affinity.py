"""InterPodAffinity: pods that want to be near or away from other pods, and the others' wishes.

Required anti-affinity, of the pod that lands and of those that are there (symmetry): see
`exclusion`. Terminating pods count.

Required affinity: in each term's domain runs a mate, a pod that matches all terms of the pod:

    mates(D) >= 1, or the pod starts in D, where it lands

Landings of pods with the same terms that are mates of each other don't help each other, unless one
of them starts: in one place only, and only if nobody in the whole cluster is a mate
(kube-scheduler's exception for the first pod of a group).

What running pods break is counted in `inter_pod_affinity_excess`, preferred terms in
`inter_pod_affinity_cost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.model.exclusion import Side
from planner.solver.model.exclusion import alone as keep_alone
from planner.solver.model.exclusion import apart as keep_apart
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.problem.cells import NONE
from planner.solver.problem.inter_pod_affinity import Term, apart, mates, required_keys


@dataclass(frozen=True, eq=False)
class Broken:
    """With --relax: pods that land against a rule in a domain, NO_DOMAIN: without its label."""

    group: int
    kind: str
    index: int
    key: str
    domain: int
    pods: int
    """A variable."""


@dataclass(eq=False)
class _Wishes:
    """What a class of groups with the same required affinity needs."""

    members: list[int]
    mates: list[int]
    keys: list[str]
    broken: list[Broken] = field(default_factory=list)

    def breaks(self, key: str, domain: int, pods: int) -> None:
        """Landings in a domain have a price."""
        self.broken.append(Broken(self.members[0], "podAffinity", 0, key, domain, pods))


def add(model: Model) -> list[Broken]:
    """Both kinds of required terms, in both directions."""
    broken: list[Broken] = []
    for term in apart(model.problem.cluster, model.present):
        with model.rule("InterPodAffinity", "apart", term.group, term.index):
            broken += _add_apart(model, term)
    for wishes in _classes(model):
        with model.rule("InterPodAffinity", "near", wishes.members[0]):
            _add_near(model, wishes)
        broken += wishes.broken
    return broken


# Anti-affinity


def _add_apart(model: Model, term: Term) -> list[Broken]:
    topology = model.problem.cluster.topology(term.key)
    size, relax = len(topology.domains), model.problem.options.relax
    others = [g for g in term.about.tolist() if g != term.group]
    one = Side.of(model, (term.group,), topology.domain_of, size)
    other = Side.of(model, others, topology.domain_of, size)
    if not any(each.vars for each in (*one.counts, *other.counts)):
        return []
    keep_apart(model, one, other, relax=relax)
    if len(others) < len(term.about):
        keep_alone(model, one, relax=relax)
    return [
        Broken(term.group, "podAntiAffinity", term.index, term.key, domain, variable)
        for side in (one, other)
        for domain, variable in sorted(side.broken.items())
    ]


# Affinity


def _classes(model: Model) -> list[_Wishes]:
    """Groups with required affinity that may land, those with the same keys and mates together.

    Only groups that are their own mates can be one class: the others are helped by any mate.
    """
    cluster = model.problem.cluster
    found: dict[tuple[object, ...], _Wishes] = {}
    for group, cells in model.cells.items():
        keys = required_keys(cluster.groups[group])
        if not keys or not (cells.arrivals != NONE).any():
            continue
        near = mates(cluster, cluster.groups[group]).tolist()
        alike: object = None if group in near else group
        wishes = found.setdefault((alike, *keys, *near), _Wishes([], near, keys))
        wishes.members.append(group)
    return list(found.values())


def _add_near(model: Model, wishes: _Wishes) -> None:
    starts = _starts(model, wishes)
    for key in wishes.keys:
        topology = model.problem.cluster.topology(key)
        size = len(topology.domains)
        landing = model.arrivals_by_domain(wishes.members, topology.domain_of, size)
        outside = model.unlabelled(wishes.members, topology.domain_of)
        if outside is not None:
            wishes.breaks(key, NO_DOMAIN, outside)
        anchors = _anchors(model, wishes, topology.domain_of, size)
        for domain in range(size):
            if landing[domain].vars and anchors[domain].constant == 0:
                begun = [
                    s for place, s in starts.items() if place[wishes.keys.index(key)] == domain
                ]
                _near(model, wishes, key, domain, landing[domain], anchors[domain], begun)


def _anchors(model: Model, wishes: _Wishes, domain_of: IntArray, size: int) -> list[Linear]:
    """The mates in each domain who are there for reasons of their own.

    Of members that land none are: they came because somebody was there. Judged at the moment, mates
    help that are there now or in the end.
    """
    own = [group for group in wishes.mates if group in wishes.members]
    others = [group for group in wishes.mates if group not in wishes.members]
    moment = model.problem.options.judged == "moment"
    result = model.by_domain(others, domain_of, size)
    fixed = model.fixed_by_domain(wishes.mates, domain_of, size, terminating=True)
    if moment:
        fixed = fixed + model.now_by_domain(wishes.mates, domain_of, size)
    else:
        staying = model.by_domain(own, domain_of, size)
        arriving = model.arrivals_by_domain(own, domain_of, size)
        result = [part.plus(staying[d]).plus(arriving[d], -1) for d, part in enumerate(result)]
    for each, constant in zip(result, fixed.tolist(), strict=True):
        each.constant = constant
    return result


def _starts(model: Model, wishes: _Wishes) -> dict[tuple[int, ...], int]:
    """Where the first pod may land without a mate: one place, if there are no mates at all.

    A place is a domain of each key. Mates that run now must all leave or land anew.
    """
    cluster = model.problem.cluster
    if not set(wishes.members) <= set(wishes.mates):
        return {}
    domains = np.stack([cluster.topology(key).domain_of for key in wishes.keys])
    labelled = (domains != NO_DOMAIN).any(axis=0)
    if _fixed_on(model, wishes.mates, labelled):
        return {}
    starts: dict[tuple[int, ...], int] = {}
    for group in wishes.members:
        cells = model.of(group)
        landing = cells.nodes[cells.arrivals != NONE]
        for place in np.unique(domains[:, landing], axis=1).T.tolist():
            if tuple(place) not in starts:
                starts[tuple(place)] = model.literal()
    literals = list(starts.values())
    model.at_most(Linear(literals, [1] * len(literals)), 1)
    if model.problem.options.judged == "final":
        _nobody_stays(model, wishes.mates, labelled, literals)
    return starts


def _fixed_on(model: Model, groups: Iterable[int], nodes: BoolArray) -> bool:
    return any(nodes[model.fixed_of(group, terminating=True).nodes].any() for group in groups)


def _nobody_stays(
    model: Model,
    groups: Iterable[int],
    nodes: BoolArray,
    starts: Sequence[int],
) -> None:
    """No pod stays on a labelled node (y - arrivals = 0), given a start."""
    for group in groups:
        cells = model.of(group)
        chosen = nodes[cells.nodes] & (cells.now > 0)
        columns = (cells.y[chosen], cells.arrivals[chosen])
        for y, arrived in np.column_stack(columns).tolist():
            stays = Linear([y], [1])
            if arrived != NONE:
                stays.add(arrived, -1)
            for start in starts:
                model.at_most(stays, 0, (start,))


def _near(
    model: Model,
    wishes: _Wishes,
    key: str,
    domain: int,
    landing: Linear,
    anchors: Linear,
    starts: list[int],
) -> None:
    """Something lands only if anchors + starts >= 1; with --relax, at the price of one pod.

    The first pod of a class of mates breaks the rule for all of them; of others each does.
    """
    helped = anchors.plus(Linear(starts, [1] * len(starts)))
    if not model.problem.options.relax:
        model.at_least(helped, 1, (model.lands(landing),))
        return
    alone = model.literal()
    model.at_least(helped.plus(Linear([alone], [1])), 1, (model.lands(landing),))
    price = alone
    if not set(wishes.members) <= set(wishes.mates):
        price = model.integer(0, model.highest(landing))
        model.at_most(landing.plus(Linear([price], [-1])), 0, (alone,))
    wishes.breaks(key, domain, price)
