"""Laws of failures, and where they end."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.scenario import LoseNodes, Manner, apply_changes, outcome, settle
from planner.scheduler.profile import default_profile
from planner.whatif.course import running
from tests.objects import cluster_of
from tests.whatif.asking import deployed, spread, zones
from tests.whatif.random_clusters import settled_clusters

IGNORE = ("Ignore",)


def runs(cluster: Cluster, nodes: tuple[int, ...], manner: Manner, seed: int = 0) -> int:
    """Pods that run when these nodes have failed."""
    profile = default_profile()
    changed = apply_changes(cluster, [LoseNodes(nodes, manner)])
    return running(outcome(settle(changed, profile, seed=seed), profile))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(settled_clusters(), st.data())
def test_no_failure_lets_more_pods_run_than_now(cluster: Cluster, data: st.DataObject) -> None:
    node_numbers = st.integers(0, len(cluster.nodes) - 1)
    lost = tuple(sorted(data.draw(st.sets(node_numbers, min_size=1))))
    manner: Manner = data.draw(st.sampled_from(("unreachable", "removed")))
    assert runs(cluster, lost, manner) <= runs(cluster, (), "removed")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(settled_clusters(policies=IGNORE), st.data())
def test_where_there_is_no_rule_losing_more_never_lets_more_pods_of_one_size_run(
    cluster: Cluster, data: st.DataObject
) -> None:
    """Without rules, and with pods of one size, only room counts."""
    sizes = {group.spec.requests.get("cpu", 0) for group in cluster.groups}
    ruled = any(
        group.spec.topology_spread_constraints
        or group.spec.affinity.pod_affinity.required
        or group.spec.affinity.pod_anti_affinity.required
        or group.spec.host_ports
        for group in cluster.groups
    )
    if len(sizes) > 1 or ruled:
        return
    more = tuple(range(data.draw(st.integers(1, len(cluster.nodes)))))
    fewer = more[: data.draw(st.integers(0, len(more)))]
    assert runs(cluster, more, "removed") <= runs(cluster, fewer, "removed")


def test_losing_the_last_node_of_a_zone_as_well_lets_more_pods_run() -> None:
    """An exception: while some of a silent zone answers, nobody evicts there."""
    cluster = cluster_of(*zones(a=4, b=2), *deployed("web", ["a1", "a2", "a3"]))
    three, four = (0, 1, 2), (0, 1, 2, 3)
    assert runs(cluster, three, "unreachable") == 0
    assert runs(cluster, four, "unreachable") == 3


def test_a_removed_zone_may_leave_more_waiting_than_a_silent_one_under_min_domains() -> None:
    """An exception: with fewer zones than minDomains the minimum is 0 at once.

    The pods of silent nodes leave one node after the other, and the first still finds b counted.
    """
    two = spread("web", minDomains=2)
    cluster = cluster_of(*zones(a=1, b=2), *deployed("web", ["a1", "b1", "b2"], spec=two))
    assert runs(cluster, (1, 2), "unreachable") == 2
    assert runs(cluster, (1, 2), "removed") == 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(settled_clusters(), st.integers(1, 5))
def test_the_same_seed_leads_to_the_same_end(cluster: Cluster, seed: int) -> None:
    first = runs(cluster, (0,), "unreachable", seed)
    assert first == runs(cluster, (0,), "unreachable", seed)
