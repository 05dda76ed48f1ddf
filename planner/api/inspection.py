"""What `Cluster.inspect` answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import PrivateAttr

from planner.api.answers import Answer
from planner.words import count_of
from planner_models import inspection
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.report.emit import Texts
    from planner.report.html.view import Page


class Inspection(inspection.Inspection, Answer):
    """What is in the cluster; `to_dataframe` has a row for each workload."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("namespace", "kind", "name", "desired", "running", "pending", "terminating"),
        *("elsewhere", "budgets"),
    )
    _as_map: bool = PrivateAttr(default=False)

    def as_map(self) -> Inspection:
        """The same, with a map of letters in the place of its tables."""
        drawn = Inspection.of(self._document, self._origin)
        drawn._as_map = True
        return drawn

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import inspect_table

        if not self._as_map:
            return inspect_table
        from planner.report.tables.cluster_map import MapTexts

        return MapTexts(self._snapshot)

    def _page(self) -> Page:
        from planner.report.html.inspect_page import inspect_page

        return inspect_page(self._snapshot, self, self._origin.given)

    def _rows(self) -> Sequence[Document]:
        return self.workloads

    def _short(self) -> str:
        nodes, pods = count_of(self.nodes.total, "node"), count_of(self.pods.running, "pod")
        counts = f"{nodes}, {pods} running"
        return f"{counts}, {self.spread.excess} over the limit"
