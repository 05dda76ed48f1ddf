"""A Dask cluster of this machine: a scheduler, and workers in processes of their own, on loopback.

`python -m benchmarks.dask_cluster WORKERS` prints the scheduler's address and ends with its stdin.
It is a process of its own, as a scheduler is wherever planner is only a client of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@contextmanager
def dask_cluster(workers: int, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """The scheduler's address; `settings` are environment variables such as Dask reads."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "models")))
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.dask_cluster", str(workers)],
        env={**os.environ, "PYTHONPATH": path, **(settings or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def main() -> None:
    """Workers with one thread each: planner's tasks run one at a time."""
    import distributed

    local: Any = getattr(distributed, "LocalCluster")  # noqa: B009 - it has no types
    with local(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=60,
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
