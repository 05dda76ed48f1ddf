"""What `Cluster.simulate` answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import PrivateAttr

from planner.api.answers import Answer
from planner_models import simulation
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.api.cluster import Cluster
    from planner.report.emit import Texts
    from planner.report.html.view import Page


class Simulation(simulation.Simulation, Answer):
    """What kube-scheduler does; `to_dataframe` has a row for each pod."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("pod", "workload", "outcome", "node", "priority", "feasible", "tied", "best"),
        *("message", "diagnosis"),
    )
    _after: Cluster = PrivateAttr()

    @property
    def after(self) -> Cluster:
        """The cluster with the pods where kube-scheduler put them."""
        return self._after

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import simulation_table

        return simulation_table

    def _page(self) -> Page:
        from planner.report.html.simulate_page import simulate_page

        return simulate_page(self._snapshot, self, self._origin.given)

    def _rows(self) -> Sequence[Document]:
        return self.pods

    def _short(self) -> str:
        return f"{self.summary.scheduled} scheduled, {self.summary.unschedulable} unschedulable"
