"""A running cluster as an inventory: pages are decoded as they come, files put on top of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from planner.sources.cluster_id import cluster_id
from planner.sources.decode import decode_documents
from planner.sources.inventory import Inventory
from planner.sources.live.api import Api
from planner.sources.live.kinds import PODS
from planner.sources.live.not_read import warning
from planner.sources.live.on_top import OnTop
from planner.sources.live.pages import LIMIT, Page
from planner.sources.live.reader import Reader, ReadProgress
from planner.sources.load import load_documents
from planner.sources.options import DEFAULTS, ReadOptions
from planner.sources.pod_row import PodPage
from planner.sources.read import Document, RawDocument
from planner_models.source import ClusterSource


@dataclass(frozen=True)
class LiveRead:
    """A cluster that was read, and what there is to say about the reading itself."""

    inventory: Inventory
    source: ClusterSource
    warnings: tuple[str, ...]
    given: tuple[Document, ...] = ()
    """The documents of files, in the namespaces that they go into."""
    objects: tuple[RawDocument, ...] | None = None
    """What was read as it came, if that was to be kept."""


def read_snapshot(  # noqa: PLR0913 - options are keywords
    api: Api,
    documents: Iterable[Document] = (),
    options: ReadOptions = DEFAULTS,
    progress: Callable[[ReadProgress], object] = lambda _: None,
    *,
    namespace: str | None = None,
    limit: int = LIMIT,
    keep_objects: bool = False,
    sleep: Callable[[float], object] | None = None,
) -> LiveRead:
    """Everything that planner reads of a cluster, with documents of files on top of it.

    Those without a namespace go into `namespace`, by default that of the context.
    """
    given = tuple(documents)
    # What is wrong with a file is told in its own words, before anything is asked for.
    decode_documents(given, skip_invalid=options.skip_invalid)
    files = OnTop(given, namespace or api.namespace)
    kept: list[RawDocument] = []
    reader = Reader(api, progress, limit, sleep)
    with closing(reader.pages()) as pages:
        live = _documents(api.place.removeprefix("the cluster of "), pages, files)
        live = _keeping(live, kept) if keep_objects else live
        inventory = load_documents(files.documents(), options, live)
    inventory = replace(inventory, notices=(*inventory.notices, *files.notices()))
    forbidden = reader.forbidden
    missing = warning(forbidden, inventory, manifests=bool(given)) if forbidden else None
    source = ClusterSource(
        cluster=cluster_id(inventory),
        context=api.context,
        server=reader.server,
        resource_version=reader.moment,
        read_at=datetime.fromtimestamp(int(reader.began), UTC),
        read_milliseconds=max(0, round((time.time() - reader.began) * 1000)),
        not_read=tuple(kind.resource for kind in forbidden),
    )
    told = (*reader.warnings(), *(() if missing is None else (missing,)))
    read = LiveRead(inventory, source, told, files.given)
    if not keep_objects:
        return read
    applied = (each for each in files.documents() if isinstance(each, RawDocument))
    return replace(read, objects=(*kept, *applied))


def _documents(name: str, pages: Iterable[Page], files: OnTop) -> Iterator[RawDocument | PodPage]:
    """Pods have a reader of their own; what files change comes later."""
    for page in pages:
        data = files.rest(page.data)
        yield PodPage(name, data) if page.kind is PODS else RawDocument(name, data, 1)


def _keeping(
    live: Iterable[RawDocument | PodPage], kept: list[RawDocument]
) -> Iterator[RawDocument | PodPage]:
    for page in live:
        kept.append(RawDocument(page.file, page.data, 1))
        yield page
