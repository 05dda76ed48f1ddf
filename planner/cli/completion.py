"""`kubectl_complete-planner`: what could come next on a command line of `kubectl planner`.

kubectl calls it with the words after `planner`, the last one unfinished and maybe empty. It answers
with a word and what it means on each line, and with what the shell may add by itself on the last.
Names of a running cluster are given up after a second, silently: nobody waits for a Tab.
"""

from __future__ import annotations

import enum
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args

import planner
from planner.cli.app import COMMANDS, command_of, is_live
from planner.cli.options import option_names
from planner.errors import PlannerError
from planner.exit_codes import DONE

PATIENCE = 1.0
"""Seconds that a running cluster may take to tell names."""

FILES, NO_FILES = 0, 4
"""Whether the shell adds the names of files."""

Words = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class _Option:
    names: tuple[str, ...]
    help: str
    metavar: str
    flag: bool
    choices: tuple[str, ...]
    complete: Callable[[str], Words] | None


def main() -> int:
    """The answer to kubectl."""
    found, directive = completions(sys.argv[1:])
    for word, meaning in found:
        sys.stdout.write(f"{word}\t{meaning}\n" if meaning else f"{word}\n")
    sys.stdout.write(f":{directive}\n")
    sys.stdout.flush()
    return DONE


def completions(words: Sequence[str]) -> tuple[list[tuple[str, str]], int]:
    """What could stand in the place of the last word, and what the shell may add."""
    *before, last = words or [""]
    if not before:
        commands = [(name, _first_line(command_of(name))) for name in COMMANDS]
        return _starting(commands, last), NO_FILES
    name = before[0]
    if name not in COMMANDS:
        return [], NO_FILES
    command = command_of(name)
    options = list(_options(command))
    asked = next((each for each in options if before[-1] in each.names), None)
    if asked is not None and not asked.flag:
        files = "FILE" in asked.metavar or "DIR" in asked.metavar
        return _starting(_values(asked, before, last), last), FILES if files else NO_FILES
    if last.startswith("-"):
        return _starting([(n, each.help) for each in options for n in each.names], last), NO_FILES
    parameters, live = inspect.signature(command).parameters, is_live(name, command)
    if live and "nodes" in parameters:
        return _starting(_names(before, "nodes"), last), NO_FILES
    if live and "targets" in parameters:
        pods = _names(before, "pods", waiting_first=name == "explain")
        return _starting([(f"pod/{pod}", note) for pod, note in pods], last), NO_FILES
    return [], NO_FILES


def _values(option: _Option, before: Sequence[str], last: str) -> Words:
    if option.complete is not None:
        return option.complete(last)
    if option.choices:
        return [(choice, "") for choice in option.choices]
    if "--namespace" in option.names:
        return _names(before, "namespaces")
    return _names(before, "nodes") if "NODE" in option.metavar else ()


def _names(before: Sequence[str], kind: str, *, waiting_first: bool = False) -> Words:
    """Of the cluster that the words before name; none if that takes too long, or goes wrong."""
    found: list[tuple[str, str]] = []
    live = planner.Live(
        context=_given(before, "--context"),
        kubeconfig=_given(before, "--kubeconfig"),
        namespace=_given(before, "--namespace") or _given(before, "-n"),
        as_user=_given(before, "--as"),
        request_timeout=PATIENCE,
    )

    def ask() -> None:
        with suppress(PlannerError):
            found.extend(planner.live_names(live, kind, waiting_first=waiting_first))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(PATIENCE)
    return list(found)


def _given(words: Sequence[str], name: str) -> str | None:
    """The value of an option, in either form."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _starting(words: Words, last: str) -> list[tuple[str, str]]:
    return [(word, meaning) for word, meaning in words if word.startswith(last)]


def _options(command: Callable[..., Any]) -> Iterator[_Option]:
    """The options of a command as typer reads them."""
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        names = option_names(parameter)
        if not names:
            continue
        kind, told = get_args(parameter.annotation)[:2]
        enums = isinstance(kind, type) and issubclass(kind, enum.Enum)
        yield _Option(
            names,
            str(told.help or "").split(". ")[0].rstrip("."),
            str(told.metavar or ""),
            kind is bool,
            tuple(str(each.value) for each in kind) if enums else (),
            told.autocompletion,
        )


def _first_line(command: Callable[..., Any]) -> str:
    return (inspect.getdoc(command) or "").split("\n")[0].rstrip(".")
