"""Names that the API server makes up: `generateName` and five characters."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from planner_models.labels import NAME_LIMIT

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The characters Kubernetes makes random name suffixes of (no vowels, no look-alikes)."""

_SUFFIX_LENGTH = 5


def suffix(text: str, length: int = _SUFFIX_LENGTH) -> str:
    """A name suffix that looks random and is always the same."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:length])


def generated_name(prefix: str, seed: str) -> str:
    """`web-x7k2p` for `generateName: web-`; the prefix is cut so that all fits a DNS label."""
    return prefix[: NAME_LIMIT - _SUFFIX_LENGTH] + suffix(seed)


class GeneratedNames:
    """Names for the objects of one input: each of them is created, so no two get the same.

    Whoever goes through the same objects in the same order finds the same names.
    """

    def __init__(self) -> None:
        self._given: Counter[tuple[str, str, str]] = Counter()

    def name(self, kind: str, namespace: str, prefix: str) -> str:
        """The name of the next object with this `generateName`."""
        key = (kind, namespace or "default", prefix)
        self._given[key] += 1
        return generated_name(prefix, "/".join((*key, str(self._given[key]))))

    def named(self, raw: dict[str, Any]) -> dict[str, Any]:
        """An object as JSON with the name that it gets; itself if it has one, or gets none."""
        meta = raw.get("metadata")
        if not isinstance(meta, dict) or meta.get("name") or not meta.get("generateName"):
            return raw
        kind, prefix = str(raw.get("kind") or ""), str(meta["generateName"])
        name = self.name(kind, str(meta.get("namespace") or ""), prefix)
        return {**raw, "metadata": {**meta, "name": name}}
