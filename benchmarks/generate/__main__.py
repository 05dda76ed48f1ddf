"""`python -m benchmarks.generate --nodes 5000 --pods 150000 --seed 1 OUT.json[.gz]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument(
        "--pods", type=int, default=3000, help="all pods, those of daemons included"
    )
    parser.add_argument("--zones", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--utilisation", type=float, default=0.7, help="part of the CPU requested")
    parser.add_argument("--managed-fields", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--compact", action="store_true", help="no indentation")
    parser.add_argument("out", type=Path, metavar="OUT.json[.gz]")
    return parser.parse_args()


def main() -> None:
    """Writes one dump."""
    args = arguments()
    try:
        cluster = random_cluster(
            Parameters(args.nodes, args.pods, args.seed, args.zones, args.utilisation)
        )
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    write_dump(cluster, args.out, Style(args.managed_fields, args.compact))


if __name__ == "__main__":
    main()
