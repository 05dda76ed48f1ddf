"""Packaged clusters as a source, with an error that names what there is."""

from __future__ import annotations

from planner.examples import UnknownExampleError, example_path
from planner.sources.errors import SourceError


def example_file(name: str) -> str:
    """The path to read for `--example NAME`."""
    try:
        return str(example_path(name))
    except UnknownExampleError as unknown:
        listing = "--example list names them all"
        close = " or ".join(unknown.close)
        raise SourceError(
            str(unknown), help=f"did you mean {close}? {listing}" if close else listing
        ) from unknown
