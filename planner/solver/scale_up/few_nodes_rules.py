"""The rules over domains and hosts in the model of a few nodes.

    smallest <= count(d)                    for each domain that is there
    count(d) <= smallest + maxSkew          where somebody is who has to keep the rule

Whoever stays counts. Domains neither come nor go with the nodes: none is opened, and of those that
only new nodes are in, none loses the last one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.scale_up.arrangement import Spread
from planner.solver.scale_up.few_nodes import FewNodes, Terms


def add_rules(model: FewNodes) -> None:
    """All rules that are known, as far as they can be broken with these nodes."""
    _domains_stay(model)
    for spread in model.rules.spreads:
        if spread.over_hosts:
            _over_hosts(model, spread)
        elif not set(spread.counting).isdisjoint(model.groups):
            _over_domains(model, spread)
    for group, domain_of in model.rules.alone:
        if group in model.groups:
            _one_each(model, group, domain_of)
    for group, domain_of in model.rules.together:
        if group in model.groups:
            _together(model, group, domain_of)


def _domains_stay(model: FewNodes) -> None:
    rules, kept = model.rules, model.state.nodes[model.kept]
    every = {s.domain_of.tobytes(): s.domain_of for s in rules.spreads if not s.over_hosts}
    for domain_of in every.values():
        certain = set(domain_of[~rules.new].tolist()) | set(domain_of[kept].tolist())
        for domain in _present(model, domain_of) - certain:
            model.row(model.used(model.inside(domain_of, domain)), 1, None)


def _present(model: FewNodes, domain_of: IntArray) -> set[int]:
    """Domains of nodes that are there, or new in the arrangement."""
    there = domain_of[~model.rules.new].tolist()
    return {*there, *domain_of[model.state.nodes].tolist()} - {NO_DOMAIN}


def _kept_by_domain(model: FewNodes, groups: Sequence[int], spread: Spread) -> IntArray:
    found = np.zeros(len(spread.fixed) + 1, np.int64)
    pods = model.state.pods[model.kept][:, list(groups)].sum(axis=1)
    np.add.at(found, spread.domain_of[model.state.nodes[model.kept]], pods)
    return found[:-1]


def _over_domains(model: FewNodes, spread: Spread) -> None:
    present = sorted(_present(model, spread.domain_of))
    kept = spread.fixed + _kept_by_domain(model, spread.counting, spread)
    carried = _kept_by_domain(model, spread.carriers, spread)
    few = len(present) < spread.least_domains
    every = int(kept.sum() + model.freed[list(spread.counting)].sum())
    smallest = model.variable(0 if few else every)
    for domain in present:
        here = model.inside(spread.domain_of, domain)
        if not few:
            entries = [*model.landed(spread.counting, here), (smallest, -1)]
            model.row(entries, -int(kept[domain]), None)
        _not_above(model, spread, here, int(kept[domain]), smallest, carried=bool(carried[domain]))


def _not_above(
    model: FewNodes, spread: Spread, here: list[int], kept: int, smallest: int, *, carried: bool
) -> None:
    entries = [*model.landed(spread.counting, here), (smallest, -1)]
    landing = model.landed(spread.carriers, here)
    if carried:
        model.row(entries, None, spread.skew - kept)
    elif landing:
        somebody = model.variable(1, 1)
        model.row(landing, None, 0, only_if=-somebody - 1)
        model.row(entries, None, spread.skew - kept, only_if=somebody)


def _over_hosts(model: FewNodes, spread: Spread) -> None:
    """Each node is a domain of its own, and one with no pod of a group as well."""
    rules, state = model.rules, model.state
    host = spread.domain_of[state.nodes] != NO_DOMAIN
    there = host & ~rules.new[state.nodes]
    count = state.pods[:, list(spread.counting)].sum(axis=1)
    count[there] += spread.fixed[spread.domain_of[state.nodes[there]]]
    others = ~rules.new & (spread.domain_of != NO_DOMAIN)
    others[state.nodes[there]] = False
    carried = state.pods[:, list(spread.carriers)].any(axis=1) & model.kept & host
    least = max(0, int((count[carried] - spread.skew).max(initial=0)))
    if not least and set(spread.counting).isdisjoint(model.groups):
        return
    staying = np.append(count[model.kept & host], spread.fixed[spread.domain_of[others]])
    highest = int(staying.min(initial=int(count.sum())))
    hosts = int(host.sum() + others.sum())
    if spread.least_domains > 1:
        _as_many_hosts(model, spread, hosts)
        highest = highest if hosts >= spread.least_domains else 0
    smallest = model.variable(max(highest, least))
    model.row([(smallest, 1)], least, None)
    for s, place in enumerate(model.places):
        if spread.domain_of[place.node] != NO_DOMAIN:
            _host(model, spread, s, smallest, bound=hosts >= spread.least_domains)


def _host(model: FewNodes, spread: Spread, s: int, smallest: int, *, bound: bool) -> None:
    place = model.places[s]
    kept = 0 if place.offers else int(spread.fixed[spread.domain_of[place.node]])
    entries = [*model.landed(spread.counting, [s]), (smallest, -1)]
    if bound and place.offers:
        for node, _ in model.used([s]):
            model.row(entries, 0, None, only_if=node)
    elif bound:
        model.row(entries, -kept, None)
    _not_above(model, spread, [s], kept, smallest, carried=False)


def _as_many_hosts(model: FewNodes, spread: Spread, hosts: int) -> None:
    """Enough hosts for minDomains stay enough; too few stay too few."""
    here = [s for s, each in enumerate(model.places) if spread.domain_of[each.node] != NO_DOMAIN]
    before = sum(1 for s in here if model.places[s].before is not None and model.places[s].offers)
    enough = hosts >= spread.least_domains
    least = spread.least_domains - (hosts - before)
    model.row(model.used(here), least if enough else None, None if enough else before)


def _one_each(model: FewNodes, group: int, domain_of: IntArray) -> None:
    """Only one pod of a group in a domain."""
    for domain in sorted(set(domain_of.tolist()) - {NO_DOMAIN}):
        inside = model.kept & (domain_of[model.state.nodes] == domain)
        kept = int(model.state.pods[inside, group].sum())
        model.row(model.landed([group], model.inside(domain_of, domain)), None, 1 - kept)


def _together(model: FewNodes, group: int, domain_of: IntArray) -> None:
    """All pods of a group in one domain: where those are that stay, or in any."""
    state, chosen = model.state, Terms()
    homes = set(domain_of[state.nodes[model.kept & (state.pods[:, group] > 0)]].tolist())
    old = set(domain_of[state.nodes[state.pods[:, group] > 0]].tolist())
    for domain in sorted({int(domain_of[place.node]) for place in model.places}):
        landed = model.landed([group], model.inside(domain_of, domain))
        if homes and domain not in homes:
            model.row(landed, None, 0)
        elif not homes and landed:
            here = model.variable(1, int(domain in old))
            model.row([*landed, (here, -int(model.freed[group]))], None, 0)
            chosen.append((here, 1))
    if chosen:
        model.row(chosen, None, 1)
