"""Texts as blocks: paragraphs, tables and lists, written plain or on a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TextIO

WIDTH = 80
NARROWEST = 8
"""Columns of a table are not made narrower."""
NO_BREAK = "\u00a0"
ELLIPSIS = "..."
Style = Literal["", "bold", "red", "yellow", "green", "cyan", "dim"]

_BLANKS = re.compile(r"[\t\n\v\f\r]+")
_COMMAND = re.compile(r":(?=:)|##(?=\[)")
"""A line that begins so is a command to the runner of GitHub Actions, whoever printed it."""
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that move the cursor, colour the screen or turn the direction of writing around."""


def visible(text: str) -> str:
    """One line, without anything that a terminal or a CI's log would act on."""
    line = UNSEEN.sub("\ufffd", _BLANKS.sub(" ", text))
    return _COMMAND.sub(lambda found: f"{found[0]} ", line)


def shortened(text: str, width: int) -> str:
    """At most so many columns: sentences lose their end, names their middle."""
    if len(text) <= width:
        return text
    if " " in text.strip():
        return f"{text[: width - len(ELLIPSIS)].rstrip()}{ELLIPSIS}"
    tail = (width - len(ELLIPSIS)) // 2
    return f"{text[: width - len(ELLIPSIS) - tail]}{ELLIPSIS}{text[len(text) - tail :]}"


def _with_short_words(text: str, longest: int) -> str:
    words = re.compile(rf"[^ ]{{{max(longest, NARROWEST) + 1},}}")
    return words.sub(lambda word: shortened(word[0], longest), text)


def _wrapped(text: str, width: int, indent: int) -> str:
    """Lines of at most `width` columns; names are never broken."""
    filled = textwrap.fill(
        text,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(NO_BREAK, " ")


@dataclass(frozen=True)
class Paragraph:
    """Sentences; further lines start below `indent` spaces. `style` is for terminals only.

    A no-break space keeps a name and its number on one line, and is shown as a plain space.
    """

    text: str
    style: Style = ""
    indent: int = 0

    def lines(self, width: int = WIDTH, *, fit: bool = False) -> list[str]:
        """The text as one string of lines."""
        text = visible(self.text)
        if fit:
            text = _with_short_words(text, width - self.indent)
        return [_wrapped(text, width, self.indent)]


@dataclass(frozen=True)
class Table:
    """Rows under a header. Tables never wrap; `styles` has one per row, or none at all.

    Columns of numbers are named in `right` and end below each other.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    styles: tuple[Style, ...] = ()
    right: frozenset[int] = frozenset()
    indent: int = 0

    @property
    def width(self) -> int:
        """How many columns of text it would like to have."""
        return self.indent + sum(self._widths()) + 2 * (len(self.header) - 1)

    def lines(self, width: int = WIDTH, *, fit: bool = False) -> list[str]:
        """Header and rows, columns two spaces apart as kubectl prints them."""
        rows = tuple(tuple(map(visible, row)) for row in self.rows)
        table = replace(self, header=tuple(map(visible, self.header)), rows=rows)
        if fit:
            table = table._fitted(width - self.indent)
        widths = table._widths()
        return [
            (" " * self.indent + "  ".join(table._aligned(row, widths))).rstrip()
            for row in (table.header, *table.rows)
        ]

    def _aligned(self, row: tuple[str, ...], widths: list[int]) -> Iterator[str]:
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            yield cell.rjust(width) if column in self.right else cell.ljust(width)

    def _widths(self) -> list[int]:
        return [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]

    def _fitted(self, width: int) -> Table:
        """Long cells shortened, those of the widest columns first; headers stay as they are."""
        widths = self._widths()
        least = [max(NARROWEST, len(name)) for name in self.header]
        while sum(widths) + 2 * (len(widths) - 1) > width:
            widest = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
            if widths[widest] <= least[widest]:
                break
            widths[widest] -= 1
        rows = tuple(
            tuple(shortened(cell, width) for cell, width in zip(row, widths, strict=True))
            for row in self.rows
        )
        return replace(self, rows=rows)


@dataclass(frozen=True)
class Listing:
    """Items under each other: a mark, a name and what is said of it; styles as in a table.

    The names end in one column. A remark that is too long goes on below its own beginning.
    """

    rows: tuple[tuple[str, str, str], ...]
    styles: tuple[Style, ...] = ()

    def lines(self, width: int = WIDTH, *, fit: bool = False) -> list[str]:
        """One text per item, which may have several lines."""
        longest = max((len(name) for _, name, _ in self.rows), default=0)
        column = min(longest, width * 11 // 20)
        return [_item(row, column, width, fit=fit) for row in self.rows]


def _item(row: tuple[str, str, str], column: int, width: int, *, fit: bool) -> str:
    mark, name, remark = map(visible, row)
    if fit:
        name = shortened(name, width - len(mark) - 3)
        remark = _with_short_words(remark, width - column - 6)
    head = f"  {mark} {name:<{column}}  "
    return _wrapped(head.rstrip() if not remark else head + remark, width, column + 5 + len(mark))


@dataclass(frozen=True)
class Gap:
    """An empty line between blocks; other blocks follow each other directly."""

    def lines(self, width: int = WIDTH, *, fit: bool = False) -> list[str]:
        """The empty line."""
        return [""]


Block = Paragraph | Table | Listing | Gap
GAP = Gap()


def plain_text(blocks: Iterable[Block]) -> str:
    """The blocks without any decoration: sentences in 80 columns, names and tables whole."""
    return "".join(f"{line}\n" for block in blocks for line in block.lines())


def write_terminal(blocks: Sequence[Block], stream: TextIO, *, fit: bool = False) -> None:
    """The same with colours, as far as the terminal and NO_COLOR allow them.

    Tables and lists may be as wide as the terminal; with `fit` long names are shortened to it.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for block in blocks:
        prose = isinstance(block, Paragraph)
        width = min(WIDTH, console.width) if prose else console.width
        lines = block.lines(width, fit=fit and not (prose and console.width > WIDTH))
        for line, style in zip(lines, _styles(block, len(lines)), strict=True):
            console.print(Text(line, style=style))


def _styles(block: Block, lines: int) -> tuple[Style, ...]:
    nothing: Style = ""
    match block:
        case Paragraph():
            return (block.style,)
        case Table():
            return ("bold", *(block.styles or (nothing,) * len(block.rows)))
        case Listing():
            return block.styles or (nothing,) * lines
        case Gap():
            return (nothing,)
