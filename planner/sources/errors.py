"""What is wrong with the input, and where: a value until the command line prints it."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 80
"""Places that don't fit this many columns put the field on a line of its own."""


@dataclass(eq=False)
class SourceError(Exception):
    """One thing that the input's author can put right, with the place to look at.

    `file` is the name as the user gave it, `object` names a Kubernetes object ("Deployment
    default/web"), `field` is a path inside it, `line` and `column` count from 1. `detail` says more
    about that very place; `help` is the next thing to do.
    """

    message: str
    file: str | None = None
    object: str | None = None
    field: str | None = None
    line: int | None = None
    column: int | None = None
    detail: str | None = None
    help: str | None = None

    def __str__(self) -> str:
        place = " ".join(self._place())
        return f"{self.message} ({place})" if place else self.message

    def render(self) -> str:
        """The lines for a terminal: the headline, `-->` with the place, and the help."""
        lines = [f"error: {self.message}"]
        place = self._place()
        if place:
            joined = f"  --> {' '.join(place)}"
            lines.extend([joined] if len(joined) <= WIDTH else _indented("  --> ", place))
        if self.help:
            lines.extend(_indented("help: ", self.help.split("\n")))
        return "\n".join(lines)

    def _place(self) -> list[str]:
        """The parts that may stand on lines of their own: file and object, then the field."""
        if not (self.line or self.object or self.field or self.detail):
            return []
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        inside = [part for part in (self.object, self.field) if part]
        if self.detail and inside:
            inside[-1] += f": {self.detail}"
        elif self.detail:
            inside = [self.detail]
        if not position:
            return inside
        return [f"{position}: {inside[0]}", *inside[1:]] if inside else [position]


def _indented(prefix: str, lines: list[str]) -> list[str]:
    return [prefix + lines[0], *(" " * len(prefix) + line for line in lines[1:])]


def line_and_column(data: bytes, offset: int) -> tuple[int, int]:
    """Where a byte stands in a text, both counted from 1; columns count characters."""
    start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[start:offset].decode("utf-8", errors="replace")) + 1
    return data.count(b"\n", 0, start) + 1, column


def require_utf8(data: bytes, file: str) -> None:
    """Raise with the place of the first byte that is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(data, file, error.start) from error


def not_utf8(data: bytes, file: str, offset: int) -> SourceError:
    """The error for a byte that is not UTF-8."""
    line, column = line_and_column(data, offset)
    return SourceError(
        f"{file} is not UTF-8 text",
        file=file,
        line=line,
        column=column,
        detail=f"found the byte 0x{data[offset]:02x}",
    )
