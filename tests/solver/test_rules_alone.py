from __future__ import annotations

from typing import Any

import pytest

from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.route import solve_in_full as solve
from planner_models.volume import (
    BIND_COMPLETED,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from tests.solver.problems import (
    ABC,
    HOSTNAME,
    PREFERRED,
    REQUIRED,
    ZONE,
    cluster,
    node,
    on,
    solved,
    spread,
    term,
    values,
    workload,
)

# NodeResourcesFit


def test_two_of_three_pods_fit_where_two_have_room() -> None:
    found = solved([node("n1", cpu="2")], workload("web", "", "", ""))
    assert values(found)["placed 0"] == 2
    assert found.unplaced == {0: 1}
    assert found.status == "optimal"


def test_an_overcommitted_node_receives_nothing() -> None:
    found = solved([node("n1", cpu="2")], workload("old", "n1", "n1", "n1"), workload("web", ""))
    assert values(found)["placed 0"] == 0


def test_a_pod_that_asks_for_nothing_may_join_an_overcommitted_node() -> None:
    found = solved(
        [node("n1", cpu="2")], workload("old", "n1", "n1", "n1"), workload("web", "", cpu="0")
    )
    assert values(found)["placed 0"] == 1


def test_a_running_pod_makes_room_for_a_pending_one_by_one_move() -> None:
    nodes = [node("n1", cpu="3"), node("n2", cpu="2")]
    small = workload("small", "n1", nodeSelector={})
    big = workload("big", "", cpu="3")
    found = solved(nodes, small, big, rebalance=True)
    assert (values(found)["placed 0"], values(found)["moves"]) == (1, 1)


def test_absurd_amounts_are_added_without_wrapping_around() -> None:
    huge = [node("n1", cpu="4e15"), node("n2", cpu="4e15")]
    found = solved(huge, workload("web", *[""] * 5, cpu="2e15"), workload("odd", "", cpu="1"))
    assert values(found)["placed 0"] == 4


# Static rules


@pytest.mark.parametrize(
    "spec",
    [
        {"unschedulable": True},
        {"taints": [{"key": "special", "effect": "NoSchedule"}]},
        {"taints": [{"key": "special", "effect": "NoExecute"}]},
    ],
)
def test_nothing_lands_on_cordoned_or_tainted_nodes(spec: dict[str, Any]) -> None:
    assert values(solved([node("n1", spec=spec)], workload("web", "")))["placed 0"] == 0


def test_a_toleration_opens_the_node() -> None:
    tainted = node("n1", spec={"taints": [{"key": "special", "effect": "NoSchedule"}]})
    pods = workload("web", "", tolerations=[{"key": "special", "operator": "Exists"}])
    assert values(solved([tainted], pods))["placed 0"] == 1


def test_a_pod_on_a_node_that_its_selector_no_longer_matches_moves() -> None:
    pods = workload("web", "n1", nodeSelector={ZONE: "b"})
    found = solved(ABC, pods, rebalance=True)
    assert (values(found)["excess"], values(found)["moves"]) == (0, 1)


def test_a_pod_with_the_wrong_taint_and_the_wrong_label_counts_twice() -> None:
    tainted = node("n1", "a", spec={"taints": [{"key": "special", "effect": "NoSchedule"}]})
    pods = workload("web", "n1", nodeSelector={ZONE: "b"}, bare=True)
    assert values(solved([tainted], pods, rebalance=True))["excess"] == 2


def test_a_cordon_is_no_reason_to_leave() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    cordoned = node("n1", "a", spec={"unschedulable": True, "taints": [taint]})
    found = solved([cordoned, node("n2", "b")], workload("web", "n1"), rebalance=True)
    assert (values(found)["excess"], values(found)["moves"]) == (0, 0)


# PodTopologySpread


def test_six_six_none_becomes_even_by_four_moves() -> None:
    pods = workload("web", *["n1"] * 6, *["n2"] * 6, constraints=(spread(),))
    found = solved(ABC, pods, rebalance=True)
    assert (values(found)["excess"], values(found)["moves"]) == (0, 4)


def test_a_skew_of_two_lets_a_pod_join_the_larger_domain() -> None:
    two = ABC[:2]
    one_sided = workload("web", "n1", "", constraints=(spread(), spread(9, HOSTNAME)))
    assert set(on(cluster(two, one_sided), solved(two, one_sided))["web"]) == {"n2"}
    full = [node("n1", "a"), node("n2", "b", cpu="0")]
    assert values(solved(full, one_sided))["placed 0"] == 0
    wide = workload("web", "n1", "", constraints=(spread(2),))
    assert values(solved(full, wide))["placed 0"] == 1


def test_domains_above_the_limit_may_stay_as_they_are() -> None:
    """Counts 3 and 0: the new pod goes to the second; the skew that remains is not its doing."""
    pods = workload("web", "n1", "n1", "n1", "", constraints=(spread(),))
    assert values(solved(ABC[:2], pods))["placed 0"] == 1


def test_below_min_domains_the_minimum_is_none() -> None:
    pods = workload("web", "n1", "n2", "", constraints=(spread(minDomains=3),))
    assert values(solved(ABC[:2], pods))["placed 0"] == 0
    assert values(solved(ABC, pods))["placed 0"] == 1


def test_a_domain_whose_nodes_are_tainted_holds_the_minimum_down_unless_taints_are_honoured() -> (
    None
):
    tainted = node("n3", "c", spec={"taints": [{"key": "special", "effect": "NoSchedule"}]})
    nodes = [*ABC[:2], tainted]
    ignoring = workload("web", "n1", "n2", "", constraints=(spread(),))
    assert values(solved(nodes, ignoring))["placed 0"] == 0
    honouring = workload("web", "n1", "n2", "", constraints=(spread(nodeTaintsPolicy="Honor"),))
    assert values(solved(nodes, honouring))["placed 0"] == 1


def test_a_node_without_the_label_receives_nothing() -> None:
    bare = [node("n1")]
    assert values(solved(bare, workload("web", "", constraints=(spread(),))))["placed 0"] == 0


def test_two_constraints_on_racks_and_rows_are_kept_together() -> None:
    pods = workload("web", "", "", "", constraints=(spread(), spread(1, HOSTNAME)))
    found = solved([*ABC, node("n4", "c")], pods)
    assert values(found)["placed 0"] == 3


def test_pods_of_other_workloads_that_the_selector_matches_count() -> None:
    either = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    pods = workload("web", "", constraints=(spread(labelSelector=either),))
    nodes = [node("n1", "a"), node("n2", "b", cpu="0")]
    assert values(solved(nodes, workload("old", "n1"), pods))["placed 0"] == 0


# InterPodAffinity


def apart_from(app: str, key: str = HOSTNAME) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: [term(app, key)]}}


