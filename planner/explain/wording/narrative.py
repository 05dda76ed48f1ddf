"""A derivation as prose: a rule per paragraph, numbers next to names; the end begins with "So"."""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.derive import Derivation, DerivationStep
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import FILTERS, NARROWS, of_type
from planner.words import NAMED, conjoined, joined_sentences


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


def _narrowing(step: DerivationStep, *, first: bool) -> str:
    everything = np.ones_like(step.before)
    return step.rule.sentence(everything, first=first) + step.rule.remark()


def _meeting(steps: tuple[DerivationStep, ...]) -> str:
    """`node2 is in zoneA.`: where the last rule's nodes lie by the first one's domains."""
    spreads = of_type((step.rule for step in steps), SpreadRule)
    return spreads[0].located(spreads[-1].allowed) if len(spreads) == len(steps) else ""


def _rest(derivation: Derivation) -> str:
    """Filters and room, about the nodes that the narrowing left."""
    left = derivation.left_after(NARROWS)
    place = conjoined(_domains_left(derivation))
    filtering = derivation.filtering
    sentences: list[str] = []
    if filtering:
        sentences.append(_filters(derivation, left, place))
        if len(filtering) == 1 and filtering[0].rule.kind == "taints":
            tainted = filtering[0].rule.blocked
            spreads = of_type(derivation.rules, SpreadRule)
            known = [spread.counts_all_the_same(tainted) for spread in spreads]
            sentences.append(next((text for text in known if text), ""))
    for rule in of_type(derivation.rules, CapacityRule):
        room = derivation.left_after(FILTERS)
        if filtering and room.any():
            number = int(room.sum())
            names = str(number) if number > NAMED else derivation.subject.nodes.describe(room)
            sentences.append(f"That leaves {names}{' alone' if number == 1 else ''}.")
        first = not derivation.narrowing and not filtering
        sentences.append(rule.paragraph(room, "" if filtering else place, first=first))
    return joined_sentences(sentences)


def _domains_left(derivation: Derivation) -> list[str]:
    """What a single narrowing rule left, by its own domains."""
    rules = [step.rule for step in derivation.narrowing]
    return rules[0].domains_left(derivation.left_after(NARROWS)) if len(rules) == 1 else []


def _filters(derivation: Derivation, left: BoolArray, place: str) -> str:
    """All rules about single nodes; from seven nodes on as one sum."""
    steps = [step for step in derivation.filtering if step.removed.any()]
    number = int(left.sum())
    if number <= NAMED or len(steps) == 1:
        return " ".join(
            step.rule.filter_sentence(step.before, place if i == 0 else "")
            for i, step in enumerate(steps)
        )
    parts = [step.rule.clause(step.removed) for step in steps]
    whole = f"Of the {number} nodes{' in ' + place if place else ''}"
    return f"{whole}, {', and '.join(parts)}."


def _conclusion(derivation: Derivation, *, now: bool) -> str:
    narrowing, later = derivation.narrowing, derivation.filtering + derivation.filling
    end = " now" if now else ""
    if not later and len(narrowing) == 2:
        return "So no node satisfies both."
    if not later and len(narrowing) > 2:
        return "So no node satisfies all of them."
    domains = _domains_left(derivation)
    rooms = of_type(derivation.rules, CapacityRule) if len(later) == 1 else ()
    need = "".join(room.needed(derivation.left_after(FILTERS)) for room in rooms)
    if domains and need:
        verb = "is" if len(domains) == 1 else "are"
        return (
            f"So, because only {conjoined(domains)} {verb} allowed and no node there has {need} "
            f"free, no node is left{end}."
        )
    return f"So no node is left{end}."
