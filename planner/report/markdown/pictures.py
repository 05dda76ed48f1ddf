"""Before and after as folded graphs, for clusters that are small enough to be looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from planner.cluster.snapshot import Cluster
from planner.report.markdown.mermaid import cluster_graph, small_enough
from planner.report.markdown.render import Diagram, Fold, Part
from planner.report.text.blocks import Paragraph
from planner.report.text.cluster_view import placed, view_of


def picture(summary: str, cluster: Cluster | None, marked: Collection[str]) -> Iterator[Part]:
    """The cluster as it is; nothing where it is too large."""
    if cluster is not None and small_enough(view := view_of(cluster)):
        yield Fold(summary, (Diagram(cluster_graph(view, marked)),))


def before_and_after(
    cluster: Cluster | None, placement: Mapping[str, str | None]
) -> Iterator[Part]:
    """Both, with what changes its place standing out."""
    if cluster is None or not placement or not small_enough(view := view_of(cluster)):
        return
    after = view_of(placed(cluster, placement))
    yield Fold(
        "Before and after",
        (
            Paragraph("Before:"),
            Diagram(cluster_graph(view, placement)),
            Paragraph("After:"),
            Diagram(cluster_graph(after, placement)),
        ),
    )
