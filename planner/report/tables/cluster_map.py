"""The cluster as a map of letters: zones as boxes, nodes inside, one letter per pod.

Large clusters get the table of their zones instead: a map that fits no screen helps nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_letters, ascii_uppercase, digits

from planner.cluster.owners import WorkloadRef
from planner.cluster.snapshot import Cluster
from planner.report.tables import inspect_table
from planner.report.text.blocks import GAP, NO_BREAK, WIDTH, Block, Paragraph, shortened, visible
from planner.report.text.cluster_view import ClusterView, NodeView, PodView, ZoneView, view_of
from planner.report.text.wording import decimal
from planner.words import count_of
from planner_models.inspection import Inspection

MOST_NODES = 60
LETTERS_PER_NODE = 24
"""More pods of a node are counted: `AAB+12`."""
LONGEST_NAME = 24
OTHER = "*"
"""Workloads beyond the letters and digits share this sign."""


class MapTexts:
    """An inspection with the map of its cluster in the place of the tables."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def blocks(self, document: Inspection, *, wide: bool) -> Sequence[Block]:
        """Summary, the map and its legend, what is not steady."""
        found: list[Block] = [Paragraph(inspect_table.headline(document), "bold")]
        if document.nodes.total:
            found.append(Paragraph(f"Requested: {_requested(document)}"))
        found.append(GAP)
        if document.nodes.total > MOST_NODES:
            nodes = count_of(document.nodes.total, "node")
            found.append(Paragraph(f"{nodes} are too many for a map; by zone:"))
            if document.nodes.zones:
                found.append(inspect_table.zone_table(document.nodes.zones, wide=wide))
        else:
            found.extend(map_blocks(view_of(self._cluster)))
        found.extend((GAP, inspect_table.steadiness(document)))
        return found

    def names(self, document: Inspection) -> Iterable[str]:
        """As without a map."""
        return inspect_table.names(document)


def _requested(document: Inspection) -> str:
    return inspect_table.requested_text(document.utilisation)


def map_blocks(view: ClusterView) -> Iterator[Block]:
    """Zone by zone, the pods that wait, and what the letters mean."""
    letters = letters_of(view.pods)
    drawn = [[_cells(node, letters) for node in zone.nodes] for zone in view.zones]
    widths = [max(map(len, column)) for column in zip(*(c for z in drawn for c in z), strict=True)]
    width = sum(widths) + 2
    columns = min((WIDTH - 4 + 3) // (width + 3), max(map(len, drawn), default=1)) or 1
    for zone, cells in zip(view.zones, drawn, strict=True):
        name, signs, cpu = widths
        nodes = [f"{n:<{name}} {s:<{signs}} {c:<{cpu}}" for n, s, c in cells]
        yield from _box(zone, nodes, columns, columns * (width + 3) - 3)
    if view.waiting:
        waiting = "".join(sorted(letters[pod.workload] for pod in view.waiting))
        yield Paragraph(f"No node: {waiting}")
    yield Paragraph(_legend(letters, view.pods))
    yield Paragraph("The number is the CPU requested on the node; a node in brackets is cordoned.")


def letters_of(pods: Sequence[PodView]) -> dict[WorkloadRef, str]:
    """A letter per workload: of its own name if it is free, else the next that is.

    Single pods are told apart by how their names end.
    """
    found: dict[WorkloadRef, str] = {}
    free = dict.fromkeys((*ascii_uppercase, *ascii_letters, *digits))
    for workload in sorted({pod.workload for pod in pods}):
        name = workload.name.upper()
        own = [sign for sign in (name[::-1] if workload.kind == "Pod" else name) if sign in free]
        sign = own[0] if own else next(iter(free), OTHER)
        free.pop(sign, None)
        found[workload] = sign
    return found


def _cells(node: NodeView, letters: dict[WorkloadRef, str]) -> tuple[str, str, str]:
    """`a1`, `AABFSW`, `2.4`."""
    name = shortened(visible(node.name), LONGEST_NAME)
    signs = "".join(sorted(letters[pod.workload] for pod in node.pods))
    if len(signs) > LETTERS_PER_NODE:
        signs = f"{signs[:LETTERS_PER_NODE]}+{len(signs) - LETTERS_PER_NODE}"
    cpu = decimal(node.cpu_milli, 1000)
    return (f"({name})" if node.cordoned else name, signs or "-", cpu)


def _box(zone: ZoneView, nodes: Sequence[str], columns: int, inner: int) -> Iterator[Block]:
    name = "nodes without a zone" if zone.name is None else visible(zone.name)
    yield _line(f"+- {shortened(name, inner - 3)} ".ljust(inner + 3, "-") + "+")
    for start in range(0, len(nodes), columns):
        row = "   ".join(nodes[start : start + columns])
        yield _line(f"| {row:<{inner}} |")
    yield _line("+" + "-" * (inner + 2) + "+")


def _line(text: str) -> Paragraph:
    """Drawn, not written: spaces stay as they are."""
    return Paragraph(text.replace(" ", NO_BREAK))


def _legend(letters: dict[WorkloadRef, str], pods: Sequence[PodView]) -> str:
    """`One letter per pod: A api (12), B batch (8).`"""
    if not letters:
        return "No pods."
    counts = Counter(pod.workload for pod in pods)
    several = len({workload.namespace for workload in letters}) > 1
    names = [
        f"{sign}{NO_BREAK}{f'{ref.namespace}/' if several else ''}{ref.name}"
        f"{NO_BREAK}({counts[ref]})"
        for ref, sign in sorted(letters.items(), key=lambda item: (item[1], item[0]))
        if sign != OTHER
    ]
    others = sum(counts[ref] for ref, sign in letters.items() if sign == OTHER)
    if others:
        names.append(f"{OTHER}{NO_BREAK}other workloads{NO_BREAK}({others})")
    return f"One letter per pod: {', '.join(names)}."
