"""What one run of the command line knows about itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from planner import Answer


@dataclass
class Session:
    """The state of one run: what it was given, whether to say more, and since when it runs."""

    arguments: tuple[str, ...] = ()
    verbose: bool = False
    skip_invalid: bool = False
    max_input: str | None = None
    cache: bool = False
    program: str = "planner"
    """How planner was called; suggested commands begin with it."""
    live: dict[str, Any] = field(default_factory=dict)
    """The options that choose a running cluster."""
    shown: Callable[[Answer], None] | None = None
    """Takes the answer instead of stdout, where the command is one of many."""
    started: float = field(default_factory=time.perf_counter)

    @property
    def plugin(self) -> bool:
        """Whether kubectl called it."""
        return self.program != "planner"

    def tell(self, text: str) -> None:
        """One line about the progress on stderr, if `-v` asks for it."""
        if self.verbose:
            seconds = time.perf_counter() - self.started
            sys.stderr.write(f"{text} ({seconds:.2f} s)\n")


def session_of(context: typer.Context) -> Session:
    """The session that the command runs in."""
    return context.obj if isinstance(context.obj, Session) else Session()
