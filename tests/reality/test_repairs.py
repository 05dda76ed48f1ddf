"""Repairs that the API server takes, that destroy nothing unseen, and that work in the end."""

from __future__ import annotations

import pytest

from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Repair
from tests.reality.dumps import dump


def repairs(name: str) -> list[Repair]:
    """What `planner explain` offers for the pod of a dump that waits."""
    cluster = dump(name)
    waiting = cluster.pending.tolist()
    return list(explain_pods(cluster, waiting, default_profile(), ExplainOptions()).repairs)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("live-notready", "na has to become reachable"),
        ("notready", "na has to become ready"),
        ("pressure", "na has to get rid of its disk pressure"),
    ],
)
def test_a_node_in_a_bad_state_has_to_recover_and_is_not_tolerated(name: str, text: str) -> None:
    found = repairs(name)
    assert found[0].text == text
    assert "addToleration" not in {repair.kind for repair in found}
