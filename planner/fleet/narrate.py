"""Sentences about a decision: what holds Fleet back, and what nobody could do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from planner.fleet import affinity, filters
from planner.fleet.conflict import Conflict, Rule, allowed_by
from planner.fleet.proposals import REQUIRED_AFFINITY
from planner.fleet.rounds import Candidate, Round
from planner.fleet.schedule import Picks
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import (
    Counts,
    Topology,
    kube_scheduler_accepts,
    most_alone,
    one_more_in,
    room,
    skew,
)
from planner.fleet.words import (
    NAMED,
    all_of,
    count_of,
    per_domain,
    placement_object,
    short_key,
    slashed,
    some_of,
    spread_texts,
)
from planner_models.fleet_decision import FactKind, FleetFact


class FilterWords(NamedTuple):
    """What a filter is called as a fact and as a cause, and the field that decides about it."""

    kind: FactKind
    cause: str
    field: str | None = None


FILTER_WORDS = {
    affinity.NAME: FilterWords("clusterAffinity", "required affinity", REQUIRED_AFFINITY),
    filters.ELIGIBILITY: FilterWords("eligibility", "clusters that are not connected"),
    filters.NAMESPACES: FilterWords("namespace", "clusters without the namespace"),
    filters.TAINTS: FilterWords("taints", "taints", "spec.policy.tolerations"),
}


def kube_scheduler_would_accept(setting: Setting, last: Round) -> tuple[int, ...]:
    """Refused clusters that kube-scheduler's rule would let in, under every hard constraint."""
    return tuple(
        sorted(
            candidate.cluster
            for candidate in last.candidates
            if candidate.refused_by is not None and _kube_accepts(setting, last, candidate)
        )
    )


def _kube_accepts(setting: Setting, last: Round, candidate: Candidate) -> bool:
    return all(
        step is None
        or not topology.constraint.hard
        or kube_scheduler_accepts(
            counts, topology.domain_of[candidate.cluster], topology.constraint.max_skew
        )
        for topology, counts, step in zip(
            setting.topologies, last.counts, candidate.steps, strict=True
        )
    )


def deadlock(
    setting: Setting, picks: Picks, best: Sequence[int], other_order: Sequence[int]
) -> Iterator[str]:
    """Where Fleet stands, what it refuses next and why, and what would be possible."""
    last = picks.rounds[-1]
    if last.picked:
        yield (
            f"In round {last.number} Fleet revives several bindings of "
            f"{some_of(setting.names(last.picked))}. It goes on only after a round that makes "
            "exactly one, so it stops here."
        )
        return
    refused: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in last.candidates:
        if candidate.refused_by is not None:
            refused[candidate.refused_by.index].append(candidate)
    rule = "Fleet adds one cluster at a time and judges the largest group against the smallest. "
    for index, candidates in sorted(refused.items()):
        standing, step = _standing(setting.topologies[index], last, candidates)
        yield standing
        yield rule + step
        rule = ""
    names = setting.names(sorted(each.cluster for group in refused.values() for each in group))
    counts = spread_texts(setting.topologies, best)
    ordered = sorted(best, key=lambda cluster: (cluster not in setting.existing, cluster))
    chosen = f" ({', '.join(setting.names(ordered))})" if len(best) <= NAMED else ""
    yield f"So it refuses {some_of(names)}, although {counts}{chosen} keeps every maxSkew."
    accepted = kube_scheduler_would_accept(setting, last)
    if accepted:
        which = "" if len(accepted) == len(names) else f" {some_of(setting.names(accepted))}"
        keys = {short_key(topology.key) for topology in setting.topologies if topology.binds}
        where = keys.pop() if len(keys) == 1 else "domain"
        yield f"(kube-scheduler would accept{which}: it looks only at the {where} that receives.)"
    if other_order:
        order = setting.names(other_order)
        shown = f": {', '.join(order)}" if len(order) <= NAMED else ""
        yield f"Fleet's own rule would allow all {setting.wanted} in another order{shown}."


def _standing(topology: Topology, last: Round, candidates: Sequence[Candidate]) -> tuple[str, str]:
    """The counts and what one more would make of them."""
    counts = last.counts[topology.index]
    domains = sorted({topology.domain_of[candidate.cluster] for candidate in candidates})
    results = {topology.steps(counts)[domain].after for domain in domains}
    verb = "stays" if results == {skew(counts)} else "becomes"
    outcome = all_of([str(result) for result in sorted(results)], "or")
    then = f"{_one_more(topology, counts, domains)}: the skew {verb} {outcome}."
    return _skew_now(topology, counts), then


