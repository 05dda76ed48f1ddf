"""A plan says what maxSkew its counts are judged by, only where the rule counts these very pods."""

from __future__ import annotations

from typing import Any

from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.plan import WorkloadChange
from tests.objects import ZONE, Json, cluster_of, node, owned, pod

NODES = [node(name, f"eu-{name[0]}") for name in ("a1", "b1", "c1")]


def spread(selector: dict[str, str], **more: Any) -> Json:
    return {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": selector},
        **more,
    }


def replica(name: str, on: str, constraint: Json) -> Json:
    labels = {"app": name.rpartition("-")[0], "team": "shop"}
    metadata = {"labels": labels, **owned("ReplicaSet", labels["app"])}
    return pod(name, on, spec={"topologySpreadConstraints": [constraint]}, metadata=metadata)


def change(*pods: Json) -> WorkloadChange:
    plan = make_plan(cluster_of(*NODES, *pods), SolveOptions(rebalance=True), default_profile())
    return next(each for each in plan.workloads if each.workload == "rs/web")


def test_a_rule_over_its_own_pods_and_all_zones_has_its_limit_shown() -> None:
    own = spread({"app": "web"})
    found = change(*(replica(f"web-{i}", "a1", own) for i in range(3)))
    assert (found.before, found.after, found.max_skew) == ((3, 0, 0), (1, 1, 1), 1)


def test_a_rule_that_counts_other_pods_too_is_not_shown_with_these_counts() -> None:
    shared = spread({"team": "shop"})
    pods = [replica(f"web-{i}", "a1", shared) for i in range(3)]
    assert change(*pods, replica("api-0", "b1", shared)).max_skew is None


def test_a_rule_that_needs_more_zones_than_there_are_is_not_shown() -> None:
    wide = spread({"app": "web"}, minDomains=4)
    assert change(*(replica(f"web-{i}", "a1", wide) for i in range(2))).max_skew is None
