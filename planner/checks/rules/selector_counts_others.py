"""`selector-counts-others`: a spread constraint that counts pods of other workloads, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import JsonValue

from planner.checks.changes import in_constraint
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.texts import braced, selector_text
from planner.checks.workloads import CheckedWorkload
from planner.words import conjoined, count_of, short_key
from planner_models.selectors import LabelSelector

ID = "selector-counts-others"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    cluster, namespace = subject.samples, workload.ref.namespace
    for index, constraint in enumerate(subject.spec(workload).topology_spread_constraints):
        selector = constraint.label_selector
        if selector is None or selector.is_empty:
            continue
        groups = cluster.group_index.matching(selector, (namespace,)).tolist()
        others = [each for each in groups if cluster.workloads[each] != workload.ref]
        counted = np.isin(cluster.group_of, others) & (cluster.node_of >= 0)
        if not counted.any():
            continue
        names = sorted({cluster.workloads[int(g)].short for g in cluster.group_of[counted]})
        labels = dict(workload.template.metadata.labels)
        own = LabelSelector(match_labels=labels)
        key = short_key(constraint.topology_key)
        yield Finding(
            rule=ID,
            severity="note",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}].labelSelector"),
            title=f"the {key} spread of {workload.name} counts {conjoined(names)}, too",
            text=(
                f"{selector_text(selector)} matches {count_of(int(counted.sum()), 'running pod')} "
                "of other workloads; where they run decides where these may go.",
            ),
            facts={"others": list[JsonValue](names)},
            proof=COUNTED,
            ideas=(
                Idea(
                    f"labelSelector: {{matchLabels: {braced(labels)}}}",
                    in_constraint(workload, index, label_selector=own),
                ),
            )
            if labels
            else (),
        )
