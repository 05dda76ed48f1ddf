"""The report of `planner check`: a list of findings that a reviewer can walk through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.report.html.map_view import Tone
from planner.report.html.view import Badge, Fact, Group, Names, Page, Section, TextSection
from planner.report.html.words import sentence, words
from planner.report.tables import check_table
from planner.report.text.blocks import plain_text
from planner.words import count_of
from planner_models.check import Check, CheckFinding, Severity

BADGES: Mapping[Severity, Badge] = {
    "error": Badge("Error", "bad"),
    "warning": Badge("Warning", "warn"),
    "note": Badge("Note", ""),
}


def check_page(document: Check) -> Page:
    """The counts, then every finding with its place, its reason and what helps."""
    text = plain_text(check_table.blocks(document, wide=True))
    return Page(
        command="planner check",
        badge=_worst(document),
        headline=sentence(f"{check_table.subject(document.checked)}."),
        lead=tuple(_lead(document)),
        facts=tuple(_facts(document)),
        sections=(
            *map(_group, document.findings),
            TextSection("The same as text", (text,), code=True, folded=True),
        ),
        names=Names((), ()),
        words=words("maxSkew", "domain", "budget"),
        notices=tuple(notice.text for notice in document.notices),
    )


def _worst(document: Check) -> Badge:
    summary = document.summary
    if summary.errors:
        return Badge("Errors", "bad")
    return Badge("Warnings", "warn") if summary.warnings else Badge("No errors", "good")


def _lead(document: Check) -> Iterator[str]:
    silenced = document.summary.silenced
    if silenced:
        yield f"{count_of(silenced, 'finding')} silenced by annotation or baseline."
    rules = [each.rule for each in document.skipped if not each.undecided]
    if rules:
        yield f"Not asked, because there are no nodes to try them on: {', '.join(rules)}."
    for each in document.skipped:
        if each.undecided:
            yield f"Undecided: {each.why} ({each.rule})."


def _facts(document: Check) -> Iterator[Fact]:
    summary = document.summary
    tones: tuple[tuple[int, str, Tone], ...] = (
        (summary.errors, "errors", "bad"),
        (summary.warnings, "warnings", "warn"),
        (summary.notes, "notes", ""),
    )
    for number, label, tone in tones:
        yield Fact(f"{number:,}", label, tone if number else "good")
    yield Fact(f"{document.checked.nodes:,}", "nodes to try on")


def _group(finding: CheckFinding) -> Group:
    return Group(sentence(finding.title), BADGES[finding.severity], (), tuple(_sections(finding)))


def _sections(finding: CheckFinding) -> Iterator[Section]:
    blocks = list(check_table.finding_blocks(finding))[1:]
    yield TextSection(finding.rule, (plain_text(blocks),), code=True)
