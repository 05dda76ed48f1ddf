"""Names and sentences inside Markdown and Mermaid: text, never markup.

Input may have any characters in names. Nothing of it may start a heading or a list, close a table
cell, a code span or a tag, make a link, or call somebody by name.
"""

from __future__ import annotations

import html
import re

from planner.report.text.blocks import NO_BREAK, shortened, visible

LABEL = 48
"""Columns of a label in a graph."""

_INLINE = re.compile(r"[\\`*_\[\]<|~&$]")
_LINE_START = re.compile(r"^(\d*)([.)](?=\s|$)|[-+](?=[\s+-]|$)|#(?=[#\s]|$)|>|=+$)")
"""A number and a point, or a sign, that would begin a list, a heading, a rule or a quotation."""
_MENTION = re.compile(r"@(?=\w)")
_REFERENCE = re.compile(r"#(?=\d)|(?<=\bGH)-(?=\d)")
_LINK = re.compile(r"(?<=:)//|(?<=\bwww)\.", re.IGNORECASE)
_MERMAID_SAFE = re.compile(r"[^A-Za-z0-9 ./_-]")
_WORD_JOINER = "\u2060"
"""Shown as nothing, and keeps GitHub from taking what follows for a person or an issue."""


def text(raw: str) -> str:
    """A line of its own, with nothing in it that Markdown would act on."""
    return _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}", cell(raw))


def cell(raw: str) -> str:
    """The same inside of a line, such as a cell of a table."""
    line = _INLINE.sub(lambda found: f"\\{found[0]}", _one_line(raw))
    return _uncalled(_LINK.sub(lambda found: f"\\{found[0]}", line))


def _one_line(raw: str) -> str:
    return " ".join(visible(raw).replace(NO_BREAK, " ").split())


def _uncalled(line: str) -> str:
    """Without calling a person or an issue."""
    line = _MENTION.sub(f"@{_WORD_JOINER}", line)
    return _REFERENCE.sub(lambda found: f"{found[0]}{_WORD_JOINER}", line)


def code(raw: str) -> str:
    """A code span; the backticks around it are more than any inside."""
    line = _one_line(raw).replace("|", "\\|")
    if not line:
        return ""
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def tag_text(raw: str) -> str:
    """Inside of an HTML element, such as `<summary>`, where Markdown's own signs mean nothing."""
    return _uncalled(html.escape(_one_line(raw)))


def mermaid(raw: str) -> str:
    """A label between double quotes: all but letters, digits and some signs as their number."""
    return _MERMAID_SAFE.sub(lambda found: f"#{ord(found[0])};", shortened(_one_line(raw), LABEL))
