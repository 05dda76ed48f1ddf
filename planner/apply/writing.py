"""Requests that change something; nothing but `apply` and `run` may import them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from planner.sources.live.api import Answer
from planner.sources.live.requests import JSON, PAUSES, Message, Requests

MERGE_PATCH = "application/merge-patch+json"
MANAGER = "planner"
"""The field manager that the server notes."""


class Writer(Requests):
    """Reads, posts and patches on one connection, one request after the other.

    A request that got no answer is sent again, although the first one may have arrived. So each of
    them has to be harmless the second time: an eviction by its uid, a patch by its resourceVersion,
    a new object by its name.
    """

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        dry_run: bool = False,
        pauses: tuple[float, ...] = PAUSES,
    ) -> Answer:
        """Create an object, or with `dry_run` ask whether that could be done."""
        query = {"fieldManager": MANAGER} | ({"dryRun": "All"} if dry_run else {})
        return self._send("POST", path, query, JSON, body, pauses)

    def patch(
        self, path: str, body: Mapping[str, Any], *, pauses: tuple[float, ...] = PAUSES
    ) -> Answer:
        """A merge patch; with `metadata.resourceVersion` in it, of that very version (409)."""
        return self._send("PATCH", path, {"fieldManager": MANAGER}, MERGE_PATCH, body, pauses)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        content: str,
        body: Mapping[str, Any],
        pauses: tuple[float, ...],
    ) -> Answer:
        text = json.dumps(body, separators=(",", ":")).encode()
        headers = {"Accept": JSON, "Content-Type": content}
        return self._ask(Message(method, f"{path}?{urlencode(query)}", headers, text), pauses)
