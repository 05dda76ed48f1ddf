"""`planner sweep`."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import planner
from planner.cli.input import read_cluster
from planner.cli.one_of_many import Command, Place, Ran, run_one
from planner.cli.options import (
    Cache,
    Example,
    Filenames,
    MaxInput,
    ReportFile,
    SkipInvalid,
    Verbose,
    named,
)
from planner.cli.output import show
from planner.cli.progress import ProgressLine
from planner.cli.session import session_of
from planner.cli.workers import Dask, Jobs, chosen_workers
from planner.errors import UsageError
from planner.exit_codes import DONE, FAILURE, INTERRUPTED, NEGATIVE, UNDECIDED, USAGE
from planner.report.text.files import write_file

if TYPE_CHECKING:
    from planner_models.sweep import SweepRow

ASKED = (
    *("inspect", "check", "capacity", "scale-up", "explain", "simulate", "solve", "evict"),
    *("drain", "whatif"),
)
"""Commands whose answer is a document about one cluster."""
GIVEN = frozenset(
    (
        *("-f", "--filename", "--example", "--context", "--live", "--in-cluster"),
        *("--jobs", "--dask", "-o", "--output", "--report", "--out", "--watch"),
    )
)
"""Options that sweep sets itself, or that make no sense for many."""
INDEX = "sweep.json"
SAVED_EVERY = 1.0
"""Seconds between two states of the index, for --resume after the worst."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
GRID = "planner sweep -f cluster.json --grid grid.yaml"
HOW = "planner sweep clusters/*.json.gz -- check"


