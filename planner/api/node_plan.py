"""What `Cluster.scale_up` answers, and the pools that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner_models import base, node_plan

if TYPE_CHECKING:
    from planner.api.load import Source
    from planner.pools import PoolInput
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner_models.node import Node

OBJECTIVES = ("price", "nodes", "cpu")
SURVIVED = ("zone", "node", "none")
ZONES = ("given", "used")


class NodePlan(node_plan.NodePlan, Answer):
    """Which nodes to add; `to_dataframe` has a row for each pool and zone that gets some."""

    _columns: ClassVar[tuple[str, ...]] = ("pool", "zone", "nodes", "price", "pods")

    def to_manifests(self) -> str:
        """The new nodes as Node objects, with which `planner simulate` can be asked, too."""
        return self.to_text("yaml")

    def _own_text(self, output: str) -> str | None:
        from planner.report.node_manifests import node_manifests

        return node_manifests(self) if output == "yaml" else None

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import scale_up_table

        return scale_up_table

    def _page(self) -> Page:
        from planner.report.html.scale_up_page import scale_up_page

        return scale_up_page(self)

    def _rows(self) -> Sequence[base.Document]:
        return self.adds

    def _short(self) -> str:
        return f"{self.status}, {sum(each.nodes for each in self.adds)} nodes, cost {self.cost:g}"


def pool_input_of(
    source: Source | Iterable[Source], nodes: Sequence[Node], max_input: int | str | None = None
) -> PoolInput:
    """The pools in files, directories or open files, and what there is to say about them.

    `sample-instance-types` stands for planner's own table of instance types, unless a file of that
    name is there.
    """
    from planner.api.load import documents_of, read_options, sources_of
    from planner.pools import pools_in
    from planner.pools.read import SAMPLE, SAMPLE_FILE
    from planner.sources.read import RawDocument

    own = not Path(SAMPLE).exists()
    named = [str(SAMPLE_FILE) if own and each == SAMPLE else each for each in sources_of(source)]
    documents = documents_of(named, read_options(max_input, skip_invalid=False))
    return pools_in((each for each in documents if isinstance(each, RawDocument)), nodes)
