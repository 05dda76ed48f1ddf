"""What arguments may be: one of some words, a number that makes sense."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from shlex import quote
from typing import TYPE_CHECKING

from planner.errors import UsageError

if TYPE_CHECKING:
    from planner.api.live import Live


def input_arguments(
    paths: Sequence[str], example: str | None, live: Live | None = None
) -> tuple[str, ...]:
    """What a command line needs to read the same again; `-` is whatever is piped into it."""
    files = [word for path in paths for word in ("-f", quote(path))]
    if live is not None:
        return (*live.arguments, *(("--live",) if files and not live.arguments else ()), *files)
    return (*files, *(() if example is None else ("--example", quote(example))))


def words(argument: str, given: str | Iterable[object]) -> tuple[str, ...]:
    """The words of an argument that takes several: a text is one word, and never its letters.

    `nodes="a1"`, `nodes=["a1", "b1"]` and `drain(["a1", "b1"])` are what people write.
    """
    if isinstance(given, str):
        return (given,)
    found: list[str] = []
    for each in given:
        if not isinstance(each, str | list | tuple | set | frozenset):
            raise UsageError(f"`{argument}` has {each!r} in it, which is no text")
        several = sorted(each, key=str) if isinstance(each, set | frozenset) else each
        found.extend(words(argument, several))
    return tuple(found)


def one_of(argument: str, given: str, words: Iterable[str]) -> str:
    """The word, if it is one that the argument takes."""
    known = list(words)
    if given in known:
        return given
    raise UsageError(
        f"`{argument}` is {given!r}, which is none of {', '.join(known)}",
        help=meant(given, known),
    )


def meant(name: str, known: Iterable[str]) -> str | None:
    """What was probably meant, as a question."""
    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]}?" if close else None


def require_at_least(argument: str, number: float | None, least: int) -> None:
    """Numbers below make no sense; None is no number at all."""
    if number is not None and number < least:
        raise UsageError(f"`{argument}` is {number:g}; it must be at least {least}")


def require_time(time_limit: float) -> None:
    """A search needs some time, and an end."""
    if not 0 < time_limit < float("inf"):
        raise UsageError(f"`time_limit` is {time_limit:g}; it must be above 0")
