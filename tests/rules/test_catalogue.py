"""The catalogue against those who judge: every filter has a card, an encoding and a wording."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from planner.cluster import Cluster
from planner.explain.rules import rules_of
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import subject_of
from planner.rules import CARDS, HELPED_BY, NOT_MODELLED, BreakableRule, RelaxableRule, RuleCard
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import FILTERS, default_profile
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.route import solve
from planner_models.diagnosis import RuleKind
from planner_models.plan import HardRule
from tests.objects import cluster_of
from tests.rules.rule_examples import EXAMPLES, NEEDS_NO_EXAMPLE, cards_without_example, key_of

PROFILE = default_profile()
WITH_EXAMPLE = [card for card in CARDS if key_of(card) not in NEEDS_NO_EXAMPLE]


def example(card: RuleCard) -> tuple[Cluster, int]:
    """The cluster that the card's rule alone closes, and the pod that waits."""
    built = cluster_of(*EXAMPLES[key_of(card)])
    return built, built.pod_index["default/web"]


def wordings(root: type[Rule] = Rule) -> set[RuleKind]:
    """The kinds that have a class of explain's own."""
    own: set[RuleKind] = {root.kind} if hasattr(root, "kind") else set()
    return own.union(*(wordings(each) for each in root.__subclasses__()))


each_rule = pytest.mark.parametrize("card", WITH_EXAMPLE, ids=lambda c: f"{c.kind}-{c.plugin}")


def test_every_filter_of_the_default_profile_has_a_card() -> None:
    carded = {card.plugin for card in CARDS} | NOT_MODELLED.keys()
    assert [name for name in PROFILE.resolved.filter if name not in carded] == []


def test_every_card_is_of_a_filter_that_the_scheduler_has() -> None:
    assert {card.plugin for card in CARDS} == set(FILTERS)


def test_every_card_has_an_example() -> None:
    assert cards_without_example() == []


def test_every_kind_of_rule_has_a_wording_in_explain() -> None:
    assert {card.kind for card in CARDS} - wordings() == set()


@each_rule
def test_the_scheduler_refuses_the_example_by_this_plugin_alone(card: RuleCard) -> None:
    built, pod = example(card)
    evaluation = Scheduler(SchedulingState(built), PROFILE).evaluate(pod)
    refusals = {status.plugin for found in evaluation.refusals().values() for status in found}
    assert evaluation.plugins | refusals == {card.plugin}


@each_rule
def test_the_solver_places_no_pod_against_the_rule(card: RuleCard) -> None:
    built, _ = example(card)
    problem = build_problem(built, SolveOptions())
    assert solve(problem).unplaced == {int(built.group_of[built.pod_index["default/web"]]): 1}


@each_rule
def test_explain_says_the_rule_in_words(card: RuleCard) -> None:
    built, pod = example(card)
    (found,) = rules_of(subject_of(built, PROFILE, pod))
    assert found.kind == card.kind
    assert found.sentence(np.ones(1, np.bool_), first=True)


def test_documents_name_every_rule_that_plans_can_break() -> None:
    broken = {card.kind for card in CARDS if card.broken_name}
    assert broken == set(get_args(HardRule))
    assert broken == set(get_args(BreakableRule)) | set(get_args(RelaxableRule))


def test_a_rule_that_running_pods_break_says_how_unless_it_is_a_matter_of_counts() -> None:
    breaches = {card.kind for card in CARDS if card.breach}
    assert breaches == {card.kind for card in CARDS if card.breakable} - {"topologySpread"}


def test_type_checkers_know_the_rules_as_their_cards_tell() -> None:
    own = [card for card in CARDS if card.stated_by == "pod"]
    assert {card.kind for card in CARDS if card.breakable} == set(get_args(BreakableRule))
    assert {card.kind for card in own if card.relaxable} == set(get_args(RelaxableRule))


def test_documents_know_no_rule_without_a_card() -> None:
    assert set(get_args(RuleKind)) - {"replicas"} == {card.kind for card in CARDS}


def test_cards_of_one_kind_agree_in_name_and_fields() -> None:
    said: dict[RuleKind, set[tuple[str, tuple[str, ...]]]] = {}
    for card in CARDS:
        said.setdefault(card.kind, set()).add((card.name, card.fields))
    assert [kind for kind, names in said.items() if len(names) > 1] == []


def test_a_rule_that_counts_no_pods_is_monotone_and_helped_by_no_pod_that_comes_or_goes() -> None:
    static = [card for card in CARDS if not card.counts_pods]
    events = {event.name for card in static for event in card.helped_by}
    assert all(card.monotone for card in static)
    assert events.isdisjoint({"POD_ADDED", "POD_REMOVED"})
    assert HELPED_BY.keys() == set(FILTERS)
