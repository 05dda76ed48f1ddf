"""Memory between two stages of a search.

What Python and numpy have freed stays with the process, and a solver that works in a thread of its
own has no part of it: glibc gives every thread its own share. So the peak of a search was the sum
of what its stages took one after the other.
"""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Give freed memory back to the system, where the C library can: it takes a millisecond."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
