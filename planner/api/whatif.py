"""What `Cluster.whatif` answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import PrivateAttr

from planner.api.answers import Answer
from planner.api.arguments import one_of
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner_models import whatif
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.api.cluster import Cluster
    from planner.api.load import Source
    from planner.cluster import Cluster as Snapshot
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner.scenario import AddNodes, Apply, Manner, Settled
    from planner.sources.read import RawDocument

MANNERS = ("unreachable", "removed", "both")
NOTHING = "--lose zone/eu-1a, --each zone, --scale deploy/web=6, --apply FILE, --add-nodes FILE, \
or --cordon NODE"


class WhatIf(whatif.WhatIf, Answer):
    """What happens; `to_dataframe` has a row for each workload, or for each single failure."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("workload", "before", "lost", "after", "waiting", "unreplaced", "message"),
    )
    _after: Cluster | None = PrivateAttr(None)

    @property
    def after(self) -> Cluster:
        """The cluster when nothing happens any more: in the last manner that was asked for."""
        if self._after is None:
            raise UsageError("many failures were tried, and each ends differently")
        return self._after

    def to_script(self) -> str:
        """A shell script that says which pods go before a workload is scaled down."""
        return self.to_text("script")

    def _own_text(self, output: str) -> str | None:
        from planner.report.scripts import whatif_script

        return whatif_script(self) if output == "script" else None

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import whatif_table

        return whatif_table

    def _page(self) -> Page:
        from planner.report.html.whatif_page import whatif_page

        return whatif_page(self)

    def _rows(self) -> Sequence[Document]:
        return self.manners[-1].workloads if self.manners else ()

    def _short(self) -> str:
        from planner.report.tables.whatif_table import headline

        return headline(self)


def manners_of(word: str) -> tuple[Manner, ...]:
    """Both, or one of them."""
    one_of("manner", word, MANNERS)
    return ("unreachable", "removed") if word == "both" else (cast("Manner", word),)


def applied(cluster: Cluster, source: Source | Iterable[Source]) -> Iterator[Apply]:
    """Manifests over the objects that the cluster was made of."""
    from planner.api.load import documents_of, paths_of, read_options
    from planner.scenario import Apply
    from planner.sources.load import load_documents, load_paths

    reading = read_options(None, skip_invalid=False)
    own = tuple(documents_of(source, reading))
    if not own:
        return
    if cluster.objects is not None:
        yield Apply(load_documents((*cluster.objects, *own), reading))
        return
    paths = paths_of(cluster.paths, cluster.example)
    if "-" in paths or not paths:
        raise UsageError(
            "manifests can't be applied: the cluster's own objects were not kept",
            help="load it with `keep_objects=True`, or from a file",
        )
    yield Apply(load_paths(paths, options=reading, on_top=own))


def raw_documents(source: Source | Iterable[Source]) -> tuple[RawDocument, ...]:
    """Manifests as they were written; open files can't be read a second time."""
    from planner.api.load import documents_of, read_options
    from planner.sources.read import RawDocument

    every = source if isinstance(source, list | tuple) else (source,)
    paths = [each for each in every if isinstance(each, str | os.PathLike)]
    found = documents_of(paths, read_options(None, skip_invalid=False))
    return tuple(each for each in found if isinstance(each, RawDocument))


def in_the_end(settled: Settled) -> Snapshot:
    """The cluster as it could be dumped: pods that hold up their successors are leaving."""
    import msgspec

    held = {each.pod: each.node for each in settled.changed.lost if each.fate == "held"}
    pods = settled.cluster.pods
    records = {pod: msgspec.structs.replace(pods[pod], terminating=True) for pod in held}
    return settled.cluster.with_pods(records).with_placement(held)


def file_names(source: Source | Iterable[Source]) -> tuple[str, ...]:
    """What texts call manifests: files by their name, without the way to them."""
    every = source if isinstance(source, list | tuple) else (source,)
    paths = (os.fspath(each) for each in every if isinstance(each, str | os.PathLike))
    return tuple(PurePath(path).name for path in paths)


def added(words: Iterable[str]) -> Iterator[AddNodes]:
    """`FILE` or `FILE=N`: so many nodes like each Node object of the file."""
    from planner.api.load import documents_of, read_options
    from planner.scenario import AddNodes
    from planner.sources.load import load_documents

    for word in words:
        path, sign, number = word.rpartition("=")
        counted = bool(sign) and number.isdigit()
        file, count = (path, int(number)) if counted else (word, 1)
        reading = read_options(None, skip_invalid=False)
        nodes = load_documents(documents_of(file, reading), reading).nodes
        if not nodes:
            raise SourceError("there is no Node object to add", file=file)
        if count < 1:
            raise UsageError(f"can't add {count} nodes like those of {file}")
        yield from (AddNodes(node, count) for node in nodes)
