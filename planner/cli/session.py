"""What one run of the command line knows about itself."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

import typer


@dataclass
class Session:
    """The state of one run: what it was given, whether to say more, and since when it runs."""

    arguments: tuple[str, ...] = ()
    verbose: bool = False
    skip_invalid: bool = False
    max_input: str | None = None
    started: float = field(default_factory=time.perf_counter)

    def tell(self, text: str) -> None:
        """One line about the progress on stderr, if `-v` asks for it."""
        if self.verbose:
            seconds = time.perf_counter() - self.started
            sys.stderr.write(f"{text} ({seconds:.2f} s)\n")


def session_of(context: typer.Context) -> Session:
    """The session that the command runs in."""
    return context.obj if isinstance(context.obj, Session) else Session()
