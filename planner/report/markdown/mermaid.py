"""Small clusters as Mermaid graphs, drawn like those of the Kubernetes documentation.

Zones are boxes around nodes, nodes boxes around pods; pods that are new or moved stand out. Names
are labels only: the graph's own identifiers are numbers, so that no name can be syntax.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from planner.cluster.snapshot import Cluster
from planner.report.markdown.escape import mermaid as label
from planner.report.markdown.render import Diagram, Fold, Part
from planner.report.text.blocks import Paragraph
from planner.report.text.cluster_view import (
    ClusterView,
    NodeView,
    PodView,
    ZoneView,
    placed,
    view_of,
)
from planner_models.fleet_decision import FleetDecision


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


MOST_NODES = 16
MOST_PODS = 80
MOST_CLUSTERS = 40

_STYLES = (
    "classDef pod fill:#326ce5,stroke:#fff,color:#fff",
    "classDef marked fill:#f2a900,stroke:#7a5500,color:#000",
    "classDef empty fill:#eee,stroke:#999,color:#333",
)


def small_enough(view: ClusterView) -> bool:
    """Whether anybody could read the graph."""
    return view.nodes <= MOST_NODES and len(view.pods) <= MOST_PODS


def cluster_graph(view: ClusterView, marked: Collection[str] = ()) -> str:
    """The cluster; `marked` pods (`namespace/name`) stand out.

    Mermaid draws boxes in boxes from the last to the first, so they are written that way round.
    """
    drawing = _Drawing(frozenset(marked))
    lines = ["flowchart LR"]
    if view.waiting:
        lines += drawing.box("waiting", "no node", drawing.pods(view.waiting))
    for zone in reversed(view.zones):
        lines += drawing.zone(zone)
    return "\n".join((*lines, *(f"  {style}" for style in _STYLES)))


class _Drawing:
    """Counts the boxes while a graph is drawn."""

    def __init__(self, marked: frozenset[str]) -> None:
        self._marked = marked
        self._zones = self._nodes = self._pods = 0

    def zone(self, zone: ZoneView) -> list[str]:
        self._zones += 1
        name = "nodes without a zone" if zone.name is None else zone.name
        inside = [line for node in reversed(zone.nodes) for line in self._node(node)]
        return self.box(f"z{self._zones}", name, inside, "TB")

    def _node(self, node: NodeView) -> list[str]:
        self._nodes += 1
        name = f"{node.name}, cordoned" if node.cordoned else node.name
        inside = self.pods(node.pods) or [f'  e{self._nodes}["no pods"]:::empty']
        return self.box(f"n{self._nodes}", name, inside)

    def pods(self, pods: Sequence[PodView]) -> list[str]:
        """One box each, called as their workload."""
        return list(map(self._pod, pods))

    def _pod(self, pod: PodView) -> str:
        self._pods += 1
        style = "marked" if pod.key in self._marked else "pod"
        return f'  p{self._pods}["{label(pod.workload.name)}"]:::{style}'

    def box(self, name: str, text: str, inside: Sequence[str], direction: str = "LR") -> list[str]:
        """A subgraph; boxes without links stand across its direction."""
        lines = [f'subgraph {name}["{label(text)}"]', f"  direction {direction}", *inside, "end"]
        return [f"  {line}" for line in lines]


def fleet_graph(document: FleetDecision, members: Mapping[str, Mapping[str, str]]) -> str | None:
    """The member clusters by the label of the first constraint; picked ones stand out."""
    if not document.constraints or not 0 < len(members) <= MOST_CLUSTERS:
        return None
    key = document.constraints[0].topology_key
    domains: dict[str, list[str]] = {}
    for name in sorted(members):
        domains.setdefault(members[name].get(key, f"without {key}"), []).append(name)
    lines, number = ["flowchart LR"], 0
    for place, domain in enumerate(sorted(domains, reverse=True)):
        lines += [f'  subgraph d{place}["{label(domain)}"]', "    direction LR"]
        for cluster in domains[domain]:
            number += 1
            style = "marked" if cluster in document.picked else "empty"
            lines.append(f'    c{number}["{label(cluster)}"]:::{style}')
        lines.append("  end")
    return "\n".join((*lines, *(f"  {style}" for style in _STYLES[1:])))
