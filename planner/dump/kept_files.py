"""Dumps that are kept for a while: one file per cluster in the user's cache directory.

Nothing is kept unless somebody asks for it; `planner.api.dump.kept` takes and writes them.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from planner.errors import PlannerError
from planner.sources.cache_directory import cache_directory


def dump_file(cluster: str) -> Path:
    """The file of a cluster; what tells that from others, such as a URL, is its name here."""
    return cache_directory() / f"{sha256(cluster.encode()).hexdigest()[:16]}.json.gz"


def young_dump(cluster: str, max_age: float, now: float) -> Path | None:
    """The dump of a cluster, if there is one that was written at most `max_age` seconds ago."""
    file = dump_file(cluster)
    try:
        age = now - file.stat().st_mtime
    except FileNotFoundError:
        return None
    return file if 0 <= age <= max_age else None


def prepare_directory() -> Path:
    """The directory, which nobody else may look into."""
    directory = cache_directory()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PlannerError(f"can't keep a dump in {directory}: {reason}") from error
    return directory
