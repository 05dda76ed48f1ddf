from __future__ import annotations

import pytest

from planner.descheduler.rounds import DeschedulerRounds, run_rounds
from planner_models.affinity import PREFERRED
from tests.descheduler.strategy_examples import owned_pod, policy
from tests.objects import ZONE, Json, cluster_of, node, pod, workload

SPREAD = policy(balance={"RemovePodsViolatingTopologySpreadConstraint": {}})
TAINTS = policy(deschedule={"RemovePodsViolatingNodeTaints": {}})
HARD: Json = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
}
LIKES_B: Json = {
    "affinity": {
        "nodeAffinity": {
            PREFERRED: [
                {
                    "weight": 1,
                    "preference": {
                        "matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]
                    },
                }
            ]
        }
    }
}


def uneven(*others: Json) -> tuple[Json, ...]:
    pods = [owned_pod(f"web-{i}", "a", spec=HARD) for i in range(4)]
    return (node("a", zone="a"), node("b", zone="b"), *pods, *others)


def evicted(found: DeschedulerRounds) -> list[list[tuple[str, str | None]]]:
    return [[(each.pod, each.target) for each in round_.evicted] for round_ in found.rounds]


def test_evicted_pods_come_back_where_the_scheduler_puts_them() -> None:
    found = run_rounds(cluster_of(*uneven()), SPREAD)
    assert evicted(found) == [[("default/web-2", "b"), ("default/web-3", "b")]]
    assert (found.end, found.evictions, found.violations_left) == ("settled", 2, 0)
    assert not found.loops


def test_budgets_make_it_take_several_rounds() -> None:
    budget: Json = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1},
    }
    found = run_rounds(cluster_of(*uneven(budget)), SPREAD)
    assert [round_.evictions for round_ in found.rounds] == [1, 1]
    assert [len(round_.refusals) for round_ in found.rounds] == [1, 0]
    assert found.end == "settled"


def test_a_loop_is_found_and_named() -> None:
    """The better node has no room, so the pod comes back to where it was."""
    wanted = policy(
        deschedule={"RemovePodsViolatingNodeAffinity": {"nodeAffinityType": [PREFERRED]}}
    )
    full = node("b", zone="b", status={"allocatable": {"cpu": "0"}})
    controller = workload("ReplicaSet", "web")
    cluster = cluster_of(node("a", zone="a"), full, owned_pod("web", "a", spec=LIKES_B), controller)
    found = run_rounds(cluster, wanted)
    assert found.loops
    assert found.end == "loop"
    assert found.loop is not None
    assert (found.loop.first, found.loop.last, found.loop.workloads) == (1, 1, ("rs/web",))


def test_a_loop_may_start_after_other_rounds() -> None:
    """Both nodes have a taint that the pod should leave: it goes to b, and then from b to b."""
    taint: Json = {"taints": [{"key": "x", "effect": "PreferNoSchedule"}]}
    wanted = policy(deschedule={"RemovePodsViolatingNodeTaints": {"includePreferNoSchedule": True}})
    settled = owned_pod("db", "a", owner="db", spec={"tolerations": [{"operator": "Exists"}]})
    cluster = cluster_of(
        node("a", spec=taint), node("b", spec=taint), owned_pod("web", "a"), settled
    )
    found = run_rounds(cluster, wanted)
    assert evicted(found) == [[("default/web", "b")], [("default/web", "b")]]
    assert found.loop is not None
    assert (found.loop.first, found.loop.last) == (2, 2)


def test_pods_without_a_controller_do_not_come_back() -> None:
    tainted = node("a", spec={"taints": [{"key": "old", "effect": "NoSchedule"}]})
    asked = {"descheduler.alpha.kubernetes.io/evict": "true"}
    bare = pod("bare", "a", metadata={"annotations": asked})
    found = run_rounds(cluster_of(tainted, node("b"), bare), TAINTS)
    (gone,) = found.rounds[0].evicted
    assert (gone.comes_back, gone.target) == (False, None)
    assert len(found.final.running) == 0


def test_pods_that_find_no_node_wait() -> None:
    tainted = node("a", spec={"taints": [{"key": "old", "effect": "NoSchedule"}]})
    full = node("b", status={"allocatable": {"cpu": "0"}})
    found = run_rounds(cluster_of(tainted, full, owned_pod("web", "a")), TAINTS)
    assert evicted(found) == [[("default/web", None)]]
    assert found.rounds[0].waiting == ("default/web",)


def test_what_comes_back_is_new_and_has_no_past() -> None:
    """An old pod on a single good node is evicted once: its replacement is young."""
    wanted = policy(deschedule={"PodLifeTime": {"maxPodLifeTimeSeconds": 60}})
    old = owned_pod("web", "a", metadata={"creationTimestamp": "1970-01-01T00:00:00Z"})
    found = run_rounds(cluster_of(node("a"), node("b"), old), wanted, now=3600)
    assert (found.evictions, found.end) == (1, "settled")


def test_failed_pods_are_removed_and_not_replaced() -> None:
    wanted = policy(deschedule={"RemoveFailedPods": {"minPodLifetimeSeconds": 0}})
    failed = owned_pod("web", "a", status={"phase": "Failed"})
    found = run_rounds(cluster_of(node("a"), node("b"), failed), wanted)
    assert (found.evictions, found.end, found.final.finished) == (1, "settled", 0)


def test_the_number_of_rounds_is_limited() -> None:
    limited = policy(
        balance={"RemovePodsViolatingTopologySpreadConstraint": {}}, maxNoOfPodsToEvictTotal=1
    )
    found = run_rounds(cluster_of(*uneven()), limited, most=1)
    assert (found.end, found.evictions) == ("limit", 1)
    assert found.violations_left > 0


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_same_seed_gives_the_same_rounds(seed: int) -> None:
    cluster = cluster_of(*uneven(node("c", zone="c"), node("c2", zone="c")))
    first, second = (run_rounds(cluster, SPREAD, seed=seed) for _ in range(2))
    assert evicted(first) == evicted(second)
