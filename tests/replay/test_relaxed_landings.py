from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import Cluster
from planner.documents.plan import make_plan
from planner.replay.landings import BrokenLanding, broken_landings
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.node import HOSTNAME, ZONE
from tests.agreement.clusters import random_cluster
from tests.sequences.few_pods import REQUIRED, apart, cluster, node, pods, spread

TWO_ZONES = [node("n1", "x"), node("n2", "y")]


def near(key: str, app: str) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAffinity": {REQUIRED: [term]}}


def landing(before: Cluster, placed: dict[int, int]) -> tuple[BrokenLanding, ...]:
    return broken_landings(before, before.with_placement(placed))


def test_a_domain_that_receives_a_pod_is_broken_by_all_of_its_excess() -> None:
    before = cluster(TWO_ZONES, pods("n1", "n1", "", spread=[spread()]))
    (broken,) = landing(before, {2: 0})
    assert (broken.domain, broken.count, broken.allowed, broken.pods) == ("x", 3, 1, (2,))


def test_pods_that_count_for_a_rule_of_others_break_nothing() -> None:
    """The selector is about the second, and only the first has the constraint."""
    before = cluster(TWO_ZONES, pods("n1", spread=[spread(app="b")]), pods("n1", "", app="b"))
    assert landing(before, {2: 0}) == ()


def test_each_pod_beside_one_it_must_not_be_beside_counts() -> None:
    before = cluster(TWO_ZONES, pods("n1", "", "", affinity=apart()))
    (broken,) = landing(before, {1: 0, 2: 0})
    assert (broken.count, broken.allowed, broken.pods) == (3, 1, (1, 2))


def test_nobody_is_near_a_pod_that_needs_company() -> None:
    before = cluster(TWO_ZONES, pods("n1", app="b"), pods("", "", affinity=near(ZONE, "b")))
    (broken,) = landing(before, {1: 0, 2: 1})
    assert (broken.rule, broken.domain, broken.pods) == ("podAffinity", "y", (2,))


def test_the_first_of_pods_that_are_near_each_other_may_be_anywhere() -> None:
    before = cluster(TWO_ZONES, pods("", "", "", affinity=near(HOSTNAME, "a")))
    assert landing(before, {0: 0, 1: 0, 2: 0}) == ()
    (broken,) = landing(before, {0: 0, 1: 1, 2: 1})
    assert broken.excess == 1


def test_a_node_without_the_label_breaks_the_rule_for_each_pod() -> None:
    before = cluster([node("n1", "x"), node("n2")], pods("", "", spread=[spread()]))
    (broken,) = landing(before, {0: 1, 1: 1})
    assert (broken.domain, broken.count, broken.allowed) == (None, 2, 0)


@pytest.mark.parametrize("rebalance", [False, True])
@pytest.mark.parametrize("seed", [*range(40), 68, 156, 157, 174, 202, 211, 234])
def test_what_is_listed_adds_up_to_what_the_solver_says(seed: int, rebalance: bool) -> None:
    found = random_cluster(seed, nodes=3, pods=5)
    options = SolveOptions(relax=True, rebalance=rebalance)
    plan = make_plan(found, options, default_profile())
    weight = sum(violation.count - violation.allowed for violation in plan.broken)
    assert weight == next(o.value for o in plan.objectives if o.name == "broken")
