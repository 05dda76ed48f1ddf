"""A fix is tried on a changed input; its snapshots are made from those that are there already.

The naive twin reads the changed input as if it were a new one.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.checks import CheckOptions, Subject, check, manifests_of, subject_of
from planner.checks.changes import all_of, in_budget, in_constraint, in_spec, with_replicas
from planner.checks.finding import Change
from planner.checks.rules import too_many_replicas
from planner.cluster import GONE, Cluster
from planner.scheduler.profile import default_profile
from planner.sources.load import load_documents
from planner.sources.options import ReadOptions
from tests.checks.manifests import NODES, budget, deployment, findings, spread
from tests.objects import ZONE, Json, document, node, pod


def subject(*manifests: Json, cluster: tuple[Json, ...]) -> Subject:
    own = [document(each) for each in manifests]
    given_ = manifests_of(load_documents(own, ReadOptions()))
    inventory = load_documents([*map(document, cluster), *own], ReadOptions())
    return subject_of(inventory, given_, default_profile, CheckOptions(seeds=3))


def anew(changed: Subject) -> Subject:
    """The same question about the same input, of which nothing is known yet."""
    return subject_of(changed.inventory, changed.manifests, default_profile, changed.options)


def where(cluster: Cluster) -> dict[str, str]:
    """The node of every pod that is there."""
    return {
        pod.key: cluster.nodes[home].name if home >= 0 else str(home)
        for pod, home in zip(cluster.pods, cluster.node_of.tolist(), strict=True)
        if home != GONE
    }


def together(cluster: Cluster) -> set[frozenset[str]]:
    """Pods that nothing tells apart."""
    found: dict[int, set[str]] = {}
    for index in range(len(cluster.pods)):
        if cluster.node_of[index] != GONE:
            found.setdefault(int(cluster.group_of[index]), set()).add(cluster.pods[index].key)
    return set(map(frozenset, found.values()))


CHANGES = ("skew", "honour", "keys", "replicas", "selector", "budget")


def change_of(asked: Subject, kind: str) -> Change:
    (workload,) = asked.workloads
    match kind:
        case "skew":
            return in_constraint(workload, 0, max_skew=2)
        case "honour":
            return in_constraint(workload, 0, node_taints_policy="Honor")
        case "keys":
            return in_constraint(workload, 0, match_label_keys=("pod-template-hash",))
        case "replicas":
            return with_replicas(workload, workload.replicas + 2)
        case "selector":
            return in_spec(workload, node_selector={ZONE: "a"})
        case _:
            return in_budget(asked.budgets[0], max_unavailable=1, min_available=None)


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(CHANGES), min_size=1, max_size=2, unique=True),
    st.integers(1, 6),
    st.lists(st.sampled_from(("n1", "n2", "n3", "")), max_size=4),
)
def test_a_changed_input_is_judged_like_a_new_one(
    kinds: list[str], replicas: int, others: list[str]
) -> None:
    running = [
        pod(f"other-{i}", home, metadata={"labels": {"app": "web" if i % 2 else "other"}})
        for i, home in enumerate(others)
    ]
    asked = subject(
        deployment(replicas, spread()),
        budget(minAvailable=replicas),
        cluster=(*NODES, node("n4", "c"), *running),
    )
    changed = asked.changed(all_of([change_of(asked, kind) for kind in kinds]))
    twin = anew(changed)
    assert where(changed.cluster) == where(twin.cluster)
    assert together(changed.cluster) == together(twin.cluster)
    assert where(changed.settled) == where(twin.settled)
    assert where(changed.before_rollout) == where(twin.before_rollout)
    assert check(changed) == check(twin)


def test_a_rule_is_not_asked_where_another_has_named_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("nobody waits for this answer")

    monkeypatch.setattr(too_many_replicas, "explain_pods", never)
    found = findings(deployment(3, {"nodeSelector": {ZONE: "nowhere"}}))
    assert [each.rule for each in found if each.severity == "error"] == ["label-unknown"]
