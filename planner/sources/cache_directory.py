"""Where this user's programs keep what they can do without."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_directory() -> Path:
    """The directory of planner there; nothing is in it unless somebody asks for it."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "planner"
    home = Path.home()
    return (home / "Library/Caches" if sys.platform == "darwin" else home / ".cache") / "planner"
