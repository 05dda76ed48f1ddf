"""What `Cluster.explain` answers, and what changes cost there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner.api.arguments import meant, require_at_least
from planner.errors import UsageError
from planner_models import diagnosis
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.disruption.movability import MovePolicy
    from planner.explain.diagnose import ExplainOptions
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner.scheduler.profile import Profile

MOST_COST = 1_000_000


class Diagnosis(diagnosis.Diagnosis, Answer):
    """Why pods can't run; `to_dataframe` has a row for each workload that was judged."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("workloads", "targets", "verdict", "headline", "short", "remedy", "message"),
    )

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import explain_table

        return explain_table

    def _page(self) -> Page:
        from planner.report.html.explain_page import explain_page

        return explain_page(self._snapshot, self, self._origin.given)

    def _rows(self) -> Sequence[Document]:
        return self.parts or (self,)

    def _short(self) -> str:
        return f"{self.verdict}, {self.headline}"


def costs_of(given: Mapping[str, int]) -> dict[diagnosis.RepairKind, int]:
    """The documented costs with the caller's own put in."""
    from planner.explain.repairs import COSTS

    costs: dict[diagnosis.RepairKind, int] = dict(COSTS)
    for name, cost in given.items():
        kind = next((each for each in costs if each == name), None)
        if kind is None:
            raise UsageError(
                f'`costs={name}={cost}`: there is no kind of change "{name}"',
                help=meant(name, costs) or f"kinds: {', '.join(sorted(costs))}",
            )
        if not 0 <= cost <= MOST_COST:
            raise UsageError(
                f"`costs={name}=N`: N is a whole number from 0 to {MOST_COST}",
                help=f"such as `costs={name}={costs[kind]}`, which is the default",
            )
        costs[kind] = cost
    return costs


def explain_options(
    policy: MovePolicy, costs: Mapping[str, int] | None, states: int | None, cells: int | None
) -> ExplainOptions:
    """The limits and costs of an explanation."""
    from planner.explain.diagnose import ExplainOptions
    from planner.explain.room.rearrange import MOST_CELLS, STATES, Limits

    require_at_least("states", states, 1)
    require_at_least("cells", cells, 1)
    limits = Limits(
        states=STATES if states is None else states,
        cells=MOST_CELLS if cells is None else cells,
        policy=policy,
    )
    return ExplainOptions(limits, costs_of(costs or {}))


NOT_LOOKED_AT = frozenset(("quota", "autoscaler", "cronJob"))
"""Notices about objects that an explanation leaves out."""


def beside_messages(
    found: diagnosis.Diagnosis, cluster: Cluster, profiles: Sequence[Profile], pods: Sequence[int]
) -> diagnosis.Diagnosis:
    """With a notice where kube-scheduler's own word, in the pods' status, is another.

    And with those about objects that decide how many pods there are, which nothing here looks at.
    """
    from planner.scheduler.status_messages import contradictions

    others = (each for each in cluster.notices if each.code in NOT_LOOKED_AT)
    notices = (*found.notices, *contradictions(cluster, profiles, pods), *others)
    return found.model_copy(update={"notices": notices}) if notices else found
