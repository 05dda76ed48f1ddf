"""What a text seems to be that is no Kubernetes object: more useful than a parser's complaint."""

from __future__ import annotations

import re

from planner.sources.errors import SourceError, line_and_column
from planner.sources.input_text import kubectl_into

_TABLE = re.compile(rb"\s*(?:NAMESPACE +)?NAME +[A-Z]")
_ACTION = re.compile(rb"\{\{-?\s*(?:[.$(]|/\*|[A-Za-z]+\b(?!\s*:))[^\n]*")

PATCH_HELP = "kubectl kustomize DIR | planner ... -f - reads the result"


def kubectl_table(file: str, text: bytes) -> SourceError | None:
    """The error for what `kubectl get` prints without `-o`, or with `-o wide`."""
    if not _TABLE.match(text):
        return None
    return SourceError(
        f"{file} is kubectl's table, which leaves out most of what planner reads; use -o json",
        file=file,
        help=kubectl_into(file),
    )


def helm_template(file: str, text: bytes, error: SourceError) -> SourceError | None:
    """The error for a template, if a parser stumbled on an action such as `{{ .Values.name }}`.

    Elsewhere such words are texts: configurations of other programs are full of them.
    """
    lines = text.splitlines(keepends=True)
    nearby = slice(max(0, (error.line or 1) - 2), error.line)
    start = sum(map(len, lines[: nearby.start]))
    found = _ACTION.search(text, start, start + sum(map(len, lines[nearby])))
    if found is None:
        return None
    line, column = line_and_column(text, found.start())
    return SourceError(
        f"{file} is a Helm template, which has to be rendered first",
        file=file,
        line=line,
        column=column,
        detail=found[0].decode("utf-8", "replace").strip()[:60],
        help="helm template NAME CHART | planner ... -f -",
    )
