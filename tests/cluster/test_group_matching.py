from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.cluster.groups import PodGroup
from planner.cluster.matching import GroupIndex
from planner_models.pod import Pod, PodSpec
from planner_models.selectors import LabelSelector

SPEC = PodSpec()


def group(index: int, namespace: str, labels: dict[str, str]) -> PodGroup:
    pod = Pod(namespace=namespace, name=f"p{index}", spec=SPEC, labels=labels)
    return PodGroup(index, namespace, labels, SPEC, None, (), pod)


LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["a", "b", "c"]))
EXPRESSIONS = st.sampled_from(
    [
        {"key": "app", "operator": "In", "values": ["a", "b"]},
        {"key": "tier", "operator": "NotIn", "values": ["c"]},
        {"key": "tier", "operator": "Exists"},
        {"key": "app", "operator": "DoesNotExist"},
    ]
)


@given(
    st.lists(st.tuples(st.sampled_from(["x", "y"]), LABELS), max_size=8),
    LABELS,
    st.lists(EXPRESSIONS, max_size=2),
)
def test_the_index_finds_what_trying_every_group_finds(
    groups: list[tuple[str, dict[str, str]]],
    match_labels: dict[str, str],
    expressions: list[dict[str, Any]],
) -> None:
    selector = LabelSelector.model_validate(
        {"matchLabels": match_labels, "matchExpressions": expressions}
    )
    built = [group(i, namespace, labels) for i, (namespace, labels) in enumerate(groups)]
    expected = [g.index for g in built if g.namespace == "x" and selector.matches(g.labels)]
    assert GroupIndex(built).matching(selector, ("x",)).tolist() == expected
