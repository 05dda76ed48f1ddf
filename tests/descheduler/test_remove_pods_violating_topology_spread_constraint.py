from __future__ import annotations

from typing import Any

from tests.descheduler.strategy_examples import evicted, owned_pod, record, strategy
from tests.objects import ZONE, Json, cluster_of, merged, node

NAME = "RemovePodsViolatingTopologySpreadConstraint"


def spread(selector: Json | None = None, **changes: Any) -> Json:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}} if selector is None else selector,
    }
    return {"topologySpreadConstraints": [{**constraint, **changes}]}


def zones(*counts: int, spec: Json | None = None, **changes: Any) -> tuple[Json, ...]:
    """One node per zone, with that many pods each."""
    objects: list[Json] = []
    for name, count in zip("abc", counts, strict=False):
        objects.append(node(name, zone=name))
        objects += [
            owned_pod(f"{name}-{i}", name, spec=merged(spread(), spec or {}), **changes)
            for i in range(count)
        ]
    return tuple(objects)


def test_pods_leave_the_largest_domain_until_the_skew_is_allowed() -> None:
    """4 against 0: half of the skew above 1, rounded up."""
    assert evicted(strategy(NAME), *zones(4, 0)) == ["a-2", "a-3"]
    assert evicted(strategy(NAME), *zones(2, 1)) == []


def test_the_reason_has_the_numbers() -> None:
    (eviction,) = record(strategy(NAME), cluster_of(*zones(2, 0))).evictions
    assert eviction.reason == f"{ZONE} a has 2 pods, b 0; maxSkew is 1"


def test_the_smallest_domains_are_filled_first_up_to_the_average() -> None:
    assert len(evicted(strategy(NAME), *zones(5, 1, 0))) == 3


def test_of_pods_with_the_same_priority_the_first_names_go() -> None:
    """Each is "less" than the others, so that Go's sort reverses them; without any, it does not."""
    assert evicted(strategy(NAME), *zones(4, 0, spec={"priority": 5})) == ["a-1", "a-0"]


def test_the_highest_priority_goes_first() -> None:
    low, high = zones(1, 0, spec={"priority": 1}), owned_pod("vip", "a", spec=spread())
    vip = merged(high, {"spec": {"priority": 9}})
    assert evicted(strategy(NAME), *low, vip) == ["vip"]


def test_pods_that_fit_nowhere_else_stay_but_count_as_moved() -> None:
    full = node("b", zone="b", status={"allocatable": {"cpu": "100m"}})
    objects = [each for each in zones(4, 0) if each["metadata"]["name"] != "b"]
    assert evicted(strategy(NAME), full, *objects) == []
    careless = strategy(NAME, {"topologyBalanceNodeFit": False})
    assert len(evicted(careless, full, *objects)) == 2


def test_protected_pods_are_not_counted() -> None:
    daemons = zones(3, 0, kind="DaemonSet")
    assert evicted(strategy(NAME), *daemons, owned_pod("web", "a", spec=spread())) == []


def test_soft_constraints_are_enforced_on_request() -> None:
    soft = {
        "topologySpreadConstraints": spread(whenUnsatisfiable="ScheduleAnyway")[
            "topologySpreadConstraints"
        ]
    }
    assert evicted(strategy(NAME), *zones(3, 0, spec=soft)) == []
    assert evicted(strategy(NAME, {"constraints": ["ScheduleAnyway"]}), *zones(3, 0, spec=soft))


def test_min_domains_is_not_looked_at() -> None:
    assert evicted(strategy(NAME), *zones(2, 2, spec=spread(minDomains=3))) == []


def test_an_empty_selector_counts_every_pod_of_the_namespace() -> None:
    """kube-scheduler counts none."""
    anything = zones(1, 0, spec=spread(selector={}))
    other = owned_pod("db", "a", owner="db")
    assert len(evicted(strategy(NAME), *anything, other)) == 1


def test_match_label_keys_part_revisions() -> None:
    spec = spread(matchLabelKeys=["rev"])
    pods = [
        owned_pod(f"web-{i}", "a", spec=spec, metadata={"labels": {"rev": f"r{i}"}})
        for i in range(2)
    ]
    assert evicted(strategy(NAME), node("a", zone="a"), node("b", zone="b"), *pods) == []


def test_nodes_that_the_policies_leave_out_make_no_domain() -> None:
    tainted = node("c", zone="c", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    honest = zones(1, 1, spec=spread(nodeTaintsPolicy="Honor"))
    careless = zones(2, 2)
    assert evicted(strategy(NAME), *honest, tainted) == []
    ignoring = strategy(NAME, {"topologyBalanceNodeFit": False})
    assert len(evicted(ignoring, *careless, tainted)) == 1
