"""`python -m benchmarks [NAME ...] [--quick]`: run benchmarks, print them, keep their results.

`--resume` with more and more `--seeds` widens the same results as long as there is time.
The exit code is 3 if an answer is wrong, a case fails, or planner itself does not end in time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import page, runner, workload
from benchmarks.case import Case

PLANNER = "planner"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(workload.names()))
    parser.add_argument("--quick", action="store_true", help="small sizes and few seeds")
    parser.add_argument("--seeds", type=int, metavar="N", help="at most N seeds for each point")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only points with this coordinate; may be repeated",
    )
    parser.add_argument("--results", type=Path, help="writes the results as JSON")
    parser.add_argument(
        "--resume", action="store_true", help="goes on with --results if the code is the same"
    )
    parser.add_argument("--page", type=Path, help="writes the page and its charts")
    parser.add_argument(
        "--from", type=Path, nargs="+", dest="sources", help="results to render, not to run"
    )
    parser.add_argument("--cache", type=Path, help="keeps generated inputs for the next run")
    chosen = parser.parse_args(argv)
    if unknown := sorted(set(chosen.names) - set(workload.names())):
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(workload.names())}")
    return chosen


def show(result: runner.Result) -> None:
    """A line for each case as soon as it is known."""
    point = " ".join(f"{key}={value}" for key, value in result.point.items())
    values = " ".join(
        f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in result.values.items()
    )
    print(
        f"{result.benchmark:<9} {result.method:<18} {point} seed={result.seed}  "
        f"{result.seconds:.3f} s  {result.cpu:.3f} CPU s  {result.peak_mb:.0f} MB  {values}  "
        f"{result.status}{': ' + '; '.join(result.wrong) if result.wrong else ''}",
        flush=True,
    )


def measure(chosen: argparse.Namespace, cache: Path) -> runner.Results:
    """All cases of the chosen benchmarks; what is done is kept even if the rest is not."""
    before = _unfinished(chosen)
    done = set(map(key, before))
    machine = runner.this_machine()
    results = runner.Results(machine=machine, quick=chosen.quick, results=before)
    for name in chosen.names or workload.names():
        work = workload.read(name)
        for grid in work.quick if chosen.quick else work.full:
            cases = workload.cases(name, grid, seeds=chosen.seeds)
            rest = [c for c in cases if key(c) not in done and within(c, chosen.where)]
            for result in runner.run(rest, work, cache, beside=grid.beside):
                show(result)
                results.results.append(result)
                keep(results, chosen.results)
    return results


def within(case: Case, where: Sequence[str]) -> bool:
    """Whether the point of a case has all of these coordinates."""
    return set(where) <= {f"{key}={value}" for key, value in case.point.items()}


def key(one: runner.Result | Case) -> tuple[object, ...]:
    """What makes a case that case."""
    return (one.benchmark, one.method, one.seed, *sorted(one.point.items()))


def _unfinished(chosen: argparse.Namespace) -> list[runner.Result]:
    """What a run of the same code that was stopped has left behind."""
    if not chosen.resume or chosen.results is None or not chosen.results.exists():
        return []
    code, found = runner.this_code(), read([chosen.results])
    return [one for one in found.results if one.code == code] if found.quick == chosen.quick else []


def keep(results: runner.Results, path: Path | None) -> None:
    """As JSON, where it was asked for."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")


def failures(results: runner.Results) -> list[runner.Result]:
    """What must not be: a peer that doesn't end is a finding, all else is a failure."""
    return [
        result
        for result in results.results
        if result.status in ("wrong", "failed")
        or (result.status == "not finished" and result.method == PLANNER)
    ]


def read(paths: Sequence[Path]) -> runner.Results:
    """Results that were kept, of one machine; of a case that is there twice, the last one."""
    parts = [runner.Results.model_validate_json(path.read_text(encoding="utf-8")) for path in paths]
    results = {key(result): result for part in parts for result in part.results}
    return parts[0].model_copy(update={"results": list(results.values())})


def main(argv: Sequence[str] | None = None) -> int:
    """Run or read, write, judge."""
    chosen = arguments(argv)
    if chosen.sources:
        results = read(chosen.sources)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            cache = chosen.cache or Path(temporary)
            cache.mkdir(parents=True, exist_ok=True)
            results = measure(chosen, cache)
    keep(results, chosen.results)
    if chosen.page:
        used = sorted({result.benchmark for result in results.results})
        page.write(results, {name: workload.read(name) for name in used}, chosen.page)
    for result in (bad := failures(results)):
        about = f"{result.benchmark} {result.method} {result.point} seed {result.seed}"
        print(f"{result.status}: {about}", file=sys.stderr)
    return 3 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
