"""Lists of the API server, page by page.

What a page says of itself stands before its items, so the next page is asked for while somebody
else decodes this one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping

import msgspec

from planner.sources.live.api import ApiError, UnreachableError
from planner.sources.live.kinds import PODS, Kind
from planner.sources.live.requests import Requests

LIMIT = 500
"""Items in a page, as kubectl asks for them."""

UNFINISHED = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
"""Finished pods use no room: kube-scheduler doesn't read them either."""

_META = re.compile(
    rb'\s*\{(?:\s*"(?:kind|apiVersion)":\s*"[^"\\]*",)*\s*"metadata":\s*(\{[^{}]*\})'
)


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    items: list[msgspec.Raw] | None
    metadata: _ListMeta


class Page(msgspec.Struct, frozen=True):
    """Some items of a list as the server wrote them."""

    kind: Kind
    data: bytes
    resource_version: str
    last: bool
    items: int
    asked: float
    """When, in seconds of the system's clock."""
    newer: bool = False
    """Whether it is of a later state than the pages before it."""


class NoListError(Exception):
    """The answer is none of an API server."""


def pages(requests: Requests, kind: Kind, moment: str = "", limit: int = LIMIT) -> Iterator[Page]:
    """The list of a kind at one state: that of `moment`, or without it the newest one.

    A state is kept for some minutes. If it is gone in the middle of a list, pods go on at a newer
    one: a page holds what follows the last name of the page before, so no pod comes twice. Of all
    other kinds the ApiError (410) is left to the caller, who can begin again.
    """
    first = {"resourceVersion": moment, "resourceVersionMatch": "Exact"} if moment else {}
    query: Mapping[str, str] = {**(UNFINISHED if kind is PODS else {}), **first}
    newer = False
    while True:
        asked = time.time()
        try:
            answer = requests.get(kind.path, {"limit": limit, **query})
        except ApiError as error:
            if kind is not PODS or not (error.code == 410 and error.continue_):
                raise
            query, newer = {**UNFINISHED, "continue": error.continue_}, True
            continue
        meta = _meta(answer.body)
        last = not meta.continue_
        yield Page(
            kind,
            answer.body,
            meta.resource_version,
            last,
            _count(answer.body) if last else limit,
            asked,
            newer,
        )
        if last:
            return
        query = {**(UNFINISHED if kind is PODS else {}), "continue": meta.continue_}


def _meta(text: bytes) -> _ListMeta:
    found = _META.match(text)
    try:
        if found:
            return msgspec.json.decode(found[1], type=_ListMeta)
        return msgspec.json.decode(text, type=_List).metadata
    except msgspec.ValidationError as error:
        raise NoListError from error
    except ValueError as error:
        raise UnreachableError("the answer is no JSON") from error


def _count(text: bytes) -> int:
    """All pages but the last are full."""
    try:
        return len(msgspec.json.decode(text, type=_List).items or ())
    except ValueError as error:
        raise UnreachableError("the answer is no JSON") from error
