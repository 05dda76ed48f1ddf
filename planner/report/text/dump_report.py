"""What `planner dump` has written, in a few lines."""

from __future__ import annotations

from textwrap import fill
from typing import Protocol

from planner.words import count_of

WIDTH = 80


class Written(Protocol):
    """What there is to say about a dump."""

    @property
    def path(self) -> str: ...
    @property
    def nodes(self) -> int: ...
    @property
    def pods(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def names(self) -> str | None: ...
    @property
    def hidden(self) -> int: ...
    @property
    def broken(self) -> int | None: ...
    @property
    def waiting(self) -> int | None: ...


def dump_report(written: Written) -> str:
    """What is in the file, and what was checked before it was written."""
    counts = f"{count_of(written.nodes, 'node')}, {count_of(written.pods, 'pod')}"
    first = f"Wrote {written.path}: {counts}, {_size(written.size)}."
    if written.broken is None or written.waiting is None:
        return f"{first}\n"
    first += " Names, images, env and annotations are gone."
    broken = count_of(written.broken, "broken rule")
    waiting = count_of(written.waiting, "waiting pod")
    checked = (
        f"Checked: {broken} and {waiting} are the same as before; "
        f"none of the {written.hidden} original names is in the file."
    )
    if written.names is not None:
        checked += f" {written.names} translates answers back; keep it."
    return f"{first}\n{fill(checked, WIDTH)}\n"


def _size(size: int) -> str:
    """`812 bytes`, `5.9 KB`, `14 MB`."""
    if size < 1000:
        return count_of(size, "byte")
    unit, of_unit = ("KB", 1e3) if size < 1e6 else ("MB", 1e6)
    return f"{size / of_unit:.1f} {unit}" if size < 10 * of_unit else f"{size / of_unit:.0f} {unit}"
