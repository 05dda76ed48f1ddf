"""Results as Markdown, read back by a parser: nothing of the input may be markup."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import planner
from planner.cli.app import main
from planner.report.markdown import escape
from planner.report.markdown.documents import parts_of
from planner.report.markdown.mermaid import MOST_NODES, cluster_graph, small_enough
from planner.report.markdown.render import Fold, Heading, markdown_text
from planner.report.text.blocks import Table
from planner.report.text.cluster_view import placed, view_of
from planner_models.base import Document
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from tests.objects import cluster_of, node, pod
from tests.report.hostile import HOSTILE, hostile_cluster, hostile_documents

TESTS = Path(__file__).resolve().parent.parent
SNAPSHOTS = TESTS / "snapshots"
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MARKUP = frozenset(
    {"html_inline", "link_open", "image", "em_open", "strong_open", "s_open", "code_inline"}
)
LABEL = re.compile(r'\["[A-Za-z0-9 ./_#;-]*"\](?::::(?:pod|marked|empty))?')


def inline(text: str) -> Counter[str]:
    """The kinds of tokens in a text, blocks and what is inside of them."""
    tokens = PARSER.parse(text)
    return Counter(
        token.type for outer in tokens for token in (outer, *(outer.children or ())) if token.type
    )


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main([*arguments, "-o", "markdown"])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "--example", "zone-outage"),
        ("explain", "--example", "docs-conflicting-constraints"),
        ("fleet", "--example", "fleet-deadlock"),
        ("simulate", "--example", "docs-one-constraint"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_text_is_as_agreed(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    expected = SNAPSHOTS / f"{arguments[0]}-{arguments[-1]}.md"
    assert run(capsys, *arguments) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "kind"), [("zone-outage-rebalance", Plan), ("evict-zone-outage", EvictionPlan)]
)
def test_the_text_of_a_plan_is_as_agreed(file: str, kind: type[Document]) -> None:
    """Of plans as they once were: which of several equals is found is not agreed."""
    plan = kind.model_validate_json((TESTS / "data" / "plans" / f"{file}.json").read_text())
    text = markdown_text(parts_of(plan, planner.load(example="zone-outage").snapshot, {}))
    assert text == (SNAPSHOTS / f"markdown-{file}.md").read_text(encoding="utf-8")


def test_details_open_on_request_and_may_hold_tables() -> None:
    table = Table(("POD", "NODE"), (("web-1", "a1"),))
    text = markdown_text([Heading("It fits."), Fold("12 <steps>", (table,))])
    assert text == (
        "### It fits.\n\n<details><summary>12 &lt;steps&gt;</summary>\n\n"
        "| POD | NODE |\n| --- | --- |\n| web-1 | a1 |\n\n</details>\n"
    )
    assert inline(text)["table_open"] == 1


def test_a_move_is_drawn_before_and_after() -> None:
    cluster = cluster_of(node("a1", "eu-1a"), node("b1", "eu-1b"), pod("web", "a1"))
    before = cluster_graph(view_of(cluster), {"default/web"})
    after = cluster_graph(view_of(placed(cluster, {"default/web": "b1"})), {"default/web"})
    assert before.splitlines()[8:15] == [
        '  subgraph z2["eu-1a"]',
        "    direction TB",
        '    subgraph n2["a1"]',
        "      direction LR",
        '      p1["web"]:::marked',
        "    end",
        "  end",
    ]
    assert '      e2["no pods"]:::empty' in after.splitlines()


def test_a_cluster_that_nobody_could_read_is_not_drawn() -> None:
    nodes = [node(f"n{i}") for i in range(MOST_NODES + 1)]
    assert small_enough(view_of(cluster_of(*nodes[:-1])))
    assert not small_enough(view_of(cluster_of(*nodes)))


# Hostile names


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_one_paragraph_of_text(name: str) -> None:
    found = inline(escape.text(name))
    assert not MARKUP & set(found)
    assert found["paragraph_open"] == found["inline"] == 1
    assert set(found) <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_cell_stays_one_cell(name: str) -> None:
    found = inline(markdown_text([Table((name, "b"), ((name, name),))]))
    assert (found["th_open"], found["td_open"]) == (2, 2)
    assert not MARKUP & set(found)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_code_span_stays_one(name: str) -> None:
    found = inline(escape.code(name))
    assert found["code_inline"] == 1
    assert found["text"] + found["text_special"] <= found["inline"]
    assert found["link_open"] == found["html_inline"] == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_label_is_no_mermaid(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9 ./_#;-]*", escape.mermaid(name))


def test_nobody_is_called_by_name() -> None:
    assert "@everyone" not in escape.text("@everyone")
    assert "#1" not in escape.text("#1")


@pytest.mark.parametrize("document", hostile_documents(), ids=lambda each: type(each).__name__)
def test_hostile_names_are_only_text(document: Document) -> None:
    text = markdown_text(parts_of(document, hostile_cluster(), {}))
    found = inline(text)
    assert found["heading_open"] == 1
    assert not MARKUP - {"code_inline"} & set(found)
    html = [token.content.strip() for token in PARSER.parse(text) if token.type == "html_block"]
    assert all(
        re.fullmatch(r"<details><summary>[^<>]*</summary>|</details>", each) for each in html
    )
    graphs = [token.content for token in PARSER.parse(text) if token.type == "fence"]
    assert all("::" not in LABEL.sub("", graph) for graph in graphs)
