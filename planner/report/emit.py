"""A document in the format that `-o` asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TextIO, TypeVar

from models.base import Document
from planner.report.blocks import Block, markdown_text, plain_text, write_terminal
from planner.report.formats import Output

D = TypeVar("D", bound=Document)
D_contra = TypeVar("D_contra", bound=Document, contravariant=True)


class Texts(Protocol, Generic[D_contra]):
    """How one kind of document reads; a module with these two functions is one."""

    def blocks(self, document: D_contra, *, wide: bool) -> Sequence[Block]:
        """The text, for `table`, `wide` and `markdown`."""

    def names(self, document: D_contra) -> Iterable[str]:
        """What `name` lists, a line each."""


def to_json(document: Document) -> str:
    """camelCase, in the order of the model's fields, absent where there is no value."""
    return document.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"


def to_yaml(document: Document) -> str:
    """The same as the JSON, key by key."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    data = document.model_dump(mode="json", by_alias=True, exclude_none=True)
    text: str = yaml.dump(data, Dumper=dumper, sort_keys=False, allow_unicode=True)
    return text


def to_text(document: D, output: Output, texts: Texts[D]) -> str:
    """The document in any format, plain."""
    match output:
        case Output.JSON:
            return to_json(document)
        case Output.YAML:
            return to_yaml(document)
        case Output.NAME:
            return "".join(f"{name}\n" for name in texts.names(document))
        case Output.MARKDOWN:
            return markdown_text(texts.blocks(document, wide=False))
        case Output.TABLE | Output.WIDE:
            return plain_text(texts.blocks(document, wide=output is Output.WIDE))


def emit(document: D, output: Output, texts: Texts[D], stream: TextIO) -> None:
    """Write the document; only tables on a terminal are decorated."""
    if output in (Output.TABLE, Output.WIDE) and stream.isatty():
        write_terminal(texts.blocks(document, wide=output is Output.WIDE), stream)
    else:
        stream.write(to_text(document, output, texts))
