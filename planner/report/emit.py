"""A document in the format that `-o` asks for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TextIO, TypeVar

from planner.report.text.blocks import UNSEEN, Block, plain_text, visible, write_terminal
from planner.report.text.commands import NOTHING, Given, pasteable
from planner.report.text.formats import Output
from planner.sources.errors import SourceError
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner_models.source import ClusterSource

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The file that GitHub shows on the page of a run, by the name of its environment variable."""

PIECE = 1 << 24
"""Characters that are written at once."""

D = TypeVar("D", bound=Document)
D_contra = TypeVar("D_contra", bound=Document, contravariant=True)


class Texts(Protocol, Generic[D_contra]):
    """How one kind of document reads; a module with these two functions is one."""

    def blocks(self, document: D_contra, *, wide: bool) -> Sequence[Block]:
        """The text, for `table` and `wide`."""

    def names(self, document: D_contra) -> Iterable[str]:
        """What `name` lists, a line each."""


@dataclass(frozen=True)
class Origin:
    """What a document was made from: some formats show more than the document holds.

    `paths` are the files that the user named, in which fields have lines. `given` is what further
    commands need to ask about the same. `members` are the labels of a fleet's clusters. `source` is
    which cluster it is.
    """

    command: str = "planner"
    paths: Sequence[str] = ()
    cluster: Cluster | None = None
    members: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    given: Given = NOTHING
    source: ClusterSource | None = None


def to_json(document: Document) -> str:
    """camelCase, in the order of the model's fields, absent where there is no value."""
    return _escaped(document.model_dump_json(by_alias=True, exclude_none=True, indent=2)) + "\n"


def _escaped(text: str) -> str:
    """JSON without characters that a terminal would obey; they stand inside strings only."""
    if text.isascii() and "\x7f" not in text:
        return text
    lines = text.split("\n")
    return "\n".join(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line) for line in lines)


def to_yaml(document: Document) -> str:
    """The same as the JSON, key by key."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    data = document.model_dump(mode="json", by_alias=True, exclude_none=True)
    text: str = yaml.dump(data, Dumper=dumper, sort_keys=False, allow_unicode=True)
    return text


def to_text(document: D, output: Output, texts: Texts[D], origin: Origin | None = None) -> str:
    """The document in any format, plain."""
    match output:
        case Output.JSON:
            return to_json(document)
        case Output.YAML:
            return to_yaml(document)
        case Output.NAME:
            return "".join(f"{visible(name)}\n" for name in texts.names(document))
        case Output.MARKDOWN:
            return _markdown(document, origin or Origin())
        case Output.GITHUB | Output.JUNIT | Output.SARIF:
            return _for_ci(document, output, origin or Origin())
        case Output.TABLE | Output.WIDE:
            return plain_text(_blocks(document, texts, origin, wide=output is Output.WIDE))


def _blocks(document: D, texts: Texts[D], origin: Origin | None, *, wide: bool) -> Sequence[Block]:
    given = NOTHING if origin is None else origin.given
    return pasteable(texts.blocks(document, wide=wide), given)


def emit(
    document: D, output: Output, texts: Texts[D], stream: TextIO, origin: Origin | None = None
) -> None:
    """Write the document; only tables on a terminal are decorated."""
    wide = output is Output.WIDE
    if (wide or output is Output.TABLE) and stream.isatty():
        write_terminal(_blocks(document, texts, origin, wide=wide), stream, fit=not wide)
    else:
        _write(stream, to_text(document, output, texts, origin))
    summary = os.environ.get(STEP_SUMMARY)
    if output is Output.GITHUB and summary:
        _append(summary, _summary(document, origin or Origin()))


def _write(stream: TextIO, text: str) -> None:
    """Piece by piece: one call of the system writes 2 GiB at most, and says nothing of the rest."""
    for begin in range(0, len(text), PIECE):
        stream.write(text[begin : begin + PIECE])


def _markdown(document: Document, origin: Origin) -> str:
    from planner.report.markdown.documents import parts_of
    from planner.report.markdown.render import markdown_text, pasteable_parts

    parts = parts_of(document, origin.cluster, origin.members)
    return markdown_text(pasteable_parts(parts, origin.given))


def _for_ci(document: Document, output: Output, origin: Origin) -> str:
    from planner.report.ci.checks import checks_of
    from planner.report.ci.findings import findings_of
    from planner.report.ci.github import github_text
    from planner.report.ci.junit import junit_text
    from planner.report.ci.sarif import sarif_text
    from planner.sources.locations import Locations

    checks = checks_of(document)
    locations = Locations(origin.paths)
    if output is Output.JUNIT:
        return junit_text(origin.command, checks, locations)
    found = findings_of(checks)
    if output is Output.SARIF:
        return sarif_text(origin.command, found, locations)
    return github_text(found, locations, summary=bool(os.environ.get(STEP_SUMMARY)))


def _summary(document: Document, origin: Origin) -> str:
    """What the page of a run shows: the result as Markdown, and every finding with its place."""
    from planner.report.ci.checks import checks_of
    from planner.report.ci.findings import findings_of
    from planner.report.ci.github import summary_parts
    from planner.report.markdown.render import markdown_text
    from planner.sources.locations import Locations

    found = findings_of(checks_of(document))
    parts = summary_parts(found, Locations(origin.paths))
    return f"{_markdown(document, origin)}\n{markdown_text(parts)}"


def _append(path: str, text: str) -> None:
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"can't write the step summary {path}: {reason}") from error
