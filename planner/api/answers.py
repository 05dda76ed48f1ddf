"""Answers: the documents that planner writes, with every way to show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, TextIO, cast

from pydantic import PrivateAttr
from pydantic.alias_generators import to_camel

from planner.api.arguments import one_of
from planner.errors import UsageError
from planner.report.text.formats import Output
from planner_models.base import Document

if TYPE_CHECKING:
    from pandas import DataFrame

    from planner.cluster import Cluster as Snapshot
    from planner.report.emit import Origin, Texts
    from planner.report.html.view import Page


def _known(document: Document, origin: Origin) -> Document:
    """A plan for a cluster that is known can be carried out there, and gets an id for that."""
    known = origin.source is not None and origin.source.cluster is not None
    if not known or "plan_id" not in type(document).model_fields:
        return document
    from planner.documents.plan_id import fingerprint, plan_id

    if "state" in type(document).model_fields and origin.cluster is not None:
        document = document.model_copy(update={"state": fingerprint(origin.cluster)})
    return document.model_copy(update={"plan_id": plan_id(document)})


class Answer(Document):
    """A document that knows what it was made from; each kind of document has its own subclass."""

    _document: Document = PrivateAttr()
    """The same without these methods: it is what is written, so its validators are built once."""
    _origin: Origin = PrivateAttr()
    _columns: ClassVar[tuple[str, ...]] = ()
    """Fields of the rows of `to_dataframe`."""

    @classmethod
    def of(cls, document: Document, origin: Origin) -> Self:
        """The document as an answer, which says what cluster it is about."""
        if origin.source is not None and "source" in type(document).model_fields:
            document = document.model_copy(update={"source": origin.source})
            document = _known(document, origin)
        fields = {name: getattr(document, name) for name in type(document).model_fields}
        answer = cast("Self", cls.model_construct(document.model_fields_set, **fields))
        answer._document, answer._origin = document, origin
        return answer

    def called(self, program: str) -> Self:
        """The same, suggesting commands that begin with these words, such as `kubectl planner`."""
        answer = self.model_copy()
        given = replace(self._origin.given, program=program)
        answer._origin = replace(self._origin, given=given)
        return answer

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values for some fields, which are what it shows, too."""
        copy = super().model_copy(update=update, deep=deep)
        copy._document = self._document.model_copy(update=update, deep=deep)
        return copy

    def to_json(self) -> str:
        """The whole document, as `-o json` writes it; `planner schema` has its JSON Schema."""
        return self.to_text("json")

    def to_markdown(self) -> str:
        """For pull requests and chat."""
        return self.to_text("markdown")

    def to_text(self, output: str = "table") -> str:
        """In any format of the command line's `-o`."""
        from planner.report.emit import to_text

        own = self._own_text(output)
        if own is not None:
            return own
        return to_text(self._document, self._format(output), self._texts(), self._origin)

    def to_html(self) -> str:
        """A page with pictures: one file that needs no network."""
        from planner.report.html.render import render

        return render(self._page(), self._made(None)).decode()

    def to_dataframe(self) -> DataFrame:
        """What the answer lists, a row each; columns are named as in the JSON."""
        try:
            import pandas
        except ImportError as error:
            raise UsageError("to_dataframe needs pandas", help="pip install pandas") from error
        rows = [[getattr(row, name) for name in self._columns] for row in self._rows()]
        return pandas.DataFrame(
            rows, columns=[to_camel(name.rstrip("_")) for name in self._columns]
        )

    def write(self, stream: TextIO, output: str = "table") -> None:
        """Into a stream; tables are decorated if that is a terminal."""
        from planner.report.emit import emit

        own = self._own_text(output)
        if own is not None:
            stream.write(own)
        else:
            emit(self._document, self._format(output), self._texts(), stream, self._origin)

    def write_html(self, path: str, command: str | None = None) -> None:
        """The page as a file; it names the command that made it."""
        from planner.report.html.render import write_report

        write_report(path, self._page(), self._made(command))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._short()}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from html import escape

        return f"<pre>{escape(self.to_text())}</pre>"

    @property
    def in_short(self) -> str:
        """The answer in a few words."""
        return self._short()

    @property
    def cluster_size(self) -> dict[str, int]:
        """Nodes, pods and pods that wait of the cluster that it is about."""
        cluster = self._snapshot
        counts = {"nodes": len(cluster.nodes), "pods": len(cluster.pods)}
        return {**counts, "waiting": len(cluster.pending)}

    @property
    def _snapshot(self) -> Snapshot:
        """The cluster that it is about; a fleet's answers are about none."""
        assert self._origin.cluster is not None
        return self._origin.cluster

    def _made(self, command: str | None) -> tuple[tuple[str, str], ...]:
        """Where a page comes from; without a command line, the part of it that is known."""
        from planner.report.html.provenance import provenance

        given = self._origin.given
        known = " ".join((self._origin.command, *given.input, *given.part))
        source, words = self._origin.source, given.input
        context = None if source is None else source.context
        inputs = [] if context is None else [f"context {context}"]
        inputs += [value for name, value in pairwise(words) if name in ("-f", "--example")]
        return provenance(command or known, inputs, self._origin.cluster)

    def _format(self, output: str) -> Output:
        return Output(one_of("output", output, Output))

    def _own_text(self, output: str) -> str | None:
        """The text of formats that only this kind of document has."""
        return None

    def _texts(self) -> Texts[Any]:
        """How it reads as a table."""
        raise NotImplementedError

    def _page(self) -> Page:
        """How it looks as a page."""
        raise NotImplementedError

    def _rows(self) -> Sequence[Document]:
        """What it lists."""
        raise NotImplementedError

    def _short(self) -> str:
        """The answer in a few words."""
        raise NotImplementedError
