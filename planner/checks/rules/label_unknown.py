"""`label-unknown`: nodeSelector or required node affinity asks for what no node has."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_spec
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import Cluster
from planner.explain.situation.lookalikes import lookalike, lookalikes
from planner.words import conjoined, count_of

ID = "label-unknown"
SHOWN = 6


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    spec = subject.spec(workload)
    if subject.node_rules.affinity(spec).any():
        return
    nodes = subject.samples.nodes
    wrong = [
        (key, value)
        for key, value in sorted(spec.node_selector.items())
        if all(node.labels.get(key) != value for node in nodes)
    ]
    required = spec.affinity.node_affinity.required is not None
    field = "nodeSelector" if wrong or not required else "affinity.nodeAffinity"
    texts = [_told(subject.samples, key, value) for key, value in wrong]
    if not texts:
        count = count_of(len(nodes), "node")
        texts = [f"None of the {count} has all that it asks for together."]
    yield Finding(
        rule=ID,
        severity="error",
        objects=(workload.object,),
        field=workload.field(field),
        title=f"no node has the label that {workload.name} asks for",
        text=tuple(texts),
        facts={"nodes": len(nodes)},
        proof=COUNTED,
        ideas=tuple(idea for key, value in wrong for idea in _ideas(subject, workload, key, value)),
    )


def _told(cluster: Cluster, key: str, value: str) -> str:
    values = _values(cluster, key)
    count = count_of(len(cluster.nodes), "node")
    if not values:
        meant = lookalike({each for node in cluster.nodes for each in node.labels}, key)
        question = f" Did you mean {meant}?" if meant else ""
        return f"None of the {count} has a label {key}.{question}"
    some = (
        conjoined(values[:SHOWN], "or")
        if len(values) <= SHOWN
        else (f"{', '.join(values[:SHOWN])} or one of {len(values) - SHOWN} others")
    )
    alike = lookalikes(values, value)
    question = f" Did you mean {conjoined(alike[:SHOWN], 'or')}?" if len(alike) > 1 else ""
    return f"{key} is {some} on the {count}, never {value}.{question}"


def _values(cluster: Cluster, key: str) -> list[str]:
    return sorted({node.labels[key] for node in cluster.nodes if key in node.labels})


def _ideas(subject: Subject, workload: CheckedWorkload, key: str, value: str) -> Iterator[Idea]:
    """One value that was probably meant; of several nobody knows which."""
    meant = lookalikes(_values(subject.samples, key), value)
    if len(meant) == 1:
        selector = {**subject.spec(workload).node_selector, key: meant[0]}
        yield Idea(f"{key}: {meant[0]}", in_spec(workload, node_selector=selector))
