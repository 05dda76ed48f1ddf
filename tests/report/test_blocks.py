from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.text.blocks import (
    GAP,
    WIDTH,
    Block,
    Listing,
    Paragraph,
    Table,
    plain_text,
    shortened,
    write_terminal,
)

TABLE = Table(("NAME", "COUNT"), (("web", "1"), ("a-long-name", "")), ("red", ""))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=120)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    write_terminal([Paragraph("Hello.", "yellow"), GAP, TABLE], stream)
    return stream.getvalue()


def test_plain_tables_have_no_trailing_spaces() -> None:
    assert plain_text([TABLE]) == "NAME         COUNT\nweb          1\na-long-name\n"


def test_paragraphs_wrap_at_80_columns_without_breaking_names() -> None:
    name = "a-very-long-name-with-hyphens-" * 2
    text = plain_text([Paragraph(" ".join([name] * 3), indent=2)])
    assert text == f"{name}\n  {name}\n  {name}\n"


def test_a_name_loses_its_middle_and_a_sentence_its_end() -> None:
    assert shortened("web-7d9f8b6c5d-x4v7p", 13) == "web-7...x4v7p"
    assert shortened("no node has room for it", 13) == "no node ha..."


def test_a_table_that_must_fit_shortens_its_widest_columns() -> None:
    row = ("web-" + "x" * 90 + "-x4v7p", "scheduled", "node-" + "y" * 60)
    fitted = "\n".join(Table(("POD", "OUTCOME", "NODE"), (row,)).lines(fit=True))
    whole = plain_text([Table(("POD", "OUTCOME", "NODE"), (row,))])
    assert max(map(len, fitted.splitlines())) == WIDTH
    assert "x4v7p" in fitted
    assert "scheduled" in fitted
    assert row[0] in whole


@given(rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=3))
def test_what_must_fit_fits_whatever_the_names(rows: list[tuple[str, str, str]]) -> None:
    blocks: list[Block] = [
        Table(("POD", "NODE", "WHY"), tuple(rows)),
        Listing(tuple(("+", name, remark) for _, name, remark in rows)),
        *(Paragraph(" ".join(row), indent=4) for row in rows),
    ]
    lines = [line for block in blocks for line in "\n".join(block.lines(fit=True)).split("\n")]
    assert all(len(line) <= WIDTH for line in lines)


@pytest.mark.parametrize(
    "name",
    ["\x1b[31mred", "a\nb", "a\r\x08", "\u202egnp", "\n::error::x", "  ::stop-commands::x", "##[x"],
)
def test_no_name_acts_on_a_terminal_or_gives_a_command_to_a_ci(name: str) -> None:
    blocks: list[Block] = [
        Table(("N",), ((name,),)),
        Paragraph(name),
        Listing((("+", name, name),)),
    ]
    text = plain_text(blocks)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert not any(line.strip().startswith(("::", "##[")) for line in text.splitlines())
    assert len(text.splitlines()) == 4


def test_a_terminal_shows_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_terminal(monkeypatch)
    assert "\x1b[33mHello." in text
    assert "\x1b[31mweb" in text


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_terminal(monkeypatch, NO_COLOR="1")
    assert not [code for code in ("\x1b[31m", "\x1b[33m", "\x1b[32m") if code in text]
    assert "Hello." in text


def test_markup_in_names_is_only_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    write_terminal([Paragraph("[bold]x[/bold] :smile:"), Table(("[a]",), (("[red]b",),))], stream)
    assert "[bold]x[/bold] :smile:" in stream.getvalue()
    assert "[red]b" in stream.getvalue()


def test_a_terminal_narrower_than_80_columns_is_not_overrun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    table = Table(("POD", "NODE"), (("web-" * 20, "n" * 30),))
    write_terminal([Paragraph("word " * 20), table], stream, fit=True)
    assert all(len(line) <= 48 for line in stream.getvalue().splitlines())


def test_a_wide_terminal_shows_names_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    name = f"analytics-{'x' * 80}-ftb8x"
    write_terminal([Paragraph(f"{name} waits"), Table(("POD",), ((name,),))], stream, fit=True)
    assert stream.getvalue().count(name) == 2
