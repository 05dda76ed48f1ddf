"""A derivation as prose: a rule per paragraph, numbers next to names; the end begins with "So"."""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.derive import Derivation, Step
from planner.explain.rules.node_affinity import NodeAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.node_unschedulable import CordonRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import FILTERS, NARROWS, Rule
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.rules.volumes import VolumeRule
from planner.explain.situation.subject import Subject
from planner.words import (
    NAMED,
    amount,
    amount_of,
    capitalised,
    conjoined,
    resource_word,
)


def narrative(derivation: Derivation, *, now: bool) -> tuple[str, ...]:
    """The paragraphs; `now` for pods that are only stuck."""
    if not derivation.steps:
        return ()
    paragraphs = [_narrowing(step, first=i == 0) for i, step in enumerate(derivation.narrowing)]
    rest = _rest(derivation)
    if rest:
        paragraphs.append(rest)
    elif len(derivation.narrowing) > 1:
        paragraphs.append(_meeting(derivation.narrowing))
    paragraphs[-1] = f"{paragraphs[-1]} {_conclusion(derivation, now=now)}"
    return tuple(p.strip() for p in paragraphs)


def _narrowing(step: Step, *, first: bool) -> str:
    everything = np.ones_like(step.before)
    return step.rule.sentence(everything, first=first) + _aside(step.rule)


def _aside(rule: Rule) -> str:
    """What surprises about domains that count although the pod can't go there."""
    if not isinstance(rule, SpreadRule):
        return ""
    subject = rule.subject
    reach = subject.state.volumes.of(subject.group)
    if reach is not None and _volumes_pin(subject, rule):
        return f" {capitalised(rule.key)}s that the volume can't reach count all the same."
    return ""


def _volumes_pin(subject: Subject, rule: SpreadRule) -> bool:
    from planner.explain.rules.volumes import find

    reach = np.zeros(len(rule.topology.domains), np.bool_)
    for found in find(subject):
        inside = rule.topology.domain_of[found.allowed]
        reach[inside[inside >= 0]] = True
        return bool((rule.eligible & rule.open_domains & ~reach).any())
    return False


def _meeting(steps: tuple[Step, ...]) -> str:
    """`node2 is in zoneA.`: where the last rule's nodes lie by the first one's domains."""
    first, last = steps[0].rule, steps[-1].rule
    if isinstance(first, VolumeRule):
        first, last = last, first
    nodes = last.allowed
    if not isinstance(first, SpreadRule) or isinstance(last, VolumeRule) or not nodes.any():
        return ""
    domains = np.unique(first.topology.domain_of[nodes])
    if domains[0] < 0 or len(domains) > 2 or int(nodes.sum()) > NAMED:
        return ""
    names = conjoined([first.topology.domains[i] for i in domains.tolist()])
    verb = "is" if int(nodes.sum()) == 1 else "are"
    within = first.subject.places.within(first.constraint.topology_key)
    return f"{last.subject.places.describe(nodes)} {verb} {within} {names}."


def _rest(derivation: Derivation) -> str:
    """Filters and room, about the nodes that the narrowing left."""
    left = derivation.left_after(NARROWS)
    where = _where(derivation, left)
    sentences: list[str] = []
    filtering = derivation.filtering
    if filtering:
        sentences.append(_filters(derivation, left, where))
        if filtering[0].rule.kind == "taints" and len(filtering) == 1 and derivation.narrowing:
            sentences.append(_still_counts(derivation, filtering[0].rule))
    if derivation.filling:
        room = derivation.left_after(FILTERS)
        if filtering and room.any():
            number = int(room.sum())
            names = str(number) if number > NAMED else derivation.subject.places.describe(room)
            sentences.append(f"That leaves {names}{' alone' if number == 1 else ''}.")
        first = not derivation.narrowing and not filtering
        opening = derivation.filling[0].rule
        assert isinstance(opening, CapacityRule)
        sentences.append(_room(opening, room, "" if filtering else where, first=first))
    return " ".join(s for s in sentences if s)


def _where(derivation: Derivation, left: BoolArray) -> str:
    """`in eu-1c`: what the narrowing left, by the domains of a single spread constraint."""
    rules = [step.rule for step in derivation.narrowing]
    if len(rules) != 1:
        return ""
    rule = rules[0]
    if isinstance(rule, SpreadRule):
        names = rule.open_names(left)
        if rule.subject.places.per_node(rule.constraint.topology_key):
            return ""
        return f"in {conjoined(names)}" if len(names) <= 3 else ""
    if isinstance(rule, VolumeRule) and rule.zones():
        return f"in {conjoined(rule.zones())}"
    return ""


