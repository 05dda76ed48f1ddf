from __future__ import annotations

from planner.replay import FinalCheck, Step, check_final, check_steps
from planner.scheduler.profile import default_profile
from planner_models.node import HOSTNAME, ZONE
from tests.sequences.few_pods import apart, cluster, node, pods, spread

PROFILE = default_profile()
TWO_ZONES = [node("n1", "x"), node("n2", "y")]


def refusing(final: FinalCheck) -> set[str]:
    """The plugins that refuse a landing."""
    return {landing.status.plugin for landing in final.refused}


def test_a_steady_state_has_nothing_to_say() -> None:
    before = cluster(TWO_ZONES, pods("n1", "n1", "", spread=[spread()]))
    final = check_final(before, before.with_placement({0: 1, 2: 1}), PROFILE)
    assert final.good
    assert final.steady
    assert final.capacity


def test_what_was_broken_before_stays_a_violation_and_no_fault() -> None:
    before = cluster(TWO_ZONES, pods("n1", "n1", "n1", spread=[spread()]), pods("", app="b"))
    final = check_final(before, before.with_placement({3: 0}), PROFILE)
    assert final.good
    (violation,) = final.remaining
    assert (violation.domain, violation.count, violation.allowed) == ("x", 3, 1)
    assert violation.pods == (0, 1, 2)


def test_a_landing_domain_above_the_limit_is_a_fault() -> None:
    before = cluster(TWO_ZONES, pods("n1", "", spread=[spread()]))
    final = check_final(before, before.with_placement({1: 0}), PROFILE)
    assert refusing(final) == {"PodTopologySpread"}
    assert final.capacity


def test_the_plugin_that_refuses_a_landing_is_named() -> None:
    before = cluster([node("n1"), node("n2", unschedulable=True)], pods("n1", "", affinity=apart()))
    beside = check_final(before, before.with_placement({1: 0}), PROFILE)
    assert refusing(beside) == {"InterPodAffinity"}
    cordoned = check_final(before, before.with_placement({1: 1}), PROFILE)
    assert refusing(cordoned) == {"NodeUnschedulable"}


def test_an_overcommitted_node_may_stay_so_but_not_get_worse() -> None:
    nodes = [node("n1", cpu="1"), node("n2")]
    before = cluster(nodes, pods("n1", "n1", "n2", cpu="1"))
    assert check_final(before, before.with_placement({0: 1}), PROFILE).good
    worse = check_final(before, before.with_placement({2: 0}), PROFILE)
    assert worse.overcommitted == (0,)
    assert not worse.capacity


def test_a_pod_that_lost_its_node_is_a_fault_unless_displaced() -> None:
    before = cluster(TWO_ZONES, pods("n1"))
    after = before.with_placement({0: -1})
    assert check_final(before, after, PROFILE).lost == (0,)
    assert check_final(before, after, PROFILE, displaced=(0,)).good


def test_legal_steps_may_end_with_a_landing_domain_above_the_limit() -> None:
    """The second pod matches the first one's selector and obeys no constraint itself."""
    carrier = pods("", spread=[spread(app="b")], app="b")
    free = pods("", "", app="b")
    before = cluster(TWO_ZONES, carrier, [*free])
    steps = [Step.place(0, 0), Step.place(1, 0), Step.place(2, 0)]
    checked = check_steps(before, steps, PROFILE)
    assert checked.good
    assert refusing(check_final(before, checked.after, PROFILE)) == {"PodTopologySpread"}


def test_every_kind_of_rule_that_running_pods_break_is_listed() -> None:
    tainted = node("n3", "y", taints=[{"key": "special", "effect": "NoSchedule"}])
    built = cluster(
        [*TWO_ZONES, tainted],
        pods("n1", "n1", affinity=apart(ZONE)),
        pods("n2", app="b", nodeSelector={ZONE: "x"}),
        pods("n3", app="c"),
        pods("n1", "n1", app="d", spread=[spread(app="d")]),
    )
    found = {v.rule: v for v in check_final(built, built, PROFILE).remaining}
    assert {rule: v.excess for rule, v in found.items()} == {
        "podAntiAffinity": 2,
        "nodeAffinity": 1,
        "taints": 1,
        "topologySpread": 1,
    }
    assert found["podAntiAffinity"].domain == "x"
    assert (found["taints"].topology_key, found["taints"].domain) == (HOSTNAME, "n3")


def test_neither_a_cordon_nor_its_taint_is_broken_by_pods_that_run_there() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    built = cluster([node("n1", unschedulable=True, taints=[taint])], pods("n1"))
    assert check_final(built, built, PROFILE).steady
