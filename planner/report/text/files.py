"""Files that users ask for: whole or not at all, and a clear word where one can't be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from planner.sources.errors import SourceError
from planner.sources.whole_file import write_whole


def write_file(path: str, data: bytes, *, private: bool = False) -> None:
    """Write the file in one go: until it is complete, an older one stays as it is.

    A private one can be read by nobody but its owner.
    """
    try:
        write_whole(Path(path), data, 0o600 if private else 0o666 & ~_umask())
    except OSError as error:
        raise _refusal(path, error) from error


def check_writable(path: str) -> None:
    """Say it before the work is done that its result could not be written."""
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: str, error: OSError) -> SourceError:
    reason = (error.strerror or str(error)).lower()
    return SourceError(f"can't write {path}: {reason}")


def _umask() -> int:
    """What new files may not allow; there is no way to ask without setting it for a moment."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
