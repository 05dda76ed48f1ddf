"""How many processes this machine has room for: its cores, and the memory that is left."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

KEPT = 0.2
"""The share of the free memory that is left to others."""
_GROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")


def usual_number(each: int | None = None) -> int:
    """As many as cores, fewer where memory is short; `each` is what a process needs, in bytes.

    Without it, as much as this one has needed so far: it has read what others are going to read.
    """
    free = free_memory()
    if free is None:
        return cores()
    needed = max(1, each or most_memory())
    return max(1, min(cores(), int(free * (1 - KEPT)) // needed))


def cores() -> int:
    """Those that this process may use, by its affinity and the quota of its container."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _text(_GROUP / "cpu.max").split()
    if len(quota) == 2 and quota[0] != "max":
        found = min(found, -(-int(quota[0]) // int(quota[1])))
    return max(1, found)


def free_memory() -> int | None:
    """In bytes, of the machine or of what is left of the container's limit; None if unknown."""
    rows = (line.split() for line in _text(_MEMINFO).splitlines())
    free = next((int(row[1]) * 1024 for row in rows if row[0] == "MemAvailable:"), None)
    limit, used = _text(_GROUP / "memory.max"), _text(_GROUP / "memory.current")
    if limit.isdigit() and used.isdigit():
        left = max(0, int(limit) - int(used))
        free = left if free is None else min(free, left)
    return free


def most_memory() -> int:
    """What this process has held at the most, in bytes; KiB on Linux."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
