from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner.examples import example_path
from planner.report.text.blocks import Paragraph, plain_text
from planner.report.text.commands import Given, about, command, pasteable


def shown(text: str, given: Given) -> str:
    return plain_text(pasteable([Paragraph(text)], given))


def test_a_command_reads_the_same_input() -> None:
    told = shown(f"Next: {command('solve', '--rebalance')}.", Given(("-f", "a.json")))
    assert told == "Next: planner solve -f a.json --rebalance.\n"


def test_a_command_without_targets_is_about_the_same_pods() -> None:
    told = shown(f"Next: {command('evict')}.", Given((), ("-n", "shop")))
    assert told == "Next: planner evict -n shop.\n"


def test_a_command_with_targets_keeps_its_own() -> None:
    given = Given(("--example", "x"), ("deploy/api", "-n", "shop"))
    told = shown(f"For one of them: {about('explain', 'prod', 'deploy/web')}", given)
    assert told == "For one of them: planner explain --example x -n prod deploy/web\n"


def test_the_default_namespace_needs_no_word() -> None:
    assert shown(about("explain", "default", "pod/x"), Given()) == "planner explain pod/x\n"


def test_commands_stay_on_one_line() -> None:
    given = Given(("-f", "a-folder-with-a-long-name/and-a-file-with-a-long-name-too.json"))
    told = shown(f"Why it waits is told by {about('explain', 'prod', 'deploy/web')}", given)
    assert told.splitlines()[-1].startswith("planner explain -f a-folder")
    assert told.splitlines()[-1].endswith("-n prod deploy/web")


def test_prose_about_planner_stays() -> None:
    assert shown("what planner evict does", Given(("-f", "x"))) == "what planner evict does\n"


@pytest.mark.parametrize("name", ["c.json", "my cluster.json"])
def test_files_are_quoted_as_a_shell_needs_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(Path(example_path("docs-conflicting-constraints")).read_bytes())
    text = planner.load(path).simulate().to_text()
    quoted = f"'{path}'" if " " in name else str(path)
    assert text.endswith(f"planner explain -f {quoted} pod/mypod\n")


def test_markdown_has_the_same_commands() -> None:
    cluster = planner.load(example="docs-conflicting-constraints")
    wanted = "planner explain --example docs-conflicting-constraints pod/mypod"
    assert wanted in cluster.solve().to_markdown()
    assert wanted in cluster.simulate().to_markdown()


def test_pages_have_the_same_commands() -> None:
    cluster = planner.load(example="docs-conflicting-constraints")
    wanted = "planner explain --example docs-conflicting-constraints pod/mypod"
    assert wanted in cluster.solve().to_html()
    assert wanted in cluster.simulate().to_html()
    assert (
        "planner evict --example zone-outage"
        in planner.load(example="zone-outage").inspect().to_html()
    )
