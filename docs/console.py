"""Runs what the pages of docs/ show, so that they can't say what is no longer so.

In a ```console block a line that begins with `$ planner` is run as it stands, in a folder of the
page's own, and what follows is what it prints; a line `...` stands for any number of lines. `$ echo
$?` shows the last exit code. In a ```pycon block the lines after `>>>` and `... ` are run as Python
runs them when it is started without a file, with what earlier blocks of the page defined. A block
whose first line has a file name (```yaml web.yaml) is written there first. Commands for other
programs stand in ```sh blocks, which are only read.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.cli.app import main

FOLDER = Path(__file__).parent
BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def pages() -> list[Path]:
    """Every page, in the order of names; docs.reference_pages makes those of the reference."""
    found = FOLDER.rglob("*.md")
    return sorted(page for page in found if page.parent.name != "reference")


@dataclass
class Shell:
    """Runs commands one after the other and remembers how the last one ended."""

    code: int = 0

    def run(self, command: str) -> str:
        """What the command prints, on stdout and stderr together."""
        program, *arguments = shlex.split(command.replace("\\\n", " "))
        if (program, arguments) == ("echo", ["$?"]):
            return f"{self.code}\n"
        if program != "planner":
            raise ValueError(f"only planner is run, and this is {program}")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            self.code = main(arguments)
        return printed.getvalue()


@dataclass
class Interpreter:
    """Runs statements one after the other and keeps what they define."""

    names: dict[str, Any] = field(default_factory=dict)

    def run(self, source: str) -> str:
        """What the statement prints, the value of an expression, or the error it raises."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(source, "<page>", "single"), self.names)
            except Exception as error:  # noqa: BLE001 - shown on the page
                printed.write("Traceback (most recent call last):\n")
                printed.writelines(traceback.format_exception_only(error))
        return printed.getvalue()


def rerun(text: str) -> str:
    """The page with what its commands print now; what is still right stays as it is."""
    shell, interpreter = Shell(), Interpreter()

    def block(found: re.Match[str]) -> str:
        if found["file"]:
            path = Path(found["file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found["text"], encoding="utf-8")
        match found["language"]:
            case "console":
                parts = [
                    f"$ {command}\n{_shown(shell.run(command), told)}"
                    for command, told in _steps(found)
                ]
            case "pycon":
                parts = [
                    f"{shown}{_shown(interpreter.run(source), told)}"
                    for shown, source, told in _statements(found)
                ]
            case _:
                return found[0]
        return f"```{found['language']}\n{''.join(parts)}```"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _no_ci():
        return BLOCK.sub(block, text)


def _shown(printed: str, told: str) -> str:
    return told if matches(told, printed) else printed


def _steps(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Every command with what is said to follow it."""
    for part in re.split(r"^\$ ", found["text"], flags=re.MULTILINE)[1:]:
        whole = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n?", part)
        command = whole[0] if whole else ""
        yield command.rstrip("\n"), part[len(command) :]


def _statements(found: re.Match[str]) -> Iterator[tuple[str, str, str]]:
    """Every statement as it is shown and as it is run, with what is said to follow it."""
    for part in re.split(r"^(?=>>> )", found["text"], flags=re.MULTILINE)[1:]:
        whole = re.match(r">>> [^\n]*\n(?:\.\.\. [^\n]*\n)*", part)
        shown = whole[0] if whole else ""
        source = "".join(f"{line[4:]}\n" for line in shown.splitlines())
        yield shown, source, part[len(shown) :]


def matches(told: str, printed: str) -> bool:
    """Whether the text is the one told, with any lines in the place of `...`."""
    pieces = [re.escape(piece) for piece in re.split(r"^\.\.\.\n", told, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(pieces), printed) is not None


@contextlib.contextmanager
def _no_ci() -> Iterator[None]:
    """Pages are not written for the CI that tests them."""
    kept = os.environ.pop("GITHUB_STEP_SUMMARY", None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ["GITHUB_STEP_SUMMARY"] = kept


def write() -> None:
    """Put into every page what its commands print now."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        page.write_text(rerun(text), encoding="utf-8")


if __name__ == "__main__":
    write()
