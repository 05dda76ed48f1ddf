from __future__ import annotations

import io

import pytest

from planner.report.blocks import GAP, Paragraph, Table, markdown_text, plain_text, write_terminal

TABLE = Table(("NAME", "COUNT"), (("web", "1"), ("a-long-name", "")), ("red", ""))


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


def test_markdown_escapes_what_would_split_a_cell() -> None:
    table = Table(("A",), (("x|y",),))
    assert markdown_text([Paragraph("Hi."), GAP, table]) == "Hi.\n\n| A |\n| --- |\n| x\\|y |\n"


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
