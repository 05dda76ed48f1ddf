"""What a command reads: files, a packaged example, or what is piped in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from planner.cli.errors import UsageError, warn_of_skipped
from planner.cli.session import session_of
from planner.sources.errors import SourceError
from planner.sources.example import example_file

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.sources.inventory import Inventory

STDIN = "-"


def read_cluster(context: typer.Context, paths: Sequence[str]) -> tuple[Inventory, Cluster]:
    """The objects in some paths, and the cluster that they are."""
    from planner.cluster import build_cluster
    from planner.sources.load import load_paths

    session = session_of(context)
    inventory = load_paths(paths, options=session.reading)
    warn_of_skipped(inventory.notices)
    cluster = build_cluster(inventory)
    session.tell(f"read {len(cluster.nodes)} nodes and {len(cluster.pods)} pods")
    return inventory, cluster


def input_paths(
    command: str,
    filenames: Sequence[str] | None,
    example: str | None,
    terminal: bool,
    suggested: str = "docs-conflicting-constraints",
) -> list[str]:
    """The paths to read; nobody is left waiting for a terminal that has nothing to say."""
    paths = [*(filenames or ()), *((example_file(example),) if example is not None else ())]
    if paths:
        return paths
    if terminal:
        raise UsageError(
            "nothing to read: no -f, and stdin is a terminal",
            help=f"{command} -f cluster.json, or pipe kubectl's output, or\n"
            f"try {command} --example {suggested}",
        )
    return [STDIN]


def require_nodes(cluster: Cluster) -> None:
    """For commands that place pods: without nodes there is nothing to say about any of them."""
    if cluster.nodes:
        return
    from planner.words import count_of

    workloads = {ref for ref in cluster.workloads if ref.kind != "Pod"}
    kinds = sorted({ref.kind for ref in workloads})
    read = [
        count_of(len(cluster.pods), "pod"),
        *(count_of(sum(ref.kind == kind for ref in workloads), kind) for kind in kinds),
    ]
    were = "was" if len(read) == 1 and len(cluster.pods) == 1 else "were"
    raise SourceError(
        "the input has no nodes, so nothing can be placed",
        help=f"{' and '.join(read)} {were} read; add: kubectl get nodes -o json",
    )
