"""An anonymous dump that would tell a name, or behave otherwise, is refused."""

from __future__ import annotations

import json

import pytest

from planner.dump.check import Checked, check_alike, check_no_name
from planner.dump.prune import Item, pruned
from planner.errors import PlannerError
from tests.objects import Json, cluster_of, document, node, pod


def items(*objects: Json) -> list[Item]:
    return pruned([document(*objects)])


def test_a_name_that_is_left_is_named_with_its_field() -> None:
    left = node("node1", status={"allocatable": {"acme-prod/gpu": "1"}})
    with pytest.raises(PlannerError) as refused:
        check_no_name(items(left), {"acme-prod"})
    assert refused.value.render() == (
        'error: "acme-prod" is still in the result (Node status.allocatable)\n'
        "help: nothing was written; this is a bug of planner: please report the field"
    )


def test_a_name_inside_another_is_found() -> None:
    left = pod("n1", spec={"nodeName": "ip-7.acme-prod.example"})
    with pytest.raises(PlannerError, match="acme-prod"):
        check_no_name(items(left), {"acme-prod"})


@pytest.mark.parametrize("name", ["app", "name", "Running", "1", "100m", "io", "v1", "spec"])
def test_words_of_the_api_and_numbers_are_no_names(name: str) -> None:
    labels = {"app.kubernetes.io/name": "value1"}
    check_no_name(items(pod("n1", "node1", metadata={"labels": labels})), {name})


def test_what_is_no_part_of_a_word_is_no_hit() -> None:
    check_no_name(items(pod("n123")), {"n12", "acme"})


def test_copies_that_behave_alike_tell_what_was_compared() -> None:
    one = cluster_of(node("a"), node("b"), pod("x", "a"), pod("y"))
    other = cluster_of(node("node1"), node("node2"), pod("n1", "node1"), pod("n2"))
    assert check_alike(one, other) == Checked(broken=0, waiting=1)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ([node("n1"), node("n2", status={"allocatable": {"cpu": "9"}}), pod("p", "n1")], "nodes"),
        ([node("n1"), node("n2"), pod("p", "n2")], "the places of pods"),
        ([node("n1"), node("n2"), pod("p", "n1", spec={"overhead": {"cpu": "1"}})], "requests"),
    ],
)
def test_a_copy_that_differs_is_refused(changed: list[Json], what: str) -> None:
    with pytest.raises(PlannerError, match=f"not behave like the cluster: {what} differ"):
        check_alike(cluster_of(node("n1"), node("n2"), pod("p", "n1")), cluster_of(*changed))


def test_nothing_but_what_planner_reads_is_in_a_dump() -> None:
    noisy = pod("web", "a", metadata={"managedFields": [{"manager": "kubectl"}]})
    noisy["spec"]["containers"][0] |= {"env": [{"name": "PASSWORD"}], "command": ["run"]}
    noisy["spec"]["volumes"] = [{"name": "s", "secret": {"secretName": "key"}}]
    noisy["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true", "other": "1"}
    (found,) = items(noisy)
    raw = json.loads(found.text)
    assert raw["metadata"].keys() == {"name", "namespace", "uid", "annotations"}
    assert raw["metadata"]["annotations"] == {"karpenter.sh/do-not-disrupt": "true"}
    assert raw["spec"]["containers"][0].keys() == {"name", "resources"}
    assert raw["spec"]["volumes"] == [{"name": "s"}]


def test_of_two_objects_with_one_name_the_later_is_written() -> None:
    found = items(node("a", zone="x"), node("b"), node("a", zone="y"))
    assert [json.loads(item.text)["metadata"]["name"] for item in found] == ["a", "b"]
    assert b'"y"' in found[0].text
