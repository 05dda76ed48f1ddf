"""The first line of an explanation: subject and cause, for whoever reads no further."""

from __future__ import annotations

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.derive import Derivation
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.node_declared_features import FeatureRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.node_unschedulable import CordonRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import FILTERS, NARROWS, Rule
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.rules.volumes import VolumeRule
from planner.explain.situation.subject import Subject
from planner.words import amount_of, conjoined, count_of, resource_word
from planner_models.diagnosis import Counting


def cause(derivation: Derivation) -> str:
    """What leaves no node, without the verdict."""
    subject = derivation.subject
    narrowing = [step.rule for step in derivation.narrowing]
    later = [step.rule for step in (*derivation.filtering, *derivation.filling)]
    if len(narrowing) == 1 and not later:
        return _alone(subject, narrowing[0])
    if not narrowing and len(later) == 1:
        return _alone(subject, later[0])
    volume = next((rule for rule in narrowing if isinstance(rule, VolumeRule)), None)
    if volume is not None and len(narrowing) == 2 and not later:
        spread = next(rule for rule in narrowing if rule is not volume)
        left = volume.allowed
        return f"{subject.short}'s {_own(volume, left)}, and its {spread.brief(left)}"
    if len(narrowing) == 1 and len(later) == 1:
        return _pair(subject, narrowing[0], later[0], derivation)
    names = conjoined([rule.name for rule in (*narrowing, *later)])
    return f"{names} leave no node for {subject.headline}"


def stuck(derivation: Derivation, evictions: int) -> str:
    """`web needs room in eu-1b, and 1 eviction makes it`."""
    subject = derivation.subject
    number = count_of(evictions, "eviction")
    verb = "makes" if evictions == 1 else "make"
    rules = [step.rule for step in derivation.steps]
    room = next((rule for rule in rules if isinstance(rule, CapacityRule)), None)
    if room is None:
        return f"{cause(derivation)}; {number} {verb} room"
    place = " and ".join(p for p in (_place(r, r.allowed) for r in rules) if p)
    lacking = room.lacking(derivation.left_after(FILTERS))
    name = room.names[lacking[0]]
    if len(rules) > 2 and len(lacking) == 1:
        wanted = amount_of(name, int(room.request[lacking[0]]))
        where = f" in {place}" if place else ""
        return f"{subject.short} needs {wanted}{where}, and {number} {verb} room"
    where = f" in {place}" if place else ""
    return f"{subject.short} needs room{where}, and {number} {verb} it"


def pigeonhole(subject: Subject, counting: Counting) -> str:
    """`4 etcd pods, at most 1 per zone, and there are 3 zones`."""
    pods, domains = counting.numbers["pods"], counting.numbers["domains"]
    key = counting.numbers["key"]
    are = "there is 1" if domains == 1 else f"there are {domains}"
    plural = "" if domains == 1 else "s"
    who = "such" if subject.bare else subject.workload.name
    return f"{pods} {who} pods, at most 1 per {key}, and {are} {key}{plural}"


def _own(rule: Rule, left: BoolArray) -> str:
    return rule.brief(left).removeprefix("its ")


def _pair(subject: Subject, first: Rule, second: Rule, derivation: Derivation) -> str:
    """`web's zone spread allows eu-1c only, and eu-1c has no room`."""
    left = derivation.left_after(NARROWS)
    whose = "" if subject.bare else f"{subject.short}'s "
    place = _place(first, left)
    node = subject.places.names(left)[0] if int(left.sum()) == 1 else ""
    if isinstance(first, SpreadRule) and place:
        if isinstance(second, CapacityRule):
            return f"{whose}{first.name} allows {place} only, and {place} has no room"
        if isinstance(second, TaintRule):
            return f"{whose}{first.name} waits for {place}, where {subject.short} tolerates no node"
        if isinstance(second, CordonRule):
            only = node or place
            are = "is" if node else "is all"
            return f"{whose}{first.name} allows {only} only, and {only} {are} cordoned"
    second_left = derivation.left_after(FILTERS) if second.stage > FILTERS else left
    return f"{whose}{_own(first, left)}, and {second.brief(second_left)}"


