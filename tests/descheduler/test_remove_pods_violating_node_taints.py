from __future__ import annotations

import pytest

from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import Json, node

NAME = "RemovePodsViolatingNodeTaints"


def tainted(effect: str, value: str = "batch") -> Json:
    taint = {"key": "dedicated", "value": value, "effect": effect}
    return node("a", spec={"taints": [taint]})


@pytest.mark.parametrize(
    ("effect", "args", "goes"),
    [
        ("NoSchedule", {}, True),
        ("NoExecute", {}, False),
        ("PreferNoSchedule", {}, False),
        ("PreferNoSchedule", {"includePreferNoSchedule": True}, True),
        ("NoSchedule", {"excludedTaints": ["dedicated"]}, False),
        ("NoSchedule", {"excludedTaints": ["dedicated=batch"]}, False),
        ("NoSchedule", {"excludedTaints": ["dedicated=gpu"]}, True),
        ("NoSchedule", {"includedTaints": ["dedicated=gpu"]}, False),
        ("NoSchedule", {"includedTaints": ["dedicated"]}, True),
        ("NoSchedule", {"includedTaints": []}, False),
        ("NoSchedule", {"namespaces": {"exclude": ["default"]}}, False),
        ("NoSchedule", {"labelSelector": {"matchLabels": {"app": "db"}}}, False),
    ],
)
def test_a_pod_goes_if_it_does_not_tolerate_a_taint_that_counts(
    effect: str, args: Json, goes: bool
) -> None:
    assert evicted(strategy(NAME, args), tainted(effect), owned_pod("web", "a")) == (
        ["web"] if goes else []
    )


def test_a_pod_that_tolerates_it_stays() -> None:
    tolerant = owned_pod("web", "a", spec={"tolerations": [{"operator": "Exists"}]})
    assert evicted(strategy(NAME), tainted("NoSchedule"), tolerant) == []


def test_with_node_fit_it_stays_if_no_other_node_takes_it() -> None:
    run = strategy(NAME, evictor={"nodeFit": True})
    web = owned_pod("web", "a")
    assert evicted(run, tainted("NoSchedule"), web) == []
    assert evicted(run, tainted("NoSchedule"), node("b"), web) == ["web"]
