"""`planner rbac`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import planner
from planner.cli.options import Verbose
from planner.cli.output import quiet_when_nobody_reads
from planner.exit_codes import DONE

Apply = Annotated[
    bool,
    typer.Option("--apply", help="With the rights to evict, to cordon, and to hold the lock."),
]
Events = Annotated[bool, typer.Option("--events", help="With the right to write events.")]


def rbac(apply: Apply = False, events: Events = False, verbose: Verbose = False) -> int:
    """Print the ClusterRole that reading a running cluster needs.

    It lists what planner reads and nothing else: no secrets, no ConfigMaps, no watch.

    \b
    planner rbac | kubectl apply -f -
    kubectl create clusterrolebinding planner-read --clusterrole=planner-read \\
      --user=alice
    """
    with quiet_when_nobody_reads():
        sys.stdout.write(planner.rbac(apply=apply, events=events))
    return DONE
