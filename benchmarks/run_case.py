"""Measures one case in this process and prints the result: how `runner` asks for a fresh one.

`python -m benchmarks.run_case CACHE CASE`, where CASE is the JSON text of a `Case`.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.case import Case, Measured


def peak_mb() -> float:
    """The most memory that this process or one of its children held; KiB on Linux."""
    unit = 1 if sys.platform == "darwin" else 1024
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(who).ru_maxrss for who in both) * unit / 1e6


def main() -> None:
    """The benchmark's own output, if any, must not mix with the result: that is the last line."""
    cache, text = sys.argv[1:]
    case = Case(**json.loads(text))
    module = importlib.import_module(f"benchmarks.{case.benchmark}")
    measured: Measured = module.measure(case, Path(cache))
    print(json.dumps({**asdict(measured), "peak_mb": round(peak_mb(), 1)}))


if __name__ == "__main__":
    main()
