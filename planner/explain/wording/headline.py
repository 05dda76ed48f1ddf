"""The first line of an explanation: subject and cause, for whoever reads no further."""

from __future__ import annotations

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.derive import Derivation
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import FILTERS, NARROWS, Rule, of_type
from planner.explain.situation.subject import Subject
from planner.words import conjoined, count_of
from planner_models.diagnosis import Counting


def cause(derivation: Derivation) -> str:
    """What leaves no node, without the verdict."""
    subject, rules = derivation.subject, derivation.rules
    narrowing = [step.rule for step in derivation.narrowing]
    if len(rules) == 1:
        return rules[0].alone()
    volume = next((rule for rule in narrowing if rule.kind == "volumes"), None)
    if volume is not None and len(narrowing) == len(rules) == 2:
        spread = next(rule for rule in narrowing if rule is not volume)
        left = volume.allowed
        return f"{subject.short}'s {volume.brief(left)}, and its {spread.brief(left)}"
    if len(narrowing) == 1 and len(rules) == 2:
        return _pair(rules[0], rules[1], derivation)
    return f"{conjoined([rule.name for rule in rules])} leave no node for {subject.headline}"


def _pair(first: Rule, second: Rule, derivation: Derivation) -> str:
    """`web's zone spread allows eu-1c only, and eu-1c has no room`."""
    subject, left = derivation.subject, derivation.left_after(NARROWS)
    whose = "" if subject.bare else f"{subject.short}'s "
    place = _place(first, left)
    known = second.after_spread(f"{whose}{first.name}", place, left) if place else ""
    if known:
        return known
    second_left = derivation.left_after(FILTERS) if second.phase > FILTERS else left
    return f"{whose}{first.brief(left)}, and {second.brief(second_left)}"


def _place(rule: Rule, left: BoolArray) -> str:
    """The domains that a spread constraint leaves, if they are few."""
    names = [name for spread in of_type((rule,), SpreadRule) for name in spread.open_names(left)]
    return conjoined(names) if len(names) <= 2 else ""


def stuck(derivation: Derivation, evictions: int) -> str:
    """`web needs room in eu-1b, and 1 eviction makes it`."""
    who, rules = derivation.subject.short, derivation.rules
    number = count_of(evictions, "eviction")
    verb = "makes" if evictions == 1 else "make"
    capacity = of_type(rules, CapacityRule)
    if not capacity:
        return f"{cause(derivation)}; {number} {verb} room"
    place = " and ".join(p for p in (_place(r, r.allowed) for r in rules) if p)
    where = f" in {place}" if place else ""
    wanted = capacity[0].needed(derivation.left_after(FILTERS))
    if len(rules) > 2 and wanted:
        return f"{who} needs {wanted}{where}, and {number} {verb} room"
    return f"{who} needs room{where}, and {number} {verb} it"


def pigeonhole(subject: Subject, counting: Counting) -> str:
    """`4 etcd pods, at most 1 per zone, and there are 3 zones`."""
    pods, domains = counting.numbers["pods"], counting.numbers["domains"]
    key = counting.numbers["key"]
    are = "there is 1" if domains == 1 else f"there are {domains}"
    plural = "" if domains == 1 else "s"
    who = "such" if subject.bare else subject.workload.name
    return f"{pods} {who} pods, at most 1 per {key}, and {are} {key}{plural}"


def short_cause(derivation: Derivation) -> str:
    """The cause in a few words, for a row of a table."""
    rules, narrowing = derivation.rules, derivation.narrowing
    left = derivation.left_after(FILTERS)
    if len(rules) == 1 and not narrowing:
        return rules[0].few_words(left)
    if len(narrowing) == 1 and len(rules) > 1 and rules[0].kind == "topologySpread":
        place = _place(rules[0], derivation.left_after(NARROWS)) or "few nodes"
        return f"only {place} allowed, {rules[-1].few_words(left)}"
    return conjoined([rule.name for rule in rules])
