"""What a DaemonSet's controller does with the pods of its nodes, case by case.

The decisions are those of Kubernetes v1.36: of its documentation, and of what its own tests of
`pkg/controller/daemon` pin down.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.scenario.daemon_set import (
    DaemonNode,
    DaemonPod,
    Update,
    look,
    update_of,
    wants,
)
from planner.sources.daemons import daemon_spec
from planner_models.node import Node
from planner_models.pod import TemplatePodSpec
from planner_models.workload import DaemonSet


def nodes(text: str) -> list[DaemonNode]:
    """Nodes parted by spaces, each with its pods, oldest first.

    `r` ready and `u` unready ones, capitals of the new template, `t` a terminating one; `-` means
    that the node should not run any, `!` that none may stay. Pods are numbered by node, 10 a node.
    """
    found = []
    for node, marks in enumerate(text.split()):
        pods = tuple(
            DaemonPod(10 * node + i, each in "rR", each.isupper())
            for i, each in enumerate(m for m in marks if m in "rRuU")
        )
        runs = not set("-!") & set(marks)
        found.append(DaemonNode(node, pods, runs, "!" not in marks, "t" in marks))
    return found


@pytest.mark.parametrize(
    ("update", "seen", "made", "deleted"),
    [
        # Every node gets what it should have.
        pytest.param(Update(), "R . R", [1], [], id="a-missing-pod-is-made"),
        pytest.param(Update(), "R t", [], [], id="when-the-old-one-is-gone"),
        pytest.param(Update(surge=1), "R t", [1], [], id="with-a-surge-beside-it"),
        pytest.param(Update(), "R RR", [], [11], id="of-two-the-older-stays"),
        pytest.param(Update(), "R R!", [], [10], id="none-where-it-may-not-stay"),
        pytest.param(Update(), "R R-", [], [], id="a-taint-for-new-pods-leaves-it-alone"),
        pytest.param(Update(on_delete=True), "r r", [], [], id="nothing-by-itself"),
        pytest.param(Update(on_delete=True), "r .", [1], [], id="who-is-deleted-comes-back"),
        # Without a surge.
        pytest.param(Update(2), "r r r r r", [], [0, 10], id="as-many-as-may-be-down"),
        pytest.param(Update(2), "t t r r r", [], [], id="who-ends-is-down"),
        pytest.param(Update(2), ". . r r r", [0, 1], [], id="making-comes-before-updating"),
        pytest.param(Update(2), "U U r r r", [], [], id="new-pods-have-to-be-ready"),
        pytest.param(Update(2), "R U r r r", [], [20], id="each-that-is-lets-the-next-go"),
        pytest.param(Update(3), "u u u u u", [], [0, 10, 20, 30, 40], id="failed-ones-at-once"),
        pytest.param(Update(2), "u r r r r", [], [0, 10], id="and-they-count-as-down"),
        pytest.param(Update(2), "u u u r r", [], [0, 10, 20], id="so-that-no-other-goes"),
        pytest.param(Update(1), "r- R", [], [0], id="an-old-pod-goes-though-no-new-one-comes"),
        # With a surge.
        pytest.param(Update(0, 2), "r r r r r", [0, 1], [], id="new-ones-beside-old-ones"),
        pytest.param(Update(0, 2), "rU rU r r", [], [], id="no-more-until-they-are-ready"),
        pytest.param(Update(0, 2), "rR rU r r", [], [0], id="then-the-old-one-goes"),
        pytest.param(Update(0, 2), "R rU r r", [2], [], id="and-the-next-node-comes"),
        pytest.param(Update(0, 1), "u u r", [0, 1, 2], [], id="failed-ones-do-not-count"),
        pytest.param(Update(0, 1), "uU r", [], [0], id="a-failed-one-goes-once-a-new-one-is-there"),
        pytest.param(Update(0, 1), "r- R R", [], [0], id="elsewhere-enough-are-ready"),
        pytest.param(Update(0, 1), "r- U", [], [], id="elsewhere-not-yet"),
        pytest.param(Update(0, 1), "u- U", [], [0], id="a-failed-one-of-no-use-goes"),
        pytest.param(Update(0, 1), "rrU", [], [1], id="of-two-old-ones-the-younger-goes"),
    ],
)  # fmt: skip
def test_the_controller_looks_once(
    update: Update, seen: str, made: list[int], deleted: list[int]
) -> None:
    acts = look(update, nodes(seen))
    assert (list(acts.made), list(acts.deleted)) == (made, deleted)


def given(**strategy: Any) -> DaemonSet:
    spec = {"updateStrategy": strategy}
    return DaemonSet.model_validate({"metadata": {"name": "log"}, "spec": spec})


@pytest.mark.parametrize(
    ("rolling", "expected"),
    [
        pytest.param({}, Update(1, 0), id="one-by-default"),
        pytest.param({"maxUnavailable": "30%"}, Update(3, 0), id="a-percentage"),
        pytest.param({"maxUnavailable": "11%"}, Update(2, 0), id="rounds-up"),
        pytest.param({"maxUnavailable": 0, "maxSurge": "11%"}, Update(0, 2), id="a-surge-as-well"),
        pytest.param({"maxUnavailable": 0}, Update(1, 0), id="one-where-both-are-none"),
    ],
)
def test_percentages_become_nodes(rolling: dict[str, Any], expected: Update) -> None:
    assert update_of(given(type="RollingUpdate", rollingUpdate=rolling), 10) == expected


def test_on_delete_has_no_surge() -> None:
    assert update_of(given(type="OnDelete"), 10) == Update(on_delete=True)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, (True, True), id="an-ordinary-node"),
        pytest.param(
            {"taints": [{"key": "a", "effect": "NoSchedule"}]}, (False, True), id="no-schedule"
        ),
        pytest.param(
            {"taints": [{"key": "a", "effect": "NoExecute"}]}, (False, False), id="no-execute"
        ),
        pytest.param(
            {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]},
            (True, True),
            id="cordoned",
        ),
    ],
)
def test_taints_say_where_pods_run_and_stay(
    spec: dict[str, Any], expected: tuple[bool, bool]
) -> None:
    node = Node.model_validate({"metadata": {"name": "n1"}, "spec": spec})
    assert wants(daemon_spec(TemplatePodSpec()), node) == expected


def test_a_node_that_the_selector_leaves_keeps_nothing() -> None:
    node = Node.model_validate({"metadata": {"name": "n1", "labels": {"disk": "hdd"}}})
    assert wants(TemplatePodSpec(node_selector={"disk": "ssd"}), node) == (False, False)
