"""The documentation says what is so: its commands are run, its reference and its links checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import console
from docs import reference_pages as reference
from planner.cli.app import COMMANDS
from planner.cli.inspect import inspect
from planner.sources.input_text import KUBECTL

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = reference.pages()
PAGES = {str(page.relative_to(console.FOLDER)): page for page in console.pages()}
RUN = [
    name
    for name, page in PAGES.items()
    if re.search(r"^```(console|pycon)", page.read_text(encoding="utf-8"), re.MULTILINE)
]
LINK = re.compile(r"\]\((?P<target>[^)#\s]+)?(?:#(?P<heading>[^)\s]+))?\)")


@pytest.mark.parametrize("name", RUN)
def test_every_block_prints_what_it_shows(name: str) -> None:
    told = PAGES[name].read_text(encoding="utf-8")
    assert console.rerun(told) == told


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_the_reference_is_current(name: str) -> None:
    """If not: `make docs`."""
    assert (reference.FOLDER / name).read_text(encoding="utf-8") == REFERENCE[name]


def test_the_reference_has_no_pages_of_the_past() -> None:
    assert {file.name for file in reference.FOLDER.iterdir()} == set(REFERENCE)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    page = PAGES[name]
    for found in LINK.finditer(page.read_text(encoding="utf-8")):
        target, heading = found["target"], found["heading"]
        if target is None or "://" in target:
            continue
        file = (page.parent / target).resolve()
        assert file.exists(), target
        if heading is not None:
            assert heading in _headings(file)


def _headings(file: Path) -> set[str]:
    lines = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in lines}


def test_every_command_and_kind_is_in_the_reference() -> None:
    commands = REFERENCE["commands.md"]
    assert re.findall(r"^## planner ([\w-]+)$", commands, re.MULTILINE) == list(COMMANDS)
    assert "`-h, --help`" in commands


def test_an_ellipsis_stands_for_any_lines_and_nothing_else_does() -> None:
    assert console.matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert console.matches("a\n...\n", "a\n")
    assert not console.matches("a\n...\nd\n", "a\nb\nc\n")
    assert not console.matches("a.c\n", "abc\n")


def test_a_page_that_is_no_longer_so_is_rewritten() -> None:
    page = "```console\n$ planner --version\nplanner 0.0.0\n$ echo $?\n1\n```\n"
    assert re.fullmatch(
        r"```console\n\$ planner --version\nplanner \d\S*\n\$ echo \$\?\n0\n```\n",
        console.rerun(page),
    )


def test_python_blocks_are_run_as_in_an_interpreter() -> None:
    page = "```pycon\n>>> x = [1,\n...      2]\n>>> x\n0\n>>> x[2]\n```\n"
    assert console.rerun(page) == (
        "```pycon\n>>> x = [1,\n...      2]\n>>> x\n[1, 2]\n>>> x[2]\n"
        "Traceback (most recent call last):\nIndexError: list index out of range\n```\n"
    )


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorial.md",
        "docs/how-to/explain-in-ci.md",
    ],
)
def test_dumps_are_made_with_every_kind_that_planner_reads(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    dumped = [line for line in lines if "kubectl get nodes" in line]
    assert dumped
    assert all(f"{KUBECTL} json > cluster.json" in line for line in dumped)


def test_the_help_of_inspect_dumps_the_same_kinds() -> None:
    first, second = re.findall(r"kinds=(\S+)", inspect.__doc__ or "")
    kinds = first.split(",") + second.removeprefix("$kinds,").split(",")
    assert set(kinds) == set(KUBECTL.split()[2].split(","))