class SweepOutput(StrEnum):
    """How the table is written."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


Clusters = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE|DIR... -- COMMAND",
        help="A cluster each, as -f reads it: a file, or a folder with all of its objects; and "
        "after -- the command, such as check or whatif --each zone.",
        show_default=False,
    ),
]
Contexts = Annotated[
    list[str] | None,
    named(
        "--context", "A context of the kubeconfig, read when its turn comes. Repeatable.", "NAME"
    ),
]
GridFile = Annotated[
    str | None,
    named("--grid", "Growth by failures of one cluster, a YAML file; kind SweepGrid.", "FILE"),
]
OutFolder = Annotated[
    str | None,
    named("--out", "Write every document and report into this folder, and the table.", "DIR"),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="With --out: leave out files that the same command has answered there, by their "
        "content. Contexts are read anew.",
    ),
]
OutputFormat = Annotated[
    SweepOutput,
    typer.Option("--output", "-o", help="How to write the table.", case_sensitive=False),
]


def sweep(  # noqa: PLR0913, PLR0917 - the options of the command
    context: typer.Context,
    clusters: Clusters = None,
    contexts: Contexts = None,
    grid: GridFile = None,
    filenames: Filenames = None,
    example: Example = None,
    skip_invalid: SkipInvalid = False,
    max_input: MaxInput = None,
    cache: Cache = False,
    out: OutFolder = None,
    resume: Resume = False,
    jobs: Jobs = None,
    dask: Dask = None,
    output: OutputFormat = SweepOutput.TABLE,
    report: ReportFile = None,
    verbose: Verbose = False,
) -> int:
    """Ask many clusters the same, and show them worst first; or one under growth and failures.

    A cluster that fails is a line, not the end. Exit code 1 if one fails, otherwise that of the
    worst answer. With --dask the workers read the files themselves, at the same paths. A grid is 3
    if a pod does not run in a cell whatever the ties, 4 if ties decide.

    \b
    planner sweep clusters/*.json.gz -- check
    planner sweep clusters/*.json.gz --out answers --resume -- whatif --each zone
    planner sweep --context prod-eu --context prod-us -o csv -- inspect
    planner sweep -f cluster.json --grid grid.yaml --report grid.html
    """
    if grid is not None:
        if clusters or contexts or out is not None:
            raise UsageError("--grid is about one cluster: -f FILE", help=GRID)
        cluster = read_cluster(context, filenames, example)
        with (
            chosen_workers(context, jobs, dask) as workers,
            ProgressLine(sys.stderr) as line,
        ):
            tried = cluster.grid(grid, jobs=workers, progress=line)
        show(context, tried, output, report)
        return tried.exit_code
    if filenames or example is not None:
        raise UsageError("-f goes with --grid; clusters are arguments", help=HOW)
    if cache:
        raise UsageError("--cache goes after --, to the command that reads the clusters", help=HOW)
    words = _command(session_of(context).arguments)
    files = list(clusters or ())
    files = files[: len(files) - len(words)]
    if resume and out is None:
        raise UsageError(
            "--resume goes with --out: where is what was done?", help=f"--out DIR, {HOW}"
        )
    places = list(_places(files, contexts or (), words))
    kept = _Kept(out, {place.name: place.content for place in places} if resume else {})
    left = [place for place in places if place.name not in kept.rows]
    sweeping = _Sweeping(Command(words, keep=out is not None), kept)
    with (
        chosen_workers(context, jobs, dask, memory=_memory(files)) as workers,
        ProgressLine(sys.stderr) as line,
    ):
        interrupted = sweeping.run(left, workers, line)
    found = planner.sweep_of(
        words, kept.rows.values(), len(places) - len(kept.rows), interrupted=interrupted
    )
    kept.save(found)
    show(context, found, output, report)
    return found.exit_code


def _command(arguments: Sequence[str]) -> tuple[str, ...]:
    """The words after `--`, which name a command and none of the options that sweep sets."""
    words = arguments[arguments.index("--") + 1 :] if "--" in arguments else ()
    if not words:
        raise UsageError("sweep needs a command after --", help=HOW)
    if words[0] not in ASKED:
        raise UsageError(f"sweep can't ask {words[0]}", help=f"it asks {', '.join(ASKED)}")
    for word in words:
        name = word.partition("=")[0]
        if name in GIVEN:
            raise UsageError(f"{name} goes before --: sweep sets it for every cluster", help=HOW)
    return tuple(words)


def _places(files: Sequence[str], contexts: Sequence[str], words: Sequence[str]) -> Iterator[Place]:
    """A cluster for each, once."""
    if not files and not contexts:
        raise UsageError("sweep needs clusters: files, folders or --context", help=HOW)
    for file in dict.fromkeys(files):
        path = str(Path(file).absolute())
        if not Path(file).exists():
            yield Place(file, ("-f", path))
            continue
        yield Place(file, ("-f", path), planner.content_hash((file,), words))
    for name in dict.fromkeys(contexts):
        yield Place(f"context {name}", ("--context", name))


def _memory(files: Sequence[str]) -> int | None:
    """What a process needs for the largest file, in bytes: text becomes objects."""
    sizes = [
        Path(file).stat().st_size * (20 if file.endswith(".gz") else 3)
        for file in files
        if Path(file).is_file()
    ]
    return (200 << 20) + max(sizes, default=0)


@dataclass
class _Kept:
    """The lines so far, and the folder with their documents."""

    folder: str | None
    wanted: dict[str, str]
    """By cluster, the content that a line of an earlier sweep has to be about."""
    rows: dict[str, SweepRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        for row in planner.sweep_rows(str(self._path(INDEX))) if self.wanted else ():
            done = row.content and self.wanted.get(row.cluster) == row.content
            there = row.document is not None and self._path(row.document).is_file()
            if done and there and row.exit_code in (DONE, NEGATIVE, UNDECIDED):
                self.rows[row.cluster] = row

    def add(self, place: Place, ran: Ran) -> None:
        """One more line; its document and report are files then."""
        from planner_models.sweep import SweepRow

        row = SweepRow(
            cluster=place.name,
            exit_code=FAILURE if ran.code == USAGE else ran.code,
            headline=ran.headline,
            numbers=ran.numbers,
            content=place.content,
        )
        if self.folder is not None and ran.document:
            name = self._name(place)
            for ending, text in (("json", ran.document), ("html", ran.report)):
                write_file(str(self._path(f"{name}.{ending}")), text.encode())
            row = row.model_copy(update={"document": f"{name}.json", "report": f"{name}.html"})
        self.rows[place.name] = row

    def save(self, found: planner.Sweep) -> None:
        """The table as it is, for whoever resumes."""
        if self.folder is not None:
            write_file(str(self._path(INDEX)), found.to_json().encode())

    def _name(self, place: Place) -> str:
        """The file's own name, with a part of a hash where two folders have the same."""
        from hashlib import sha256

        base = Path(place.name).name.split(".")[0] or "cluster"
        return f"{_ODD.sub('-', base)}-{sha256(place.name.encode()).hexdigest()[:8]}"

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return Path(self.folder) / name


@dataclass
class _Sweeping:
    """One sweep under way."""

    command: Command
    kept: _Kept

    def run(self, places: Sequence[Place], workers: planner.Workers, line: ProgressLine) -> bool:
        """Whether Ctrl-C ended it."""
        begin = saved = time.monotonic()
        done = failed = 0
        names = [place.name for place in places]
        with suppress(KeyboardInterrupt), planner.interruptible():
            with closing(workers.completed(run_one, self.command, places, names)) as every:
                for index, result in every:
                    ran = Ran(FAILURE, result.message) if isinstance(result, Exception) else result
                    if ran.code == INTERRUPTED:
                        return True
                    self.kept.add(places[index], ran)
                    done, now = done + 1, time.monotonic()
                    failed += ran.code in (FAILURE, USAGE)
                    told = f"clusters {failed}"
                    line(planner.Progress(told, done, len(places), now - begin))
                    if now - saved > SAVED_EVERY:
                        saved = now
                        rows = self.kept.rows.values()
                        self.kept.save(planner.sweep_of(self.command.words, rows))
            return False
        return True
