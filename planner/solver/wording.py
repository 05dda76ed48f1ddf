"""Words for lists of names."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 3


def named(names: Sequence[str]) -> str:
    """The first few names, and how many there are besides."""
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