def _filters(derivation: Derivation, left: BoolArray, where: str) -> str:
    """All rules about single nodes; from seven nodes on as one sum."""
    steps = [step for step in derivation.filtering if step.removed.any()]
    number = int(left.sum())
    if number <= NAMED or len(steps) == 1:
        return " ".join(
            _filter(step.rule, step.before, where if i == 0 else "") for i, step in enumerate(steps)
        )
    parts = [_part(step) for step in steps]
    whole = f"Of the {number} nodes{' ' + where if where else ''}"
    return f"{whole}, {', and '.join(parts)}."


def _part(step: Step) -> str:
    rule, number = step.rule, int(step.removed.sum())
    if isinstance(rule, NodeAffinityRule):
        verb = ("lacks" if number == 1 else "lack") if rule.equals else "do not match"
        return f"{number} {verb} {rule.asked}"
    if isinstance(rule, TaintRule):
        taints = conjoined([str(t) for t in rule.taints_at(step.removed)[:2]], "or")
        verb = "has" if number == 1 else "have"
        return f"{number} {verb} the taint {taints}, which {rule.subject.short} does not tolerate"
    if isinstance(rule, CordonRule):
        return f"{number} {'is' if number == 1 else 'are'} cordoned"
    return f"{number} {'is' if number == 1 else 'are'} refused by {rule.name}"


def _filter(rule: Rule, left: BoolArray, where: str) -> str:
    number = int((left & rule.blocked).sum())
    text = rule.sentence(left, first=True)
    if not where or number != int(left.sum()):
        return text
    names = conjoined(rule.subject.places.names(left))
    place = where.removeprefix("in ")
    if number == 1 and isinstance(rule, CordonRule):
        return f"{place} has one node, {names}, which is cordoned."
    if number == 1:
        return f"{place} has one node. {text}"
    for old in (f"Both of them, {names},", f"Both, {names},", f"All {number}"):
        if text.startswith(old):
            new = f"Both nodes {where}" if number == 2 else f"All {number} nodes {where}"
            return new + text[len(old) :]
    return text


def _still_counts(derivation: Derivation, rule: Rule) -> str:
    """A tainted domain is a domain all the same, unless nodeTaintsPolicy says otherwise."""
    for step in derivation.narrowing:
        spread = step.rule
        if isinstance(spread, SpreadRule) and spread.constraint.node_taints_policy == "Ignore":
            inside = spread.topology.domain_of[step.rule.allowed & rule.blocked]
            if len(inside) and spread.eligible[inside[inside >= 0]].any():
                return (
                    f"They count as a {spread.key} all the same, because nodeTaintsPolicy is "
                    "Ignore (the default)."
                )
    return ""


def _room(rule: CapacityRule, room: BoolArray, where: str, *, first: bool) -> str:
    number = int(room.sum())
    lacking = rule.lacking(room)
    if len(lacking) == 1 and number > NAMED:
        name = rule.names[lacking[0]]
        free = np.maximum(rule.free[room, lacking[0]], 0)
        low, high = amount(name, int(free.min())), amount(name, int(free.max()))
        span = low if low == high else f"{low} to {high}"
        who = rule.subject.short
        needs = amount(name, int(rule.request[lacking[0]]))
        largest = int(rule.offered[room, lacking[0]].max())
        word = resource_word(name)
        if rule.request[lacking[0]] > largest:
            return rule.sentence(room, first=first)
        head = "Every node has" if bool(room.all()) else f"All {number} have"
        return f"{head} {span} {word} free; {who} needs {needs}."
    text = rule.sentence(room, first=first)
    if where and number == 2:
        names = conjoined(rule.subject.places.names(room))
        return text.replace(f"{names} are", f"Both nodes {where} are", 1)
    return text


def _conclusion(derivation: Derivation, *, now: bool) -> str:
    narrowing, later = derivation.narrowing, derivation.filtering + derivation.filling
    end = " now" if now else ""
    if not later and len(narrowing) == 2:
        return "So no node satisfies both."
    if not later and len(narrowing) > 2:
        return "So no node satisfies all of them."
    room = derivation.filling[0].rule if derivation.filling else None
    place = _where(derivation, derivation.left_after(NARROWS))
    if isinstance(room, CapacityRule) and place and len(later) == 1:
        lacking = room.lacking(derivation.left_after(FILTERS))
        if len(lacking) == 1:
            need = amount_of(room.names[lacking[0]], int(room.request[lacking[0]]))
            there = place.removeprefix("in ")
            verb = "is" if " and " not in there else "are"
            return (
                f"So, because only {there} {verb} allowed and no node there has {need} free, no "
                f"node is left{end}."
            )
    return f"So no node is left{end}."