def near(app: str, key: str = HOSTNAME) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: [term(app, key)]}}


def test_pods_apart_from_themselves_have_a_node_each() -> None:
    pods = workload("web", *[""] * 4, affinity=apart_from("web"))
    assert values(solved(ABC, pods))["placed 0"] == 3


def test_anti_affinity_works_against_those_who_come_later_too() -> None:
    shy = workload("shy", "n1", affinity=apart_from("web"))
    assert values(solved(ABC[:1], shy, workload("web", "")))["placed 0"] == 0


def test_together_already_is_no_obstacle_but_costs_until_one_moves() -> None:
    pods = workload("web", "n1", "n1", affinity=apart_from("web"))
    assert values(solved(ABC[:1], pods, rebalance=True))["excess"] == 2
    found = solved(ABC[:2], pods, rebalance=True)
    assert (values(found)["excess"], values(found)["moves"]) == (0, 1)


def test_only_the_pod_that_minds_counts() -> None:
    shy = workload("shy", "n1", affinity=apart_from("web"), bare=True)
    found = solved(ABC[:1], shy, workload("web", "n1", bare=True), rebalance=True)
    assert values(found)["excess"] == 1


def test_affinity_follows_its_mate() -> None:
    pods = workload("web", "", affinity=near("db", ZONE))
    found = solved([*ABC, node("n4", "b")], workload("db", "n2"), pods, prefer="none")
    built = cluster([*ABC, node("n4", "b")], workload("db", "n2"), pods)
    assert set(on(built, found)["web"]) <= {"n2", "n4"}


