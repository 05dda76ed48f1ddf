from __future__ import annotations

from planner.replay import Step, check_steps
from planner.scheduler.profile import default_profile
from planner_models.node import HOSTNAME, ZONE
from tests.sequences.few_pods import apart, cluster, node, pods, spread

PROFILE = default_profile()
TWO_ZONES = [node("n1", "x"), node("n2", "y")]


def test_a_pod_moves_to_a_node_that_passes_every_filter() -> None:
    built = cluster(TWO_ZONES, pods("n1", "n1", spread=[spread()]))
    checked = check_steps(built, [Step.evict(0, 0), Step.place(0, 1)], PROFILE)
    assert checked.good
    assert checked.evictions == 1
    assert checked.after.node_of.tolist() == [1, 0]


def test_a_move_is_an_eviction_and_a_placement() -> None:
    built = cluster(TWO_ZONES, pods("n1", "n1", spread=[spread()]))
    checked = check_steps(built, [Step.move(0, 1)], PROFILE)
    assert checked.good
    assert checked.after.node_of.tolist() == [1, 0]


def test_the_fault_names_the_step_and_carries_the_word_of_the_scheduler() -> None:
    built = cluster(TWO_ZONES, pods("n1", "", "", spread=[spread()]))
    checked = check_steps(built, [Step.place(1, 1), Step.place(2, 0), Step.place(2, 0)], PROFILE)
    (fault,) = checked.faults
    assert (fault.step, fault.pod, fault.reason) == (2, 2, "the pod is not waiting for a node")
    (fault,) = check_steps(built, [Step.place(1, 0)], PROFILE).faults
    assert fault.status is not None
    assert fault.status.plugin == "PodTopologySpread"


def test_a_pod_is_evicted_at_most_once() -> None:
    built = cluster(TWO_ZONES, pods("n1"))
    steps = [Step.move(0, 1), Step.move(0, 0)]
    (fault,) = check_steps(built, steps, PROFILE).faults
    assert (fault.step, fault.reason) == (1, "the pod was evicted before")


def test_only_a_pod_that_runs_there_can_be_evicted() -> None:
    built = cluster(TWO_ZONES, pods("n1", ""))
    assert not check_steps(built, [Step.evict(0, 1)], PROFILE).good
    assert not check_steps(built, [Step.place(1, 1), Step.evict(1, 1)], PROFILE).good


def test_every_evicted_pod_runs_in_the_end_unless_it_may_be_displaced() -> None:
    built = cluster(TWO_ZONES, pods("n1"))
    (fault,) = check_steps(built, [Step.evict(0, 0)], PROFILE).faults
    assert fault.reason == "the evicted pod has no node in the end"
    assert check_steps(built, [Step.evict(0, 0)], PROFILE, displaced=(0,)).good


def test_gated_and_terminating_pods_are_not_placed() -> None:
    gated = pods("", schedulingGates=[{"name": "wait"}])
    leaving = pods("", app="b", terminating=True)
    built = cluster(TWO_ZONES, gated, leaving)
    for pod in (0, 1):
        (fault,) = check_steps(built, [Step.place(pod, 0)], PROFILE).faults
        assert fault.reason == "the pod is not in the scheduler's queue"


def test_a_pod_that_is_still_terminating_holds_its_room() -> None:
    built = cluster(
        [node("n1", cpu="1"), node("n2", cpu="1", unschedulable=True)], pods("n1", cpu="1")
    )
    steps = [Step.evict(0, 0), Step.place(0, 0)]
    assert check_steps(built, steps, PROFILE).good
    (fault,) = check_steps(built, steps, PROFILE, terminating=True).faults
    assert fault.reason == "Insufficient cpu"


def test_a_pod_that_is_still_terminating_holds_its_port() -> None:
    built = cluster([node("n1")], pods("n1", port=8080))
    steps = [Step.evict(0, 0), Step.place(0, 0)]
    assert check_steps(built, steps, PROFILE).good
    assert not check_steps(built, steps, PROFILE, terminating=True).good


def test_a_pod_that_is_still_terminating_counts_for_affinity_but_not_for_spread() -> None:
    separate = cluster(TWO_ZONES, pods("n1", affinity=apart(ZONE)))
    even = cluster(TWO_ZONES, pods("n1", spread=[spread()]))
    for built, good in ((separate, False), (even, True)):
        steps = [Step.evict(0, 0), Step.place(0, 0)]
        assert check_steps(built, steps, PROFILE, terminating=True).good == good


def test_an_old_pod_is_gone_once_its_replacement_is_bound() -> None:
    nodes = [node("n1", cpu="1"), node("n2", cpu="1")]
    built = cluster(nodes, pods("n1", cpu="1"), pods("", app="b", cpu="1"))
    steps = [Step.evict(0, 0), Step.place(0, 1), Step.place(1, 0)]
    assert check_steps(built, steps, PROFILE, terminating=True).good


def test_a_cordoned_node_takes_no_pod_until_it_is_uncordoned() -> None:
    built = cluster(TWO_ZONES, pods(""))
    (fault,) = check_steps(built, [Step.cordon(0), Step.place(0, 0)], PROFILE).faults
    assert fault.status is not None
    assert fault.status.plugin == "NodeUnschedulable"
    steps = [Step.cordon(0), Step.uncordon(0), Step.place(0, 0)]
    assert check_steps(built, steps, PROFILE).good


def test_a_node_that_was_cordoned_before_takes_pods_once_it_is_uncordoned() -> None:
    built = cluster([node("n1", unschedulable=True), node("n2")], pods("", ""))
    assert not check_steps(built, [Step.place(0, 0)], PROFILE).good
    steps = [Step.uncordon(0), Step.cordon(1), Step.place(0, 0)]
    assert check_steps(built, steps, PROFILE).good
    assert not check_steps(built, [*steps, Step.place(1, 1)], PROFILE).good


def test_the_taint_of_a_cordon_takes_a_domain_out_where_taints_are_honoured() -> None:
    built = cluster(TWO_ZONES, pods("n1", "", spread=[spread(nodeTaintsPolicy="Honor")]))
    assert not check_steps(built, [Step.place(1, 0)], PROFILE).good
    assert check_steps(built, [Step.cordon(1), Step.place(1, 0)], PROFILE).good


def test_a_selector_that_asks_for_the_zone_of_pods_raises_a_doubt() -> None:
    by_zone = spread(HOSTNAME, labelSelector={"matchLabels": {ZONE: "x"}})
    built = cluster(TWO_ZONES, pods("", spread=[by_zone]))
    (doubt,) = check_steps(built, [Step.place(0, 0)], PROFILE).doubts
    assert ZONE in doubt
    assert check_steps(built, [], PROFILE).doubts == ()


def test_a_pod_that_hops_is_evicted_twice_and_must_go_on() -> None:
    built = cluster([node("n1"), node("n2"), node("n3")], pods("n1"))
    checked = check_steps(built, [Step.hop(0, 2), Step.move(0, 1)], PROFILE)
    assert checked.good
    assert (checked.evictions, checked.after.node_of.tolist()) == (2, [1])
    (fault,) = check_steps(built, [Step.hop(0, 2)], PROFILE).faults
    assert fault.reason == "the pod is still in its temporary place"
    for steps, reason in (
        ([Step.hop(0, 2), Step.hop(0, 1)], "the pod hopped before"),
        ([Step.hop(0, 2), Step.move(0, 1), Step.move(0, 0)], "the pod was evicted before"),
    ):
        (fault,) = check_steps(built, steps, PROFILE).faults
        assert fault.reason == reason
