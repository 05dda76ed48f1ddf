from __future__ import annotations

from planner_models.affinity import PREFERRED, REQUIRED
from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import Json, node

NAME = "RemovePodsViolatingNodeAffinity"


def asks_for(pool: str) -> Json:
    return {"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool]}]}


def required(pool: str) -> Json:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [asks_for(pool)]}}}}


def preferred(pool: str) -> Json:
    term = {"weight": 10, "preference": asks_for(pool)}
    return {"affinity": {"nodeAffinity": {PREFERRED: [term]}}}


def nodes() -> tuple[Json, Json]:
    return (
        node("a", metadata={"labels": {"pool": "old"}}),
        node("b", metadata={"labels": {"pool": "new"}}),
    )


def left(kinds: list[str], spec: Json) -> list[str]:
    run = strategy(NAME, {"nodeAffinityType": kinds})
    return evicted(run, *nodes(), owned_pod("web", "a", spec=spec))


def test_a_pod_whose_required_affinity_no_longer_matches_goes() -> None:
    assert left([REQUIRED], required("new")) == ["web"]


def test_it_stays_if_no_node_matches() -> None:
    assert left([REQUIRED], required("none")) == []


def test_a_node_selector_alone_is_not_looked_at() -> None:
    assert left([REQUIRED], {"nodeSelector": {"pool": "new"}}) == []


def test_a_pod_goes_if_another_node_has_more_points() -> None:
    assert left([PREFERRED], preferred("new")) == ["web"]
    assert left([PREFERRED], preferred("old")) == []
    assert left([REQUIRED], preferred("new")) == []


def test_points_count_even_if_that_node_has_no_room() -> None:
    """Any node with room will do, its own for example: the pod comes back and goes again."""
    full = node("b", metadata={"labels": {"pool": "new"}}, status={"allocatable": {"cpu": "0"}})
    run = strategy(NAME, {"nodeAffinityType": [PREFERRED]})
    assert evicted(run, nodes()[0], full, owned_pod("web", "a", spec=preferred("new"))) == ["web"]


def test_a_pod_may_be_evicted_for_both_rules() -> None:
    spec = {"affinity": {"nodeAffinity": {**required("new")["affinity"]["nodeAffinity"]}}}
    spec["affinity"]["nodeAffinity"] |= preferred("new")["affinity"]["nodeAffinity"]
    assert left([REQUIRED, PREFERRED], spec) == ["web", "web"]
