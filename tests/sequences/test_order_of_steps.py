from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.scheduler.profile import default_profile
from planner.sequences.order import NoOrder, Order, Undecided, find_order
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner_models.node import HOSTNAME
from tests.sequences.few_pods import cluster, node, pods, spread

PROFILE = default_profile()


def order(
    built: Cluster, wanted: dict[tuple[int, int], int], **limits: int
) -> Order | NoOrder | Undecided:
    problem = build_problem(built, SolveOptions(rebalance=True))
    return find_order(problem, wanted, PROFILE, **limits)


def actions(found: Order | NoOrder | Undecided) -> list[str]:
    assert isinstance(found, Order)
    return [f"{step.action} {step.pod} {step.node}" for step in found.steps]


def test_pods_land_in_the_lowest_domain_first() -> None:
    nodes = [node("n1", "x"), node("n2", "y"), node("n3", "z")]
    built = cluster(nodes, pods("n1", "", "", "", "", spread=[spread()]))
    found = order(built, {(0, 0): 2, (0, 1): 2, (0, 2): 1})
    assert actions(found) == ["place 1 1", "place 2 2", "place 3 0", "place 4 1"]


def test_a_pod_is_evicted_only_when_its_replacement_can_land() -> None:
    nodes = [node("n1", "x"), node("n2", "y")]
    built = cluster(nodes, pods(*["n1"] * 4, spread=[spread()]))
    found = order(built, {(0, 0): 2, (0, 1): 2})
    assert actions(found) == ["evict 0 0", "place 0 1", "evict 1 0", "place 1 1"]


def test_a_landing_waits_for_the_departure_that_makes_its_room() -> None:
    nodes = [node("n1", cpu="1"), node("n2", cpu="1"), node("n3", cpu="1")]
    built = cluster(nodes, pods("n1", cpu="1"), pods("n2", app="b", cpu="1"))
    found = order(built, {(0, 1): 1, (1, 2): 1})
    assert actions(found) == ["evict 1 1", "place 1 2", "evict 0 0", "place 0 1"]


def test_two_pods_that_exchange_their_places_are_both_down_for_a_while() -> None:
    nodes = [node("n1", cpu="1"), node("n2", cpu="1")]
    built = cluster(nodes, pods("n1", cpu="1"), pods("n2", app="b", cpu="1"))
    found = order(built, {(0, 1): 1, (1, 0): 1})
    assert actions(found) == ["evict 1 1", "evict 0 0", "place 0 1", "place 1 0"]


def test_a_state_that_is_fine_on_paper_may_have_no_order() -> None:
    """Counts 1/0/5 by node, zones x and y+y; 3/2/2 keeps both constraints."""
    nodes = [node("n1", "x"), node("n2", "y"), node("n3", "y")]
    both = [spread(), spread(HOSTNAME)]
    built = cluster(nodes, pods("n1", *["n3"] * 5, "", spread=both))
    assert order(built, {(0, 0): 3, (0, 1): 2, (0, 2): 2}) == NoOrder()


def test_a_landing_on_a_node_that_static_rules_forbid_has_no_order() -> None:
    nodes = [node("n1"), node("n2", unschedulable=True)]
    built = cluster(nodes, pods("n1"))
    assert order(built, {(0, 1): 1}) == NoOrder()


def test_a_pod_that_loses_its_place_leaves_before_the_other_lands() -> None:
    built = cluster([node("n1", cpu="1")], pods("n1", cpu="1"), pods("", app="b", cpu="1"))
    assert actions(order(built, {(1, 0): 1})) == ["evict 0 0", "place 1 0"]


def test_a_proof_that_would_take_too_long_is_left_undecided() -> None:
    nodes = [node("n1", "x"), node("n2", "y"), node("n3", "y")]
    both = [spread(), spread(HOSTNAME)]
    built = cluster(nodes, pods("n1", *["n3"] * 5, "", spread=both))
    wanted = {(0, 0): 3, (0, 1): 2, (0, 2): 2}
    assert order(built, wanted, state_limit=2) == Undecided()


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=4),
    st.integers(0, 4),
    st.integers(1, 2),
    st.data(),
)
def test_under_one_constraint_every_state_with_even_landing_domains_has_an_order(
    now: list[int], waiting: int, skew: int, data: st.DataObject
) -> None:
    """SEMANTICS 2: such a final state is reachable exactly if receiving domains end in bounds."""
    nodes = [node(f"n{i}", f"z{i}") for i in range(len(now))]
    running = [f"n{i}" for i, count in enumerate(now) for _ in range(count)]
    if not running and not waiting:
        return
    built = cluster(nodes, pods(*running, *[""] * waiting, spread=[spread(skew=skew)]))
    placed = data.draw(st.integers(0, waiting))
    cuts = sorted(data.draw(st.integers(0, len(running) + placed)) for _ in range(len(now) - 1))
    final = [b - a for a, b in zip([0, *cuts], [*cuts, len(running) + placed], strict=True)]
    even = all(
        after <= min(final) + skew or after <= before
        for before, after in zip(now, final, strict=True)
    )
    found = order(built, {(0, i): count for i, count in enumerate(final)})
    assert isinstance(found, Order if even else NoOrder)
