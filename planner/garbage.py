"""How often Python looks for garbage.

Snapshots are millions of objects that stay, and what is done with them leaves few cycles behind:
looking at all of them as often as Python does by itself would take a good part of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLD = 100_000
"""New objects until it is time to look."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """For a while, in a process that is somebody else's, such as a Dask worker."""
    before = gc.get_threshold()
    gc.set_threshold(THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
