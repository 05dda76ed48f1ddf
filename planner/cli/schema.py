"""`planner schema`."""

from __future__ import annotations

import json
import sys
from difflib import get_close_matches
from typing import Annotated

import typer

from planner.cli.options import Verbose
from planner.cli.output import quiet_when_nobody_reads
from planner.errors import UsageError
from planner.exit_codes import DONE


def schema(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="A kind of document.", show_default=False),
    ] = None,
    verbose: Verbose = False,
) -> int:
    """Print the JSON Schema of a document or of a policy, or name the kinds."""
    from planner_models.documents import DOCUMENTS, SETTINGS

    kinds = [*DOCUMENTS, *SETTINGS]
    text = "\n".join(kinds) if kind is None else _schema_text(_known(kind, kinds))
    with quiet_when_nobody_reads():
        sys.stdout.write(f"{text}\n")
    return DONE


def _schema_text(kind: str) -> str:
    from planner_models.documents import json_schema

    return json.dumps(json_schema(kind), indent=2)


def _known(kind: str, kinds: list[str]) -> str:
    """The kind in its own spelling; upper and lower case don't matter, as for kubectl."""
    spelled = {known.lower(): known for known in kinds}
    found = spelled.get(kind.lower())
    if found is not None:
        return found
    close = get_close_matches(kind.lower(), spelled, n=1)
    help_text = f"did you mean {spelled[close[0]]}?" if close else f"there are: {', '.join(kinds)}"
    raise UsageError(f"there is no kind {kind}", help=help_text)
