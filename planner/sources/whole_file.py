"""Files that planner writes: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(target: Path, data: bytes, mode: int) -> None:
    """Write the file in one go: until it is complete, an older one stays as it is."""
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