def test_affinity_without_a_mate_finds_no_node() -> None:
    assert values(solved(ABC, workload("web", "", affinity=near("db"))))["placed 0"] == 0


def test_the_first_of_a_group_may_start_and_the_others_follow_it() -> None:
    pods = workload("web", "", "", "", affinity=near("web", ZONE))
    found = solved(ABC, pods)
    assert values(found)["placed 0"] == 3
    assert len(on(cluster(ABC, pods), found)["web"]) == 1


def test_nobody_starts_elsewhere_while_a_mate_runs() -> None:
    nodes = [node("n1", "a", cpu="1"), node("n2", "b")]
    pods = workload("web", "n1", "", affinity=near("web", ZONE))
    assert values(solved(nodes, pods))["placed 0"] == 0


# NodePorts


def port(number: int, address: str = "") -> dict[str, Any]:
    return {"containerPort": 80, "hostPort": number, "hostIP": address}


def test_a_host_port_is_there_once_per_node() -> None:
    pods = workload("web", *[""] * 4, ports=(port(8080),))
    assert values(solved(ABC, pods))["placed 0"] == 3


@pytest.mark.parametrize(
    ("one", "other", "placed"), [("10.0.0.1", "10.0.0.2", 1), ("10.0.0.1", "", 0)]
)
def test_addresses_tell_ports_apart_unless_one_is_every_address(
    one: str, other: str, placed: int
) -> None:
    held = workload("held", "n1", ports=(port(8080, one),))
    wanted = workload("web", "", ports=(port(8080, other),))
    assert values(solved(ABC[:1], held, wanted))["placed 0"] == placed


# Volumes


def claim(name: str, volume: str = "", *modes: str, late: str = "") -> PersistentVolumeClaim:
    return PersistentVolumeClaim.model_validate(
        {
            "metadata": {
                "name": name,
                "namespace": "default",
                "annotations": {BIND_COMPLETED: "yes"} if volume else {},
            },
            "spec": {
                "accessModes": list(modes or ("ReadWriteOnce",)),
                "volumeName": volume,
                "storageClassName": late,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )


def volume(name: str, zone: str, **spec: Any) -> PersistentVolume:
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return PersistentVolume.model_validate(
        {
            "metadata": {"name": name},
            "spec": {"capacity": {"storage": "1Gi"}, "nodeAffinity": affinity, **spec},
        }
    )


def mounted(name: str) -> dict[str, Any]:
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def test_a_bound_volume_pins_its_pod() -> None:
    built = cluster(
        ABC,
        workload("db", "", volumes=(mounted("data"),)),
        claims=(claim("data", "disk"),),
        persistent_volumes=(volume("disk", "b"),),
    )
    assert on(built, solve(build_problem(built, SolveOptions()))) == {"db": {"n2": 1}}


def test_a_claim_for_one_pod_serves_one_pod() -> None:
    built = cluster(
        ABC,
        workload("db", "", "", volumes=(mounted("data"),)),
        claims=(claim("data", "disk", "ReadWriteOncePod"),),
        persistent_volumes=(volume("disk", "b"),),
    )
    assert values(solve(build_problem(built, SolveOptions())))["placed 0"] == 1


def test_a_claim_that_waits_goes_where_its_class_makes_volumes() -> None:
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["c"]}]}]
    late = StorageClass.model_validate(
        {
            "metadata": {"name": "late"},
            "provisioner": "disk.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": allowed,
        }
    )
    built = cluster(
        ABC,
        workload("db", "", volumes=(mounted("data"),)),
        claims=(claim("data", late="late"),),
        storage_classes=(late,),
    )
    assert on(built, solve(build_problem(built, SolveOptions()))) == {"db": {"n3": 1}}


