"""What `Cluster.scale_up` answers, and the pools that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner_models import base, node_plan

if TYPE_CHECKING:
    from planner.api.load import Source
    from planner.pools import Pool
    from planner.report.emit import Texts
    from planner.report.html.view import Page

OBJECTIVES = ("price", "nodes", "cpu")


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


def pools_of(source: Source | Iterable[Source], max_input: int | str | None) -> tuple[Pool, ...]:
    """The templates in files, directories or open files."""
    from planner.api.load import documents_of, read_options
    from planner.pools import read_pools
    from planner.sources.load import load_documents
    from planner.sources.read import Document, RawDocument

    options = read_options(max_input, skip_invalid=False)
    documents = tuple(documents_of(source, options))
    nodes = load_documents(documents, options).nodes
    by_file: dict[str, list[Document]] = {}
    for each in documents:
        if isinstance(each, RawDocument):
            by_file.setdefault(each.file, []).append(each)
    files = {
        node.name: file
        for file, found in by_file.items()
        for node in load_documents(found, options).nodes
    }
    return read_pools(nodes, files)
