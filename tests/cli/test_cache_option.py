"""`--cache` changes how soon an answer comes, never the answer."""

from __future__ import annotations

import io
from inspect import signature
from pathlib import Path

import pytest

from planner.cli import app
from planner.examples import examples, fleets
from planner.sources.example import example_file
from planner.sources.kept import kept_inventory

FORMATS = ("table", "wide", "json", "yaml", "name", "markdown")
QUESTIONS = {
    "inspect": (),
    "check": ("--rule", "no-requests"),
    "explain": ("--all-pending",),
    "simulate": (),
    "solve": ("--rebalance",),
    "evict": ("--seeds", "2", "--jobs", "1"),
}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/planner/inventories"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = app.main(words)
    return (code, *capsys.readouterr())


def same(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Without it, with it for the first time, and then from the file alone."""
    plain = ran(capsys, *words)
    assert ran(capsys, *words, "--cache") == plain
    with monkeypatch.context() as patch:
        patch.setattr(kept_inventory, "load_paths", None)
        assert ran(capsys, *words, "--cache") == plain


@pytest.mark.parametrize("example", [each.name for each in examples()])
@pytest.mark.parametrize("output", FORMATS)
def test_every_format_says_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, example: str, output: str
) -> None:
    same(capsys, monkeypatch, "inspect", "-f", example_file(example), "-o", output)


@pytest.mark.parametrize("command", QUESTIONS)
def test_every_command_says_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    given = "--against" if command == "check" else "-f"
    for example in ("zone-outage", "docs-conflicting-constraints"):
        words = (command, given, example_file(example), *QUESTIONS[command], "-o", "json")
        same(capsys, monkeypatch, *words)


@pytest.mark.parametrize("example", [each.name for each in fleets()])
def test_fleets_say_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    words = ("fleet", "-f", example_file(example), "--now", "2026-05-01T12:00:00Z", "-o", "json")
    same(capsys, monkeypatch, *words)


def test_examples_are_files_like_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    same(capsys, monkeypatch, "inspect", "--example", "zone-outage")


def test_whoever_reads_input_has_the_option() -> None:
    """All but dump, which writes the objects themselves."""
    options = {name: signature(app.command_of(name)).parameters for name in app.COMMANDS}
    reading = {name for name, each in options.items() if "max_input" in each}
    having = {name for name, each in options.items() if "cache" in each}
    assert reading - {"dump"} == having >= {"inspect", "explain", "simulate", "solve", "evict"}


def test_a_damaged_file_is_a_warning(capsys: pytest.CaptureFixture[str], kept: Path) -> None:
    words = ("inspect", "--example", "zone-outage", "--cache")
    code, out, _ = ran(capsys, *words)
    (file,) = kept.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert ran(capsys, *words) == (
        code,
        out,
        f"warning: {file} is not used and made anew: it is damaged\n",
    )


def test_errors_are_those_of_the_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing, broken = str(tmp_path / "missing.json"), tmp_path / "broken.json"
    broken.write_text('{"kind": "Pod"')
    for file in (missing, str(broken), str(tmp_path)):
        assert ran(capsys, "inspect", "-f", file, "--cache") == ran(capsys, "inspect", "-f", file)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("inspect", "--live", "--cache"), "--cache is for files, and this is a running cluster"),
        (("check", "--live", "--cache"), "--cache is for files, and this is a running cluster"),
        (("sweep", "a.json", "--cache", "--", "inspect"), "--cache goes after --"),
    ],
)
def test_where_it_means_nothing_it_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    code, _, err = ran(capsys, *words)
    assert code == 2
    assert told in err


def test_where_it_does_not_help_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = example_file("zone-outage")
    _, _, err = ran(capsys, "whatif", "-f", file, "--apply", file, "--cache")
    assert err.startswith("warning: --cache was not used: ")
    text = Path(file).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    _, _, err = ran(capsys, "inspect", "-f", "-", "--cache")
    assert err == "warning: what is piped in can't be kept: it was read without --cache\n"
