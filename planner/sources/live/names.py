"""Names of a running cluster, for completion on the command line: a few, and soon."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from planner.sources.live.api import Api
from planner.sources.live.kinds import PODS, Kind
from planner.sources.live.requests import Requests

MOST = 250
"""Names in a list; nobody reads more."""

METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""Names without what they stand for."""

WAITS = "waits for a node"


class _Meta(msgspec.Struct):
    name: str


class _Item(msgspec.Struct):
    metadata: _Meta


class _Names(msgspec.Struct):
    items: list[_Item] | None


def names(
    api: Api, kind: Kind, namespace: str | None = None, *, waiting_first: bool = False
) -> Iterator[tuple[str, str]]:
    """Names, and what there is to say about each; pods without a node first, if that is wanted."""
    requests = Requests(api)
    try:
        here = f"metadata.namespace={namespace}" if namespace and kind is PODS else ""
        seen: set[str] = set()
        if waiting_first:
            for name in _listed(requests, kind, f"{here},spec.nodeName=".strip(",")):
                seen.add(name)
                yield name, WAITS
        for name in _listed(requests, kind, here):
            if name not in seen:
                yield name, ""
    finally:
        requests.close()


def _listed(requests: Requests, kind: Kind, fields: str) -> list[str]:
    query: dict[str, str | int] = {"limit": MOST} | ({"fieldSelector": fields} if fields else {})
    answer = requests.get(kind.path, query, accept=METADATA, pauses=())
    found = msgspec.json.decode(answer.body, type=_Names)
    return [item.metadata.name for item in found.items or ()]
