"""`python -m planner`, and the `planner` command: a process of planner's own.

Nothing is imported before Ctrl-C has its answer.
"""

from __future__ import annotations

import signal
import sys

from planner.interrupts import leave_at_once


def main() -> int:
    """Run the command that the process was started with."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave_at_once)
    from planner.cli.app import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
