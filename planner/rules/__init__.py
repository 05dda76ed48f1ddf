"""The catalogue of rules: what each rule of kube-scheduler's filters is, as data.

It judges nothing. Scheduler, solver and explain each judge by code of their own; what they need to
know *about* a rule (does it count pods, can it be relaxed, what is it called) stands here, once.
"""

from planner.rules.card import BreakableRule, RelaxableRule, RuleCard
from planner.rules.catalogue import (
    CARDS,
    HELPED_BY,
    LOCAL_PLUGINS,
    MONOTONE,
    NOT_MODELLED,
    RELAXABLE_PLUGINS,
    STATIC,
    TAKEN_ON_NODE,
    breakable_rules,
    card_of,
    cards_of_plugin,
)
from planner.rules.events import NODE_CHANGED, Event

__all__ = [
    "CARDS",
    "HELPED_BY",
    "LOCAL_PLUGINS",
    "MONOTONE",
    "NODE_CHANGED",
    "NOT_MODELLED",
    "RELAXABLE_PLUGINS",
    "STATIC",
    "TAKEN_ON_NODE",
    "BreakableRule",
    "Event",
    "RelaxableRule",
    "RuleCard",
    "breakable_rules",
    "card_of",
    "cards_of_plugin",
]