def test_claims_that_compete_for_a_free_volume_are_named() -> None:
    late = StorageClass.model_validate(
        {
            "metadata": {"name": "late"},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    free = PersistentVolume.model_validate(
        {
            "metadata": {"name": "disk"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "storageClassName": "late",
                "accessModes": ["ReadWriteOnce"],
            },
            "status": {"phase": "Available"},
        }
    )
    built = cluster(
        ABC,
        workload("db", "", volumes=(mounted("one"),)),
        workload("log", "", volumes=(mounted("two"),)),
        claims=(claim("one", late="late"), claim("two", late="late")),
        storage_classes=(late,),
        persistent_volumes=(free,),
    )
    found = solve(build_problem(built, SolveOptions()))
    assert found.notes == ("several unbound claims fit the free volumes disk",)


def test_a_node_attaches_only_so_many_volumes() -> None:
    disks = [volume(f"d{i}", "a", csi={"driver": "x", "volumeHandle": f"h{i}"}) for i in (1, 2)]
    limit = {"drivers": [{"name": "x", "allocatable": {"count": 1}}]}
    built = cluster(
        ABC[:1],
        workload("one", "", volumes=(mounted("c1"),)),
        workload("two", "", volumes=(mounted("c2"),)),
        claims=(claim("c1", "d1"), claim("c2", "d2")),
        persistent_volumes=tuple(disks),
        csi_nodes=(CSINode.model_validate({"metadata": {"name": "n1"}, "spec": limit}),),
    )
    assert values(solve(build_problem(built, SolveOptions())))["placed 0"] == 1


def test_an_inline_disk_has_one_user_per_node() -> None:
    disk = {"name": "d", "awsElasticBlockStore": {"volumeID": "v"}}
    assert values(solved(ABC[:2], workload("db", "", "", "", volumes=(disk,))))["placed 0"] == 2


# Preferences


def test_soft_spread_costs_two_hundred_per_pod_of_excess() -> None:
    soft = spread(whenUnsatisfiable="ScheduleAnyway")
    nodes = [node("n1", "a"), node("n2", "b", cpu="0")]
    assert values(solved(nodes, workload("web", "", "", constraints=(soft,))))["preferences"] == 200
    even = workload("web", "", "", constraints=(soft,))
    assert values(solved(ABC[:2], even))["preferences"] == 0


def test_an_unmet_preferred_node_term_costs_twice_its_weight() -> None:
    expression = {"key": ZONE, "operator": "In", "values": ["b"]}
    wish = {"weight": 30, "preference": {"matchExpressions": [expression]}}
    pods = workload("web", "", affinity={"nodeAffinity": {PREFERRED: [wish]}})
    assert values(solved(ABC[:1], pods))["preferences"] == 60
    assert values(solved(ABC, pods))["preferences"] == 0


def test_a_soft_taint_costs_three_hundred() -> None:
    tainted = node("n1", spec={"taints": [{"key": "x", "effect": "PreferNoSchedule"}]})
    assert values(solved([tainted], workload("web", "")))["preferences"] == 300
    assert values(solved([tainted, node("n2")], workload("web", "")))["preferences"] == 0


@pytest.mark.parametrize(
    ("kind", "alone", "together"), [("podAffinity", 40, 0), ("podAntiAffinity", 0, 40)]
)
def test_preferred_pods_near_or_away_cost_twice_their_weight(
    kind: str, alone: int, together: int
) -> None:
    wish = {"weight": 20, "podAffinityTerm": term("db")}
    pods = workload("web", "", affinity={kind: {PREFERRED: [wish]}})
    assert values(solved(ABC[:1], pods))["preferences"] == alone
    assert values(solved(ABC[:1], workload("db", "n1"), pods))["preferences"] == together


def test_the_wishes_of_running_pods_count_too() -> None:
    wish = {"weight": 20, "podAffinityTerm": term("web")}
    db = workload("db", "n1", affinity={"podAntiAffinity": {PREFERRED: [wish]}})
    built = cluster(ABC[:2], db, workload("web", ""))
    assert on(built, solve(build_problem(built, SolveOptions()))) == {"web": {"n2": 1}}
