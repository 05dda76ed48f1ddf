"""What `Cluster.solve` answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner.words import count_of
from planner_models import plan
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.report.emit import Texts
    from planner.report.html.view import Page


class Plan(plan.Plan, Answer):
    """Where pods go and in which steps; `to_dataframe` has a row for each pod that gets a node."""

    _columns: ClassVar[tuple[str, ...]] = ("pod", "workload", "from_", "node", "reason", "breaks")

    def to_script(self) -> str:
        """A shell script that evicts the pods, wave by wave."""
        return self.to_text("script")

    def _own_text(self, output: str) -> str | None:
        if output != "script":
            return None
        from planner.report.scripts import plan_script

        return plan_script(self)

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import plan_table

        return plan_table

    def _page(self) -> Page:
        from planner.report.html.solve_page import solve_page

        return solve_page(self._snapshot, self, self._origin.given)

    def _rows(self) -> Sequence[Document]:
        return self.placements

    def _short(self) -> str:
        return (
            f"{self.status}, {count_of(len(self.placements), 'placement')} in "
            f"{count_of(len(self.waves), 'wave')}, "
            f"{len(self.unplaced)} unplaced"
        )