def _skew_now(topology: Topology, counts: Counts) -> str:
    return (
        f"Picked per {short_key(topology.key)}: {per_domain(topology, counts)}: the skew is "
        f"{skew(counts)} (maxSkew {topology.constraint.max_skew})."
    )


def _one_more(topology: Topology, counts: tuple[int, ...], domains: Sequence[int]) -> str:
    """`One more in north gives 2/1/0, in west 2/0/1`."""
    if len(counts) > NAMED:
        return f"One more in any of {count_of(len(domains), 'group')}"
    then = [(topology.domains[domain], slashed(one_more_in(counts, domain))) for domain in domains]
    first, *rest = then
    also = "".join(f", in {name} {after}" for name, after in rest)
    return f"One more in {first[0]} gives {first[1]}{also}"


def broken(setting: Setting, picks: Picks) -> Iterator[str]:
    """Constraints that what was picked before breaks; Fleet takes nothing back."""
    for topology in setting.topologies:
        if topology.binds and topology.excess(picks.picked):
            yield _skew_now(topology, topology.counts(picks.picked))
    yield "So a constraint is broken by what was picked before; Fleet takes no cluster back."


def facts(setting: Setting, conflict: Conflict) -> tuple[FleetFact, ...]:
    """The rules of a conflict with their numbers; the wanted number is always one of them."""
    placement = placement_object(setting)
    size = len(setting.clusters)
    text = f"The fleet has {count_of(size, 'cluster')}, and {setting.wanted} are wanted."
    number = FleetFact(
        kind="numberOfClusters",
        object=placement,
        field="spec.policy.numberOfClusters",
        text=text,
    )
    return (number, *(_fact(setting, rule, conflict.rules) for rule in conflict.rules))


def _fact(setting: Setting, rule: Rule, rules: Sequence[Rule]) -> FleetFact:
    placement = placement_object(setting)
    if rule.topology is not None:
        text = _spread_text(setting, rule.topology, rules)
        field = rule.topology.field
        return FleetFact(kind="topologySpread", object=placement, field=field, text=text)
    words, text = FILTER_WORDS[rule.plugin], _filter_text(setting, rule.plugin)
    return FleetFact(kind=words.kind, object=placement, field=words.field, text=text)


def _spread_text(setting: Setting, topology: Topology, rules: Sequence[Rule]) -> str:
    """`region can have at most 1 more than its smallest group ...`, with the room there is."""
    candidates = allowed_by(setting, {rule.plugin for rule in rules})
    sizes, outside = room(topology, candidates)
    key, limit = short_key(topology.key), topology.constraint.max_skew
    least = min(sizes)
    there = per_domain(topology, tuple(sizes))
    small = [name for name, size in zip(topology.domains, sizes, strict=True) if size == least]
    free = f", and {outside} without the label" if outside else ""
    return (
        f"To pick per {key}: {there}{free}. {some_of(small, 'group')} can have {least}, so every "
        f"{key} can have at most {least} + maxSkew {limit} = {least + limit}: "
        f"{most_alone(topology, candidates)} in all."
    )


def _filter_text(setting: Setting, plugin: str) -> str:
    refused = [
        (cluster.name, refusal.reason)
        for cluster, found in zip(setting.clusters, setting.refusals, strict=True)
        for refusal in found
        if refusal.plugin == plugin
    ]
    names = [name for name, _ in refused]
    who = f"{len(names)} of {len(setting.clusters)} clusters"
    listed = f" ({', '.join(names)})" if len(names) <= NAMED else ""
    match plugin:
        case affinity.NAME:
            return f"The required affinity excludes {who}{listed}."
        case filters.TAINTS:
            has = "has" if len(names) == 1 else "have"
            return f"{who} {has} a taint that is not tolerated{listed}: {_taints(setting)}."
        case filters.ELIGIBILITY:
            return f"{who} can't receive anything{listed}: {_common(refused)}."
        case _:
            lacks = "lacks" if len(names) == 1 else "lack"
            return f"{who} {lacks} the namespace{listed}."


def _taints(setting: Setting) -> str:
    given = setting.policy.tolerations
    found = {str(filters.untolerated(cluster, given)) for cluster in setting.clusters} - {"None"}
    return some_of(sorted(found), "taint")


def _common(refused: Sequence[tuple[str, str]]) -> str:
    """One reason if it is everybody's, else each with its cluster."""
    reasons = {reason for _, reason in refused}
    if len(reasons) == 1:
        return refused[0][1]
    return "; ".join(f"{name}: {reason}" for name, reason in refused[:NAMED])
