"""What is wrong with the input, and where."""

from __future__ import annotations

from planner.errors import PlannerError


class SourceError(PlannerError):
    """One thing that the input's author can put right, with the place to look at."""


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
