"""`planner dump`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner.cli.input import read_cluster
from planner.cli.options import Example, Filenames, MaxInput, Verbose, named
from planner.cli.output import quiet_when_nobody_reads
from planner.errors import UsageError
from planner.exit_codes import DONE

Target = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.json[.gz]",
        help="The file to write; it is packed if it ends with .gz. Only you may read it.",
        show_default=False,
    ),
]
Anonymous = Annotated[
    bool,
    typer.Option(
        "--anonymous",
        help="For bug reports: every name becomes a number, and the rest is left out. Checked to "
        "behave like the original and to hold none of its names before it is written.",
        show_default=False,
    ),
]
NamesFile = Annotated[
    str | None,
    named("--names", "With --anonymous: keep what everything was called, for --translate.", "FILE"),
]
Translate = Annotated[
    str | None,
    named("--translate", "Put the names of this file back into a text on stdin.", "FILE"),
]


def dump(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    filenames: Filenames = None,
    example: Example = None,
    max_input: MaxInput = None,
    target: Target = None,
    anonymous: Anonymous = False,
    names: NamesFile = None,
    translate: Translate = None,
    verbose: Verbose = False,
) -> int:
    """Write what planner reads of a cluster into a file, to keep or to share.

    Every command that reads it says how old it is.

    \b
    planner dump -f cluster.json -o snap.json.gz
    planner dump -f cluster.json --anonymous -o bug.json.gz --names bug.names
    planner dump --translate bug.names < answer.txt
    """
    if translate is not None:
        if target is not None or anonymous or names is not None or filenames or example:
            raise UsageError(
                "--translate reads a text on stdin and nothing else",
                help="planner dump --translate bug.names < answer.txt",
            )
        _translate(translate)
        return DONE
    if target is None:
        raise UsageError(
            "there is no file to write", help=f"{context.command_path} -o snap.json.gz"
        )
    from planner.api.dump import check_targets

    check_targets(target, anonymous, names)
    cluster = read_cluster(context, filenames, example, keep_objects=True)
    written = cluster.dump(target, anonymous=anonymous, names=names)
    with quiet_when_nobody_reads():
        sys.stdout.write(written.to_text())
    return DONE


def _translate(file: str) -> None:
    import planner

    if sys.stdin.isatty():
        raise UsageError(
            "--translate reads a text on stdin, which is a terminal",
            help=f"planner dump --translate {file} < answer.txt",
        )
    text = planner.translate(sys.stdin.read(), file)
    with quiet_when_nobody_reads():
        sys.stdout.write(text)
