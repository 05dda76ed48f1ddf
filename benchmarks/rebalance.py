"""Rebalancing drifted clusters: values, bounds, time and memory, one fresh process per case.

`python -m benchmarks.rebalance --nodes 50 500 5000 --drifts zone scale big --seeds 0 1 2`. Every
result is judged by `final_state`; the exit code is 3 if one is not valid. Times are for the reader.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.drift import DRIFTS, Drift, drifted
from benchmarks.final_state import judge, placement_of
from planner.solver.options import SolveOptions
from planner.solver.problem import build_problem
from planner.solver.scale.pipeline import solve_at_scale


def measure_here(nodes: int, drift: Drift, seed: int, limit: float) -> dict[str, Any]:
    """One case in this process."""
    cluster = drifted(nodes, drift, seed)
    begin, cpu = time.perf_counter(), time.process_time()
    problem = build_problem(cluster, SolveOptions(rebalance=True, time_limit=limit))
    built = time.process_time() - cpu
    found = solve_at_scale(problem)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    verdict = judge(cluster, placement_of(cluster, found.counts, problem.movable, problem.waiting))
    moves = found.level("moves")
    placed = sum(level.value for level in found.levels if level.kind == "placed")
    excess = found.level("excess")
    agrees = (placed, excess and excess.value, moves and moves.value) == (
        verdict.placed,
        verdict.excess,
        verdict.moves,
    )
    return {
        "nodes": nodes,
        "drift": drift,
        "seed": seed,
        "pods": len(cluster.pods),
        "pending": len(cluster.pending),
        "placed": verdict.placed,
        "excess": verdict.excess,
        "moves": verdict.moves,
        "bound": moves.bound if moves else 0,
        "status": found.status,
        "seconds": seconds,
        "cpu": cpu,
        "problem": built,
        "peak": peak,
        "valid": agrees and not verdict.problems,
        "problems": verdict.problems[:3],
    }


def measure(nodes: int, drift: Drift, seed: int, limit: float) -> dict[str, Any]:
    """One case in a fresh process."""
    case = [str(nodes), drift, str(seed)]
    command = [sys.executable, "-m", "benchmarks.rebalance", "--limit", str(limit), "--case", *case]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def row(case: dict[str, Any]) -> str:
    """One line of the table."""
    gap = 100 * (case["moves"] - case["bound"]) / max(1, case["moves"])
    return (
        f"{case['nodes']:>5} {case['drift']:<5} {case['seed']:>4} {case['pods']:>7} "
        f"{case['placed']:>6}/{case['pending']:<6} {case['excess']:>6} {case['moves']:>6} "
        f"{case['bound']:>6} {gap:>6.2f} {case['status']:<9} {case['seconds']:>7.2f} "
        f"{case['cpu']:>7.2f} {case['problem']:>7.2f} {case['peak']:>6.0f} "
        + ("valid" if case["valid"] else f"INVALID {case['problems']}")
    )


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line; `--case` is how a fresh process is asked for one case."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rebalance", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[50, 500, 5000])
    parser.add_argument("--drifts", nargs="+", choices=DRIFTS, default=list(DRIFTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--limit", type=float, default=60.0, help="SolveOptions.time_limit")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every result is valid, 3 otherwise."""
    args = arguments(argv)
    if args.case:
        nodes, drift, seed = args.case
        print(json.dumps(measure_here(int(nodes), drift, int(seed), args.limit)))
        return 0
    print(
        f"{'nodes':>5} drift seed {'pods':>7} {'placed':>6}/{'wanted':<6} excess  moves  bound  "
        f"gap % status     {'wall s':>7} {'cpu s':>7} {'problem':>7} {'MB':>6}  "
        f"({os.cpu_count()} cores)"
    )
    valid = True
    for size in args.nodes:
        for drift in args.drifts:
            for seed in args.seeds:
                case = measure(size, drift, seed, args.limit)
                valid &= case["valid"]
                print(row(case), flush=True)
    return 0 if valid else 3


if __name__ == "__main__":
    sys.exit(main())
