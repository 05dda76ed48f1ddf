"""What a user may say about how input is read."""

from __future__ import annotations

from dataclasses import dataclass

MAX_INPUT = 16 << 30
"""Bytes of text in one file: kubectl writes 15,000 nodes and 450,000 pods into about 10 GB."""


SKIPPED = "invalid"
"""The code of the notice about objects that were left out."""


@dataclass(frozen=True)
class ReadOptions:
    """How much text a file may hold, unpacked, and whether to go on without unusable objects."""

    max_input: int = MAX_INPUT
    skip_invalid: bool = False


DEFAULTS = ReadOptions()
