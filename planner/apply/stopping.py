"""Why carrying a plan out ends before it is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class StoppedError(Exception):
    """No further eviction: what happened, in lines, and pods that wait for a node."""

    lines: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    failure: bool = False
    """A failure of the network or of rights, and no drift."""


class CancelledError(Exception):
    """Ctrl-C."""
