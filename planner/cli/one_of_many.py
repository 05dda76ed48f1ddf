"""One command of a sweep: run in whatever process there is, and brought home as plain values."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import typer

from planner.cli.session import Session
from planner.errors import PlannerError, UsageError
from planner.exit_codes import FAILURE, USAGE

if TYPE_CHECKING:
    from planner import Answer

_CAMEL = re.compile(r"_(\w)")


@dataclass(frozen=True)
class Command:
    """The words after `--`, and whether documents and reports are kept."""

    words: tuple[str, ...]
    keep: bool = False


@dataclass(frozen=True)
class Place:
    """A cluster: what people call it, and the options that make a command read it.

    Workers elsewhere need the whole path of a file; texts have the name that was given.
    """

    name: str
    options: tuple[str, ...]
    content: str = ""

    @property
    def is_context(self) -> bool:
        """Whether it is a running cluster."""
        return self.options[0] == "--context"


@dataclass(frozen=True)
class Ran:
    """How it ended; a failure is its text."""

    code: int
    headline: str
    numbers: dict[str, int] = field(default_factory=dict)
    document: str = ""
    report: str = ""


def run_one(command: Command, place: Place) -> Ran:
    """Nothing that goes wrong with one cluster ends the others."""
    ran = _run(command, place)
    path = place.options[-1]
    texts = {
        name: getattr(ran, name).replace(path, place.name)
        for name in ("headline", "document", "report")
    }
    return ran if path == place.name or place.is_context else replace(ran, **texts)


def _run(command: Command, place: Place) -> Ran:
    from planner.cli.app import application

    first, *rest = command.words
    words = [first, *place.options, *rest]
    shown: list[Answer] = []
    session = Session(tuple(words), shown=shown.append)
    try:
        with redirect_stderr(io.StringIO()):
            code = application([first])(
                args=words, prog_name="planner", standalone_mode=False, obj=session
            )
        return _ran(code, shown[-1], command, place)
    except PlannerError as error:
        return Ran(USAGE if isinstance(error, UsageError) else FAILURE, str(error))
    except typer.TyperException as error:
        return Ran(USAGE, error.format_message())
    except MemoryError:
        return Ran(FAILURE, "there is not enough memory")
    except Exception as error:  # noqa: BLE001 - told in the line of its cluster
        text = " ".join(str(error).split()) or "no message"
        return Ran(FAILURE, f"planner has a bug: {type(error).__name__}: {text}")


def _ran(code: int | None, answer: Answer, command: Command, place: Place) -> Ran:
    return Ran(
        code or 0,
        answer.in_short,
        _numbers(answer),
        answer.to_json() if command.keep else "",
        answer.to_html() if command.keep else "",
    )


def _numbers(answer: Answer) -> dict[str, int]:
    """Of the cluster, and whatever whole numbers the document has itself."""
    own = {name: getattr(answer, name) for name in type(answer).model_fields}
    return answer.cluster_size | {
        _CAMEL.sub(lambda found: found[1].upper(), name): value
        for name, value in own.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
