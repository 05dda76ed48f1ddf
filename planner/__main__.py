"""`python -m planner`, and the commands `planner` and `kubectl planner`: processes of their own.

Nothing is imported before Ctrl-C has its answer.
"""

from __future__ import annotations

import signal
import sys

from planner.interrupts import leave_at_once


def main(program: str = "planner") -> int:
    """Run the command that the process was started with."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave_at_once)
    from planner.cli.app import main as run

    return run(program=program)


def plugin() -> int:
    """The same as a plugin of kubectl: without -f, the running cluster is meant in any case."""
    return main("kubectl planner")


if __name__ == "__main__":
    sys.exit(main())
