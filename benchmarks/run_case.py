"""Measures one case in this process and prints the result: how `runner` asks for a fresh one.

`python -m benchmarks.run_case measure|prepare CACHE CASE`, where CASE is the JSON text of a `Case`.
Inputs are prepared in a process of their own, whose memory doesn't count.
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
    task, cache, text = sys.argv[1:]
    case = Case(**json.loads(text))
    module = importlib.import_module(f"benchmarks.{case.benchmark}")
    if task == "prepare":
        module.prepare(case, Path(cache))
        return
    measured: Measured = module.measure(case, Path(cache))
    print(json.dumps({**asdict(measured), "peak_mb": round(peak_mb(), 1)}))


if __name__ == "__main__":
    main()
