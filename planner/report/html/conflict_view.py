"""The conflict as a diagram: which rule leaves which nodes, and that none is left by all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.html.cluster_map import map_key
from planner.report.html.names import Index
from planner.report.html.view import Conflict, FunnelRow, RuleRow, Verdict
from planner.report.text.wording import name_some
from planner.words import NAMED, conjoined, count_of
from planner_models.diagnosis import Diagnosis, NodeClass

REFUSED = "no"
PASSED = "ok"
NOTE = "Every rule is judged on every node; kube-scheduler stops at the first that refuses it."


def conflict_view(diagnosis: Diagnosis, index: Index) -> Conflict | None:
    """Node by node where there are few of them, and rule by rule from all nodes to what is left."""
    total = len(index.cluster.nodes)
    columns, rules, together = _matrix(diagnosis, index)
    funnel = tuple(_funnel(diagnosis, total))
    if not rules and not funnel:
        return None
    some = diagnosis.feasible_nodes
    return Conflict(
        title="Which rule leaves which nodes" if some else "Why no node is left",
        note=NOTE,
        columns=columns,
        rules=rules,
        together=together,
        total=total,
        funnel=funnel,
    )


def _matrix(
    diagnosis: Diagnosis, index: Index
) -> tuple[tuple[tuple[str, str], ...], tuple[RuleRow, ...], RuleRow | None]:
    """The document's table of nodes and rules, on its side."""
    if not diagnosis.nodes_table:
        return (), (), None
    header, *lines = diagnosis.nodes_table
    judged = [
        place
        for place in range(1, len(header))
        if lines and all(line[place].startswith((REFUSED, PASSED)) for line in lines)
    ]
    nodes = index.nodes(line[0] for line in lines)
    columns = _columns(index, nodes)
    passing: set[int] = set(nodes)
    rules = []
    for place in judged:
        verdicts = tuple(_verdict(line[place]) for line in lines)
        left = _allowed(nodes, verdicts)
        passing &= set(left)
        rules.append(RuleRow(header[place], _leaves(index, left, len(nodes)), verdicts, left))
    if not rules:
        return (), (), None
    every = tuple(Verdict(node in passing, "") for node in nodes)
    left = tuple(sorted(passing))
    return columns, tuple(rules), RuleRow("all of them", _leaves(index, left, 0), every, left)


def _columns(index: Index, nodes: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Every node below the box of the map that it stands in."""
    key, every = map_key(index.cluster), index.cluster.nodes
    return tuple(
        ("" if key is None else every[node].labels.get(key, "-"), every[node].name)
        for node in nodes
    )


def _verdict(cell: str) -> Verdict:
    word, _, numbers = cell.partition(" ")
    return Verdict(word == PASSED, numbers.strip())


def _allowed(nodes: Sequence[int], verdicts: Sequence[Verdict]) -> tuple[int, ...]:
    return tuple(node for node, each in zip(nodes, verdicts, strict=True) if each.allowed)


def _leaves(index: Index, nodes: Sequence[int], total: int) -> str:
    if not nodes:
        return "no node"
    if len(nodes) == total:
        return "every node"
    names = [index.cluster.nodes[node].name for node in nodes]
    return name_some(names) if len(names) <= 3 else count_of(len(names), "node")


def _funnel(diagnosis: Diagnosis, total: int) -> Iterator[FunnelRow]:
    left = total
    for classes in _by_rule(diagnosis.first_reasons or diagnosis.node_classes):
        removed = sum(each.nodes for each in classes)
        which = _which(classes)
        rest = left - removed
        start, end = (round(100 * number / max(total, 1), 2) for number in (left, rest))
        yield FunnelRow(_rule(classes), which, removed, rest, start, end)
        left = rest


def _which(classes: Sequence[NodeClass]) -> str:
    """Names where there are few, else the classes in words."""
    names = sorted(name for each in classes for name in each.names)
    few = len(names) <= NAMED and len(names) == sum(each.nodes for each in classes)
    return conjoined(names) if few else name_some([each.which for each in classes])


def _by_rule(classes: Sequence[NodeClass]) -> list[list[NodeClass]]:
    """Classes that the same rule removes, though with other numbers."""
    found: dict[str, list[NodeClass]] = {}
    for each in classes:
        found.setdefault(each.first.partition(",")[0], []).append(each)
    return list(found.values())


def _rule(classes: Sequence[NodeClass]) -> str:
    texts = {each.first for each in classes}
    first = classes[0].first
    return first if len(texts) == 1 else first.partition(",")[0]
