"""Every rule has its words, and they speak of the nodes that it refuses."""

from __future__ import annotations

from collections.abc import Iterable

from planner.cluster import Cluster
from planner.explain import rules
from planner.explain.diagnose import ExplainOptions
from planner.explain.rules.rule import Rule
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from tests.explain.situations import nodes, requests, workload
from tests.objects import cluster_of


def concrete(classes: Iterable[type[Rule]]) -> list[type[Rule]]:
    """The rules that stand for something a user wrote."""
    found = [each for kind in classes for each in (kind, *concrete(kind.__subclasses__()))]
    return [each for each in found if hasattr(each, "kind")]


def explained(cluster: Cluster) -> str:
    found = explain_pods(cluster, cluster.pending.tolist(), default_profile(), ExplainOptions())
    return " ".join(found.narrative)


def test_every_rule_says_what_it_leaves_and_what_it_excludes() -> None:
    found = concrete(Rule.__subclasses__())
    assert len(found) > len(rules.FINDERS)
    for rule in found:
        assert rule.leaving or rule.leaves is not Rule.leaves, rule
        assert rule.excluding or rule.excludes is not Rule.excludes, rule


def test_no_two_rules_share_a_kind() -> None:
    kinds = [rule.kind for rule in concrete(Rule.__subclasses__())]
    assert len(kinds) == len(set(kinds))


def test_a_node_with_room_is_not_called_short() -> None:
    web = workload("web", pending=1, spec=requests("2", "4Gi"))
    cluster = cluster_of(*nodes({"a": ["small"]}, cpu="1"), *nodes({"b": ["big"]}, cpu="8"), *web)
    text = "web-7d9f-00000 needs 2 CPU; small never has more than 1 when it is empty."
    assert explained(cluster) == text


def test_nodes_with_room_are_left_out_where_several_resources_are_short() -> None:
    web = workload("web", pending=1, spec=requests("2", "4Gi"))
    small = {"status": {"allocatable": {"memory": "1Gi"}}}
    cluster = cluster_of(
        *nodes({"a": ["small"]}, cpu="1", **small), *nodes({"b": ["big"]}, cpu="8"), *web
    )
    text = "web-7d9f-00000 needs 2 CPU and 4Gi memory: small is short of CPU and memory."
    assert text in explained(cluster)
