"""Time and memory from a dump on disk to a `Cluster`, beside plain `json.load` in the same run.

Every measurement runs in a fresh process, so that peak memory is that of one load alone:
`python -m benchmarks.load --pods 10000 150000`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump

PODS_PER_NODE = 30
REPEATS = 3
METHODS = ("planner", "json.load")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One load in one fresh process."""

    seconds: float
    peak_mb: float
    nodes: int
    pods: int


def loaded_counts(method: str, path: str) -> tuple[int, int]:
    """Nodes and pods that the method finds in the file."""
    if method == "planner":
        from planner.api import load

        cluster = load([path])
        return len(cluster.nodes), len(cluster.pods) + cluster.finished
    with Path(path).open("rb") as file:
        kinds = Counter(item["kind"] for item in json.load(file)["items"])
    return kinds["Node"], kinds["Pod"]


def measure_here(method: str, path: str) -> Measurement:
    """Loads in this process; `ru_maxrss` counts KiB on Linux and bytes on macOS."""
    begin = time.perf_counter()
    nodes, pods = loaded_counts(method, path)
    seconds = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return Measurement(seconds, peak, nodes, pods)


def measure(method: str, path: Path) -> Measurement:
    """Loads in a fresh process, which inherits nothing but the environment."""
    command = [sys.executable, "-m", "benchmarks.load", "--measure", method, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Measurement(**json.loads(done.stdout))


def dump_path(cache: Path, parameters: Parameters, style: Style) -> Path:
    """The dump of these parameters, made once; an interrupted writer leaves no such name."""
    form = ("compact" if style.compact else "indented") + ("-managed" * style.managed_fields)
    name = f"{parameters.nodes}x{parameters.pods}-seed{parameters.seed}-{form}.json"
    path = cache / name
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        write_dump(random_cluster(parameters), unfinished, style)
        unfinished.rename(path)
    return path


def report(parameters: Parameters, path: Path, repeats: int) -> bool:
    """Prints one row per method; true if every load found all nodes and pods."""
    size_mb = path.stat().st_size / 1e6
    runs = {method: [measure(method, path) for _ in range(repeats)] for method in METHODS}
    medians = {method: statistics.median(run.seconds for run in runs[method]) for method in METHODS}
    right = True
    for method in METHODS:
        seconds = [run.seconds for run in runs[method]]
        peak = max(run.peak_mb for run in runs[method])
        answers = {(run.nodes, run.pods) for run in runs[method]}
        agrees = answers == {(parameters.nodes, parameters.pods)}
        right &= agrees
        print(
            f"{parameters.pods:>8} {size_mb:>8.0f} {method:<10} {medians[method]:>8.2f} "
            f"{min(seconds):>7.2f}-{max(seconds):<7.2f} {size_mb / medians[method]:>7.0f} "
            f"{peak:>8.0f} {medians[method] / medians['json.load']:>7.2f}  "
            f"{'right' if agrees else f'WRONG {sorted(answers)}'}"
        )
    return right


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line; `--measure` is how a fresh process is asked for one load."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--pods", type=int, nargs="+", default=[10_000, 150_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument(
        "--cache", type=Path, help="keeps the dumps; a temporary directory if absent"
    )
    parser.add_argument("--managed-fields", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--compact", action="store_true", help="dumps without indentation")
    parser.add_argument("--measure", nargs=2, metavar=("METHOD", "FILE"), help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every load gave the right numbers, 3 otherwise; times are for the reader to judge."""
    args = arguments(argv)
    if args.measure:
        measured = measure_here(*args.measure)
        fields = {name: getattr(measured, name) for name in Measurement.__slots__}
        print(json.dumps(fields))
        return 0
    print(f"{'pods':>8} {'MB':>8} {'method':<10} {'median s':>8} {'min-max s':>15} ", end="")
    print(f"{'MB/s':>7} {'peak MB':>8} {'ratio':>7}  numbers (on {os.cpu_count()} cores)")
    style = Style(args.managed_fields, args.compact)
    right = True
    with tempfile.TemporaryDirectory() as temporary:
        cache = args.cache or Path(temporary)
        cache.mkdir(parents=True, exist_ok=True)
        for pods in args.pods:
            parameters = Parameters(max(10, pods // PODS_PER_NODE), pods, args.seed)
            right &= report(parameters, dump_path(cache, parameters, style), args.repeats)
    return 0 if right else 3


if __name__ == "__main__":
    sys.exit(main())
