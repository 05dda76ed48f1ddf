"""The `planner` command.

Starting it imports typer and little else: whoever asks for help gets it at once. A command imports
what it needs when it runs.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from inspect import signature
from typing import Annotated

import typer

from planner import __version__
from planner.cli.errors import report_bug, report_error, report_interrupt, report_usage
from planner.cli.live_options import with_live_options
from planner.cli.session import Session
from planner.errors import PlannerError
from planner.exit_codes import DONE, INTERRUPTED
from planner.garbage import THRESHOLD

NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Pydantic would look for plugins in whatever is installed; planner has none."""
NO_THREADS = ("OPENBLAS_NUM_THREADS", "1")
"""numpy would start a thread for each core, for products of floating-point matrices that nobody
here asks for; a process with threads can't be forked as it is."""

COMMANDS = (
    "inspect",
    "check",
    "capacity",
    "scale-up",
    "explain",
    "simulate",
    "solve",
    "evict",
    "drain",
    "apply",
    "whatif",
    "sweep",
    "fleet",
    "run",
    "status",
    "dump",
    "rbac",
    "schema",
)
"""Each is a function of the module of its name."""

ALWAYS_LIVE = frozenset(("apply", "run", "status"))
"""Those that are about a running cluster and nothing else."""
NEVER_LIVE = frozenset(("fleet", "sweep"))
"""Those that read files alone, though they have examples."""


def command_of(name: str) -> Callable[..., int | None]:
    """The function of a command, imported when it is asked for; it has the options of a running
    cluster if it can read one.
    """
    word = name.replace("-", "_")
    command: Callable[..., int | None] = getattr(import_module(f"planner.cli.{word}"), word)
    return with_live_options(command) if is_live(name, command) else command


def is_live(name: str, command: Callable[..., int | None]) -> bool:
    """Whether it reads a cluster, and so can read a running one."""
    reads = name not in NEVER_LIVE and "example" in signature(command).parameters
    return reads or name in ALWAYS_LIVE


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"planner {__version__}")
        raise typer.Exit


def planner(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Explains, simulates and plans where Kubernetes pods go.

    Without -f a command reads the cluster of kubectl's current context. As a plugin
    its options go after the command: kubectl planner explain pod/x --context prod.

    Exit codes: 0 done; 1 bad input or failure; 2 usage; 3 a negative answer;
    4 undecided within the limit; 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None, program: str = "planner") -> int:
    """Run one command; returns the exit code and never raises."""
    _accept_any_character()
    gc.set_threshold(THRESHOLD)
    os.environ.setdefault(*NO_PLUGINS)
    os.environ.setdefault(*NO_THREADS)
    given = tuple(sys.argv[1:] if arguments is None else arguments)
    session = Session(given, program=program)
    try:
        return _run(given, session)
    except PlannerError as error:
        return report_error(error)
    except MemoryError:
        help_text = "--max-input SIZE makes planner stop before it reads too much"
        return report_error(PlannerError("there is not enough memory", help=help_text))
    except typer.TyperException as error:
        return report_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        return report_interrupt()
    except Exception as error:  # noqa: BLE001 - reported as a bug, with its traceback under -v
        return report_bug(error, verbose=session.verbose)


def application(names: Iterable[str]) -> typer.Typer:
    """The command line with these commands; typer looks at every option of all it is given."""
    app = typer.Typer(
        name="planner",
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )
    app.callback()(planner)
    for name in names:
        app.command(name)(command_of(name))
    return app


def _run(given: Sequence[str], session: Session) -> int:
    """Typer returns what the command returned, or the code of a typer.Exit."""
    code = application(given[:1] if given and given[0] in COMMANDS else COMMANDS)(
        args=list(given),
        prog_name=session.program,
        standalone_mode=False,
        obj=session,
    )
    if code == INTERRUPTED:
        return report_interrupt()
    return code if isinstance(code, int) else DONE


def _accept_any_character() -> None:
    """A name that the terminal's encoding lacks is shown escaped; it is no reason to stop."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
