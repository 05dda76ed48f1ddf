from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli import app

COMMANDS = {
    "inspect": ["--example", "zone-outage"],
    "solve": ["--example", "docs-one-constraint"],
    "explain": ["--example", "docs-conflicting-constraints", "pod/mypod"],
    "simulate": ["--example", "docs-two-constraints"],
    "evict": ["--example", "zone-outage-before"],
    "fleet": ["--example", "fleet-walkthrough"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_is_written_beside_the_result(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.html"
    code = app.main([command, *COMMANDS[command], "--report", str(file)])
    with_report = capsys.readouterr().out
    assert app.main([command, *COMMANDS[command]]) == code
    assert capsys.readouterr().out == with_report
    text = file.read_text()
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>\n")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("name", ["plan.pdf", "plan", "plan.html.gz"])
def test_a_name_that_is_no_page_s_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    assert app.main(["inspect", "--example", "zone-outage", "--report", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"error: --report writes a page, and {path} is not the name of one\n" in shown.err
    assert not path.exists()


@pytest.mark.parametrize(
    ("file", "reason"),
    [("missing/report.html", "no such file or directory"), (".", "is a directory")],
)
def test_what_can_t_be_written_is_said_in_one_line_before_anything_is_read(
    file: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / file)
    assert app.main(["solve", "-f", "there-is-no-such-input.json", "--report", path]) == 1
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("", f"error: can't write {path}: {reason}\n")


def test_an_older_report_stays_when_the_new_one_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.html"
    file.write_text("older")
    assert app.main(["solve", "-f", "there-is-no-such-input.json", "--report", str(file)]) == 1
    assert file.read_text() == "older"
