"""From a page to the one HTML file.

Every text is escaped by the templates. The content security policy lets nothing run but the script
of the page itself, known by its hash, and nothing be fetched at all: even markup that got through
could do no harm.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from planner.report.html.map_view import Json
from planner.report.html.view import Names, Page
from planner.report.text.blocks import visible
from planner.report.text.files import write_file
from planner.version import __version__

ROWS = 100
"""So many rows of a table are drawn at once; the filter finds the others, too."""
SUGGESTED = 500
"""So many names the filter suggests."""
HEAT_COLUMNS = 25
HEAT_PITCH = 8


def render(page: Page, made: Sequence[tuple[str, str]] = ()) -> bytes:
    """The report; the same page gives the same bytes. `made` says where it comes from."""
    environment = _environment()
    script = _asset(environment, "script.js")
    text = environment.get_template("page.html.j2").render(
        page=page,
        version=__version__,
        made=made,
        style=Markup(_asset(environment, "style.css")),
        script=Markup(script),
        script_hash=_hash(script),
        names=_names(page.names),
    )
    return text.encode("utf-8", "xmlcharrefreplace")


def write_report(path: str, page: Page, made: Sequence[tuple[str, str]] = ()) -> None:
    """The report as a file."""
    write_file(path, render(page, made))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("planner.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    environment.filters["visible"] = visible
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals.update(
        ROWS=ROWS, SUGGESTED=SUGGESTED, HEAT_COLUMNS=HEAT_COLUMNS, HEAT_PITCH=HEAT_PITCH
    )
    return environment


def _shown(value: object) -> object:
    """What is printed has no characters that act on the text around them; markup is our own."""
    return visible(value) if type(value) is str else value


def _asset(environment: Environment, name: str) -> str:
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0]


def _hash(script: str) -> str:
    """As browsers compare it: over the text between the tags."""
    return f"sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}"


def _names(names: Names) -> dict[str, Json]:
    """What the filter compares with."""
    return {
        "workloads": [[visible(space), visible(name)] for space, name in names.workloads],
        "nodes": [visible(name) for name in names.nodes],
    }
