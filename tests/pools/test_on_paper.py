"""Nodes on paper: whole pods where they fit best, checked by the judge of plans."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings

from planner.cluster import Cluster
from planner.pools.by_patterns import by_patterns, repair
from planner.pools.fill import Filling
from planner.pools.on_paper import Paper, PaperSet
from planner.pools.question import most_nodes, question_of
from planner.pools.rising_cost import by_rising_cost
from planner.pools.search import Search
from planner.replay.final import check_final
from planner.replay.judge import refusal
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner.solver.scale_up.exact import ExactNodes
from tests.objects import HOSTNAME, ZONE, cluster_of, node
from tests.pools.peers.worlds import affinity, pods, spread
from tests.pools.peers.worlds import filling_of as filled_by
from tests.pools.templates import pool
from tests.pools.test_naive_twin import EXAMPLES, MOST, SEEDS, filling_of
from tests.pools.test_scale_up import searching

PROFILE = default_profile()
FULL = node("n1", "a", status={"allocatable": {"cpu": "100m", "memory": "1Gi", "pods": "9"}})
FEW_PLACINGS = 2_000


def on_paper(filling: Filling, seconds: float = 2.0) -> tuple[Search, PaperSet | None]:
    """A first answer, and the cheapest nodes on paper that are found from it."""
    search = searching(filling)
    by_rising_cost(search, until=1.0)
    begun = by_patterns(search, until=search.spent + 2.0)
    if search.found is None:
        repair(search, begun, until=search.spent + 2.0)
    if search.found is None or search.sets is None:
        return search, None
    paper = Paper(search)
    paper.improve(search.found, search.spent + seconds)
    return search, paper.told()


def test_four_small_pods_and_a_big_one_fit_on_two_nodes() -> None:
    """kube-scheduler spreads the small ones over both, and leaves no room for the big one."""
    small_before_big = cluster_of(FULL, pods("a-small", 4, "1"), pods("b-big", 1, "4"))
    search, paper = on_paper(filled_by(small_before_big, pool("large", "4", price="1")))
    assert search.found is not None
    assert paper is not None
    assert (search.found.added.counts, paper.counts, paper.bound) == ((5,), (2,), 2)
    assert [(each.workload.name, each.pods) for each in paper.waiting] == [("b-big", 1)]
    assert (paper.pods, paper.seeds) == (5, 20)


def test_rules_hold_in_the_final_state() -> None:
    """Over hosts, over zones, alone on a host, and together in a zone."""
    workloads = (
        pods("hosts", 7, "700m", topologySpreadConstraints=[spread(HOSTNAME)]),
        pods("zones", 9, "300m", topologySpreadConstraints=[spread(ZONE)]),
        pods("alone", 3, "200m", **affinity("podAntiAffinity", HOSTNAME, "alone")),
        pods("near", 5, "400m", **affinity("podAffinity", ZONE, "near")),
    )
    pools = [pool(f"p{n}", str(n), f"{4 * n}Gi", price=str(n), zones="a,b,c") for n in (1, 2, 4)]
    there = [node(f"n{z}", z, status={"allocatable": {"cpu": "1", "memory": "4Gi"}}) for z in "abc"]
    search, paper = on_paper(filled_by(cluster_of(*there, *workloads), *pools))
    assert paper is not None
    assert search.found is not None
    assert paper.bound <= paper.cost <= search.least.cost(search.found.added.counts)
    _legal(search.filling, paper)


def test_groups_that_keep_apart_from_others_stay_where_kube_scheduler_put_them() -> None:
    """Such rules are not in the model: what is told stands the check all the same."""
    workloads = (
        pods("web", 3, "1", **affinity("podAntiAffinity", HOSTNAME, "db")),
        pods("db", 2, "1"),
        pods("job", 6, "500m"),
    )
    filling = filled_by(cluster_of(FULL, *workloads), pool("large", "4", price="1"))
    _, paper = on_paper(filling)
    assert paper is not None
    _legal(filling, paper)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_the_cost_is_between_the_bound_and_the_answer(seed: int) -> None:
    filling = filling_of(seed)
    if not filling.goal:
        return
    search, paper = on_paper(filling, seconds=0.5)
    if paper is None:
        return
    assert search.found is not None
    assert paper.bound <= paper.cost <= search.least.cost(search.found.added.counts)
    assert paper.cost == search.least.cost(paper.counts)
    _legal(filling, paper)
    question = question_of(filling, most_nodes(filling, paper.cost))
    assert question is not None
    optimum = ExactNodes(question).best(10.0)
    assert optimum.bound <= paper.cost


@settings(max_examples=EXAMPLES, deadline=None)
@given(SEEDS)
def test_the_bound_is_no_more_than_the_cheapest_of_all_placings(seed: int) -> None:
    """Every set with every way to land, each judged: none is below the bound."""
    filling = filling_of(seed)
    if not filling.goal:
        return
    search, paper = on_paper(filling, seconds=0.5)
    if paper is None:
        return
    least = _cheapest(search, paper.cost)
    assert least is None or paper.bound <= least


def test_the_same_question_has_the_same_answer() -> None:
    cluster = cluster_of(FULL, pods("a-small", 9, "700m"), pods("b-big", 3, "2"))
    pools = [pool(f"p{n}", str(n), f"{4 * n}Gi", price=str(n)) for n in (2, 3)]
    first, second = (on_paper(filled_by(cluster, *pools))[1] for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.counts, first.waiting) == (second.counts, second.waiting)
    assert first.cluster.node_of.tolist() == second.cluster.node_of.tolist()


def _legal(filling: Filling, paper: PaperSet) -> None:
    """Everybody runs, and the judge of plans finds nothing wrong."""
    assert all(paper.cluster.node_of[pod] >= 0 for pod in filling.goal)
    assert check_final(filling.add(paper.counts).cluster, paper.cluster, PROFILE).good


def _cheapest(search: Search, most: int) -> int | None:
    """The least cost of all sets and placings that cost less, as far as they can be counted."""
    filling = search.filling
    sets = product(range(MOST + 1), repeat=len(filling.offers))
    for counts in sorted(sets, key=search.value):
        if search.least.cost(counts) < most and _placed(filling, filling.add(counts).cluster):
            return search.least.cost(counts)
    return None


def _placed(filling: Filling, cluster: Cluster) -> bool:
    """Whether the goal can land one after the other in some order, somewhere.

    Two that are each other's only mates could both stay in the end, but neither could be first.
    """
    nodes = [i for i in range(len(cluster.nodes)) if i not in cluster.ghosts]
    if len(nodes) ** len(filling.goal) > FEW_PLACINGS:
        return False
    state = SchedulingState(cluster)
    return _lands(state, Scheduler(state, PROFILE), frozenset(filling.goal), nodes, set())


def _lands(
    state: SchedulingState,
    scheduler: Scheduler,
    left: frozenset[int],
    nodes: list[int],
    seen: set[frozenset[tuple[int, int]]],
    landed: frozenset[tuple[int, int]] = frozenset(),
) -> bool:
    if not left or landed in seen:
        return not left
    seen.add(landed)
    for pod, home in product(sorted(left), nodes):
        if refusal(scheduler, pod, home) is None:
            state.place(pod, home)
            found = _lands(state, scheduler, left - {pod}, nodes, seen, landed | {(pod, home)})
            state.remove(pod)
            if found:
                return True
    return False
