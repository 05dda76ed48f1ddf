"""Parts of a Markdown document, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from planner.report.markdown import escape
from planner.report.text.blocks import Block, Gap, Listing, Paragraph, Table
from planner.report.text.commands import Given, pasteable_paragraph


@dataclass(frozen=True)
class Heading:
    """The first line: whoever stops reading there has the answer."""

    text: str


@dataclass(frozen=True)
class Where:
    """A field or a command, shown as code."""

    text: str


@dataclass(frozen=True)
class Diagram:
    """A Mermaid graph, escaped by whoever made it."""

    text: str


@dataclass(frozen=True)
class Fold:
    """Parts that are shown on request."""

    summary: str
    parts: Sequence[Part]


Part = Heading | Where | Diagram | Fold | Block


def pasteable_parts(parts: Iterable[Part], given: Given) -> Iterator[Part]:
    """The same parts, with commands that read what this one read."""
    for part in parts:
        match part:
            case Paragraph():
                yield pasteable_paragraph(part, given)
            case Fold():
                yield replace(part, parts=tuple(pasteable_parts(part.parts, given)))
            case _:
                yield part


def markdown_text(parts: Iterable[Part]) -> str:
    """The parts, separated by empty lines."""
    return "\n\n".join(text for part in parts if (text := _part(part))) + "\n"


def _part(part: Part) -> str:
    match part:
        case Heading():
            return f"### {escape.cell(part.text)}"
        case Where():
            return escape.code(part.text)
        case Diagram():
            return f"```mermaid\n{part.text}\n```"
        case Fold():
            inside = markdown_text(part.parts) if part.parts else ""
            summary = escape.tag_text(part.summary)
            return f"<details><summary>{summary}</summary>\n\n{inside}\n</details>" * bool(inside)
        case Paragraph():
            return escape.text(part.text)
        case Table():
            return _table(part)
        case Listing():
            return _listing(part)
        case Gap():
            return ""


def _table(table: Table) -> str:
    rows = (table.header, ("---",) * len(table.header), *table.rows)
    return "\n".join(
        f"| {' | '.join(cells if cells is rows[1] else map(escape.cell, cells))} |"
        for cells in rows
    )


def _listing(listing: Listing) -> str:
    return "\n".join(
        f"- {escape.code(mark)} {escape.cell(name)} {escape.cell(remark)}".rstrip()
        for mark, name, remark in listing.rows
    )
