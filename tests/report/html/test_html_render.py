"""The HTML itself: nothing of the input becomes markup, nothing is fetched, nothing depends on
anything but the input."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from planner.examples import example_path
from planner.report.html.render import render
from planner.report.html.solve_page import solve_page
from planner.report.html.view import Page
from tests.objects import ZONE, cluster_of, node, owned, pod
from tests.report.html.large import NODES, large_cluster, large_plan
from tests.report.html.pages import drained, evicted, example, explained, placed, simulated, solved

PARTS = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "' onmouseover='alert(4)",
    "</style></title><svg onload=alert(5)>",
    "<!--{{ 7 * 7 }}{% raw %}-->",
    "back\\slash\\u003cb\\u003e&lt;&#60;",
    "line\u2028\u2029\u202etxt.exe\u0000",
)
HOSTILE = " ".join(PARTS)
NAME = "harmless"
VISIBLE = (*PARTS[:7], "line\ufffd\ufffd\ufffdtxt.exe\ufffd")
"""As they are, but for characters that act on the text around them."""
MB = 1_000_000
VOID = {"meta", "input"}


class Reader(HTMLParser):
    """Every tag and attribute, and whether tags are closed as they were opened."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.texts.append(data)


def read(page: Page) -> Reader:
    reader = Reader()
    reader.feed(render(page).decode())
    reader.close()
    assert not reader.open
    return reader


def harmless_pages(folder: Path) -> dict[str, Page]:
    """A report of every command, in which nearly everything has the same name."""
    spread = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": NAME}},
            }
        ]
    }
    metadata = {"labels": {"app": NAME}, "namespace": NAME}
    replica = metadata | owned("ReplicaSet", NAME)
    big = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "99"}}}]}
    running = [pod(f"{NAME}-{i}", f"{NAME}-1", spec=spread, metadata=replica) for i in range(4)]
    cluster = cluster_of(
        node(f"{NAME}-1", f"{NAME}-a"),
        node(f"{NAME}-2", f"{NAME}-b"),
        *running,
        pod(f"{NAME}-4", spec=spread, metadata=replica),
        pod(f"{NAME}-5", spec=big, metadata=metadata),
    )
    raw = example_path("fleet-deadlock").read_text()
    fleet = folder / "fleet.json"
    fleet.write_text(raw.replace('"elm"', f'"{NAME}"').replace('"east"', f'"{NAME}"'))
    return {
        "solve": solved(cluster),
        "evict": evicted(cluster),
        "drain": drained(cluster, f"{NAME}-1"),
        "simulate": simulated(cluster),
        "explain": explained(cluster, [f"{NAME}/{NAME}-5"]),
        "fleet": placed(str(fleet)),
    }


def renamed(value: Any) -> Any:
    """The same view with another name: what the loader lets through is not its matter."""
    if isinstance(value, str):
        return value.replace(NAME, HOSTILE)
    if isinstance(value, tuple | list):
        return type(value)(renamed(each) for each in value)
    if isinstance(value, Mapping):
        return {key: renamed(each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: renamed(getattr(value, f.name)) for f in fields(value)})
    return value


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    return harmless_pages(tmp_path_factory.mktemp("fleet"))


COMMANDS = ["solve", "evict", "drain", "simulate", "explain", "fleet"]


@pytest.mark.parametrize("command", COMMANDS)
def test_names_and_labels_of_the_input_never_become_markup(
    harmless: dict[str, Page], command: str
) -> None:
    found, expected = read(renamed(harmless[command])), read(harmless[command])
    assert found.tags == expected.tags
    assert [name for name, _ in found.attributes] == [name for name, _ in expected.attributes]
    assert found.scripts[-1] == expected.scripts[-1]


@pytest.mark.parametrize("command", COMMANDS)
def test_names_are_shown_as_they_are_but_for_characters_that_act(
    harmless: dict[str, Page], command: str
) -> None:
    found = read(renamed(harmless[command]))
    told = "".join(found.texts)
    known = json.dumps(json.loads(found.scripts[-2]), ensure_ascii=False)
    for part in VISIBLE:
        assert part in told, part
        assert json.dumps(part, ensure_ascii=False)[1:-1] in known, part


@pytest.mark.parametrize("name", ["zone-outage", "docs-two-constraints"])
def test_the_same_input_gives_the_same_bytes(name: str) -> None:
    assert render(solved(example(name))) == render(solved(example(name)))


def test_only_the_script_of_the_page_may_run_and_nothing_may_be_fetched() -> None:
    page = solved(example("docs-one-constraint"))
    html, script = render(page).decode(), read(page).scripts[-1]
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in html
    assert not re.search(r'(?:src|href)=(?!"#)', html)
    assert "url(" not in html
    assert "http" not in html.replace("http-equiv", "")


def test_a_cluster_of_5000_nodes_stays_below_15_megabytes_and_a_browser_can_hold_it() -> None:
    cluster = large_cluster()
    html = render(solve_page(cluster, large_plan(cluster)))
    assert len(html) < 5 * MB
    assert html.count(b"<rect") == 2 * NODES, "a cell per node, now and after"
    assert html.count(b"<") < 20_000


def test_every_control_and_picture_has_a_name_for_those_who_hear_the_page() -> None:
    html = render(solved(example("zone-outage"))).decode()
    unlabelled = re.sub(r"<label>.*?</label>|<i [^>]*>.*?</i>", "", html, flags=re.DOTALL)
    for tag in re.findall(r"<(?:button|input|select|svg)[^>]*>(?:[^<]*)", unlabelled):
        assert "aria-label" in tag or re.search(r">\s*\S", tag), tag
    assert html.count("<h1>") == 1
    assert '<html lang="en">' in html
