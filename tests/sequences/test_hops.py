from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import PENDING, Cluster
from planner.disruption.budgets import allowances
from planner.documents.plan import make_plan
from planner.replay import Step, check_steps
from planner.report.tables import plan_table
from planner.report.text.blocks import plain_text
from planner.scheduler.profile import default_profile
from planner.sequences.hops import other_orders, waiting_pods, with_hops
from planner.sequences.order import Order
from planner.sequences.plan import plan_outcome
from planner.sequences.waves import Waves, guess_waves, plan_waves
from planner.solver.problem.options import SolveOptions
from planner_models.node import HOSTNAME
from tests.sequences.few_pods import cluster, node, pods
from tests.sequences.test_order_of_steps import order

PROFILE = default_profile()


def ring(size: int, spare: int = 1) -> tuple[Cluster, tuple[Step, ...]]:
    """Full nodes of which each pod is to go to the next one, and spare nodes."""
    nodes = [node(f"n{i}", cpu="1") for i in range(size)]
    nodes += [node(f"spare{i}", cpu="1") for i in range(spare)]
    groups = [pods(f"n{i}", app=f"app{i}", cpu="1") for i in range(size)]
    built = cluster(nodes, *groups)
    found = order(built, {(i, (i + 1) % size): 1 for i in range(size)})
    assert isinstance(found, Order)
    return built, found.steps


def hopped(built: Cluster, steps: tuple[Step, ...], most: int | None = None) -> Waves | None:
    """The order with hops in waves, if it passes its check."""
    suggested = with_hops(built, steps, PROFILE, most)
    if suggested is None:
        return None
    waves = plan_waves(built, suggested, allowances(built), PROFILE)
    return waves if check_steps(built, waves.steps, PROFILE).good else None


@given(st.integers(2, 6))
def test_a_circle_is_broken_by_one_hop_and_nobody_waits(size: int) -> None:
    built, steps = ring(size)
    found = hopped(built, steps)
    assert found is not None
    assert sum(step.temporary for step in found.steps) == 1
    assert {step.action for step in found.steps} == {"move"}
    assert check_steps(built, found.steps, PROFILE).evictions == size + 1
    assert check_steps(built, found.steps, PROFILE, terminating=True).good


def test_without_a_node_to_hop_to_one_pod_waits() -> None:
    built, steps = ring(3, spare=0)
    assert hopped(built, steps) is None
    assert len(waiting_pods(steps)) == 1


def test_no_hop_is_made_beyond_the_evictions_that_are_allowed() -> None:
    built, steps = ring(3)
    assert hopped(built, steps, most=0) is None


def test_the_pod_goes_on_only_when_it_is_ready_where_it_hopped_to() -> None:
    built, steps = ring(2)
    found = hopped(built, steps)
    assert found is not None
    (there,) = (i for i, wave in enumerate(found.waves) for step in wave if step.temporary)
    (pod,) = (step.pod for step in found.steps if step.temporary)
    on = [i for i, wave in enumerate(found.waves) if any(s.pod == pod for s in wave)]
    assert on == [there, 2]
    assert [len(wave) for wave in found.waves] == [1, 1, 1]


def test_any_other_pod_of_the_circle_may_wait_instead() -> None:
    built, steps = ring(4, spare=0)
    (first,) = waiting_pods(steps)
    orders = list(other_orders(built, steps, PROFILE, allowances(built)))
    assert [waiting_pods(found) for found in orders] == [(pod,) for pod in range(4) if pod != first]


def test_a_plan_counts_a_hop_as_one_more_eviction() -> None:
    """a has to go where b is; b packs best in the place of a, and runs on n3 until that is free."""
    stays = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    nodes = [node(name, cpu="4") for name in ("n1", "n2", "n3")]
    built = cluster(
        nodes,
        pods("n1", app="a", cpu="4", nodeSelector={HOSTNAME: "n2"}),
        pods("n2", app="b", cpu="4"),
        pods("n1", app="filler", annotations=stays),
    )
    options = SolveOptions(rebalance=True, prefer="pack", time_limit=5.0)
    plan = make_plan(built, options, PROFILE)
    steps = [(s.pod, s.from_, s.to, s.temporary) for wave in plan.waves for s in wave.steps]
    assert steps == [
        ("default/b-0", "n2", "n3", True),
        ("default/a-0", "n1", "n2", None),
        ("default/b-0", "n3", "n1", None),
    ]
    assert (len(plan.placements), plan.evictions, plan.hops) == (2, 3, 1)
    limited = make_plan(built, replace(options, max_moves=2), PROFILE)
    assert (limited.evictions, limited.hops) == (2, 0)
    text = plain_text(plan_table.blocks(plan, wide=False))
    assert "~ b-0  n2 -> n3, for a while" in text
    assert "One pod runs on another node for a while" in text


@given(st.permutations(range(6)), st.integers(0, 2), st.lists(st.integers(1, 3), min_size=6))
@settings(deadline=None, max_examples=60)
def test_whatever_the_circles_every_step_is_legal_and_no_node_holds_too_much(
    targets: list[int], spare: int, sizes: list[int]
) -> None:
    """Pods of several sizes change places on full nodes; nodes are as large as what they get."""
    moves = {i: target for i, target in enumerate(targets) if i != target}
    room = [max(sizes[i], sizes[targets.index(i)]) for i in range(6)]
    nodes = [node(f"n{i}", cpu=str(room[i])) for i in range(6)]
    nodes += [node(f"spare{i}", cpu="2") for i in range(spare)]
    built = cluster(nodes, *(pods(f"n{i}", app=f"a{i}", cpu=str(sizes[i])) for i in range(6)))
    found = order(built, {(i, moves.get(i, i)): 1 for i in range(6)})
    assert isinstance(found, Order)
    waves = hopped(built, found.steps)
    if waves is None:
        return
    assert len(waiting_pods(waves.steps)) < len(waiting_pods(found.steps))
    _replay(built, waves)


def _replay(built: Cluster, waves: Waves) -> None:
    """A naive twin: nothing of a wave is gone, and everything that lands is there at once."""
    node_of, sizes = built.node_of.copy(), built.resources.requests[built.group_of][:, 0]
    for wave in waves.waves:
        there = [
            *((int(n), pod) for pod, n in enumerate(node_of) if n >= 0),
            *((step.node, step.pod) for step in wave if step.action != "evict"),
        ]
        for index in range(len(built.nodes)):
            used = sum(int(sizes[pod]) for on, pod in there if on == index)
            assert used <= built.resources.allocatable[index, 0]
        assert len({step.pod for step in wave}) == len(wave)
        for step in wave:
            node_of[step.pod] = PENDING if step.action == "evict" else step.node


def test_hops_are_for_plans_that_choose_the_nodes() -> None:
    built, steps = ring(2)
    limits = allowances(built)
    assert guess_waves(built, steps, limits) is not None
    options = SolveOptions(rebalance=True, hops=False)
    assert not any(step.temporary for step in plan_outcome(built, options, PROFILE).waves.steps)


def test_a_pod_that_comes_back_to_its_node_is_left_to_the_given_order() -> None:
    nodes = [node(name, cpu="2") for name in "abc"]
    built = cluster(nodes, *(pods(name, app=name, cpu="2") for name in "abc"))
    back = (Step.evict(2, 2), Step.place(2, 2))
    circle = (Step.evict(0, 0), Step.evict(1, 1), Step.place(1, 0), Step.place(0, 1))
    steps = (back[0], *circle, back[1])
    (found,) = other_orders(built, steps, PROFILE, allowances(built))
    assert waiting_pods(found)[0] == 1
