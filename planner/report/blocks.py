"""Texts as blocks: paragraphs, tables and lists, written plain, as Markdown or on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.table import Table as RichTable

WIDTH = 80
NO_BREAK = "\u00a0"
Style = Literal["", "bold", "red", "yellow", "green", "cyan", "dim"]


@dataclass(frozen=True)
class Paragraph:
    """Sentences; further lines start below `indent` spaces. `style` is for terminals only.

    A no-break space keeps a name and its number on one line, and is shown as a plain space.
    """

    text: str
    style: Style = ""
    indent: int = 0

    def wrapped(self, width: int = WIDTH) -> str:
        """Lines of at most `width` columns; names are never broken."""
        text = textwrap.fill(
            self.text,
            width,
            subsequent_indent=" " * self.indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return text.replace(NO_BREAK, " ")


@dataclass(frozen=True)
class Table:
    """Rows under a header. Tables never wrap; `styles` has one per row, or none at all."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    styles: tuple[Style, ...] = ()

    def plain(self) -> str:
        """Columns two spaces apart, as kubectl prints them, without trailing spaces."""
        lines = (self.header, *self.rows)
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def markdown(self) -> str:
        """A table of GitHub-flavoured Markdown."""
        lines = (self.header, ("---",) * len(self.header), *self.rows)
        return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


@dataclass(frozen=True)
class Listing:
    """Items under each other: a mark, a name and what is said of it; styles as in a table.

    The names end in one column. A remark that is too long goes on below its own beginning.
    """

    rows: tuple[tuple[str, str, str], ...]
    styles: tuple[Style, ...] = ()

    def lines(self, width: int = WIDTH) -> list[str]:
        """One text per item, which may have several lines."""
        longest = max((len(name) for _, name, _ in self.rows), default=0)
        column = min(longest, width // 2)
        return [self._line(row, column, width) for row in self.rows]

    def _line(self, row: tuple[str, str, str], column: int, width: int) -> str:
        mark, name, remark = row
        head = f"  {mark} {name:<{column}}  "
        return textwrap.fill(
            head.rstrip() if not remark else head + remark,
            width,
            subsequent_indent=" " * (column + 6),
            break_long_words=False,
            break_on_hyphens=False,
        )

    def markdown(self) -> str:
        """A list, the mark as code."""
        return "\n".join(
            f"- `{mark}` {_escaped(name.strip())} {_escaped(remark)}".rstrip()
            for mark, name, remark in self.rows
        )


@dataclass(frozen=True)
class Gap:
    """An empty line between blocks; other blocks follow each other directly."""


Block = Paragraph | Table | Listing | Gap
GAP = Gap()


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def plain_text(blocks: Iterable[Block]) -> str:
    """The blocks without any decoration, 80 columns wide."""
    return "".join(f"{_plain(block)}\n" for block in blocks)


def _plain(block: Block) -> str:
    match block:
        case Paragraph():
            return block.wrapped()
        case Table():
            return block.plain()
        case Listing():
            return "\n".join(block.lines())
        case Gap():
            return ""


def markdown_text(blocks: Iterable[Block]) -> str:
    """The blocks as Markdown: one line per paragraph, all separated by empty lines."""
    parts = [
        block.text.replace(NO_BREAK, " ").strip()
        if isinstance(block, Paragraph)
        else block.markdown()
        for block in blocks
        if not isinstance(block, Gap)
    ]
    return "\n\n".join(parts) + "\n"


def write_terminal(blocks: Sequence[Block], stream: TextIO) -> None:
    """The blocks with colours, as far as the terminal and NO_COLOR allow them."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    width = min(WIDTH, console.width)
    for block in blocks:
        match block:
            case Paragraph():
                console.print(Text(block.wrapped(width), style=block.style))
            case Table():
                console.print(_rich_table(block))
            case Listing():
                for line, style in zip(block.lines(width), _styles(block), strict=True):
                    console.print(Text(line, style=style))
            case Gap():
                console.print()


def _styles(block: Table | Listing) -> tuple[Style, ...]:
    nothing: Style = ""
    return block.styles or (nothing,) * len(block.rows)


def _rich_table(block: Table) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in block.header:
        table.add_column(Text(name), no_wrap=True)
    for row, style in zip(block.rows, _styles(block), strict=True):
        table.add_row(*map(Text, row), style=style)
    return table
