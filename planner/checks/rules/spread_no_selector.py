"""`spread-no-selector`: a spread constraint whose labelSelector counts no pod.

Without a labelSelector nothing matches (kubernetes#135797), and up to v1.36 an empty one counts no
running pod either (kubernetes#141339): the constraint is there and does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_constraint
from planner.checks.finding import READ, Finding, Idea
from planner.checks.rule import Rule, per_workload
from planner.checks.subject import CheckedWorkload, Subject
from planner.checks.texts import braced
from planner_models.selectors import LabelSelector

ID = "spread-no-selector"


def _find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    for index, constraint in enumerate(subject.spec(workload).topology_spread_constraints):
        selector = constraint.label_selector
        if selector is not None and not selector.is_empty:
            continue
        yield Finding(
            rule=ID,
            severity="error",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}]"),
            title=f"the spread constraint of {workload.name} counts no pod",
            text=(
                "Without a labelSelector nothing matches."
                if selector is None
                else "An empty labelSelector counts no running pod.",
            ),
            proof=READ,
            ideas=tuple(own_labels(subject, workload, index)),
        )


def own_labels(subject: Subject, workload: CheckedWorkload, index: int) -> Iterator[Idea]:
    """The template's own labels as the selector of a constraint."""
    labels = dict(workload.template.metadata.labels)
    if labels:
        text = f"labelSelector: {{matchLabels: {braced(labels)}}}"
        selector = LabelSelector(match_labels=labels)
        yield Idea(text, in_constraint(workload, index, label_selector=selector))


RULE = Rule(ID, "error", False, "a spread constraint that counts no pod", per_workload(_find))