def _place(rule: Rule, left: BoolArray) -> str:
    if not isinstance(rule, SpreadRule):
        return ""
    names = rule.open_names(left)
    return conjoined(names) if len(names) <= 2 else ""


def _alone(subject: Subject, rule: Rule) -> str:
    if isinstance(rule, SpreadRule):
        return _spread_alone(subject, rule)
    if isinstance(rule, CapacityRule):
        return _room_alone(subject, rule)
    if isinstance(rule, AntiAffinityRule) and rule.every_domain:
        return f"anti-affinity keeps {subject.headline} out of every {rule.keys}"
    if isinstance(rule, TaintRule):
        return f"{subject.headline} tolerates the taints of no node"
    if isinstance(rule, CordonRule):
        return f"every node is cordoned, so none takes {subject.headline}"
    if isinstance(rule, FeatureRule):
        return f"no node declares the features that {subject.headline} needs"
    return f"{rule.name} leaves no node for {subject.headline}"


def _spread_alone(subject: Subject, rule: SpreadRule) -> str:
    if rule.few_domains and rule.eligible.any():
        number = int(rule.eligible.sum())
        limit = "all at their limit" if number > 1 else "at its limit"
        are = "there are" if number > 1 else "there is"
        return (
            f"{subject.short} wants {rule.constraint.min_domains} {rule.key}s (minDomains) and "
            f"{are} {number}, {limit}"
        )
    if not rule.eligible.any():
        return f"no node takes part in {rule.name}, so none takes {subject.headline}"
    return f"{rule.name} leaves no node for {subject.headline}"


def _room_alone(subject: Subject, rule: CapacityRule) -> str:
    everywhere = rule.blocked
    lacking = rule.lacking(everywhere)
    if len(lacking) == 1:
        name = rule.names[lacking[0]]
        if int(rule.request[lacking[0]]) > int(rule.offered[:, lacking[0]].max()):
            wanted = amount_of(name, int(rule.request[lacking[0]]))
            most = amount_of(name, int(rule.offered[:, lacking[0]].max())).split(" ")[0]
            return f"{subject.short} needs {wanted}; no node has more than {most}"
        return f"every node is short of {resource_word(name)} for {subject.short}"
    words = conjoined([resource_word(rule.names[i]) for i in lacking], "or")
    return f"every node is short of {words} for {subject.short}"


def short_cause(derivation: Derivation) -> str:
    """The cause in a few words, for a row of a table."""
    narrowing = [step.rule for step in derivation.narrowing]
    later = [step.rule for step in (*derivation.filtering, *derivation.filling)]
    left = derivation.left_after(NARROWS)
    if len(narrowing) == 1 and isinstance(narrowing[0], SpreadRule) and later:
        place = _place(narrowing[0], left) or "few nodes"
        rest = _few_words(later[-1], derivation)
        return f"only {place} allowed, {rest}"
    if not narrowing and len(later) == 1:
        return _few_words(later[0], derivation)
    return conjoined([rule.name for rule in (*narrowing, *later)])


def _few_words(rule: Rule, derivation: Derivation) -> str:
    if isinstance(rule, CapacityRule):
        room = derivation.left_after(FILTERS)
        lacking = rule.lacking(room)
        name = rule.names[lacking[0]]
        if int(rule.request[lacking[0]]) > int(rule.offered[:, lacking[0]].max()):
            most = amount_of(name, int(rule.offered[:, lacking[0]].max())).split(" ")[0]
            return f"{amount_of(name, int(rule.request[lacking[0]]))}; no node has more than {most}"
        return f"no {resource_word(name)} left"
    if isinstance(rule, TaintRule):
        return "taints not tolerated"
    if isinstance(rule, AntiAffinityRule):
        domains = len(rule.counts)
        return f"at most 1 per {rule.keys}, {domains} {rule.keys}s"
    return rule.name
