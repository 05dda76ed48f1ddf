"""Tables fit the terminal: long names are shortened there, and whole in `-o wide` and in pipes."""

from __future__ import annotations

import pytest

from planner.cli.app import main
from planner.report.tables import (
    drain_table,
    evict_table,
    explain_table,
    inspect_table,
    plan_table,
    simulation_table,
    whatif_table,
)
from planner.report.text.blocks import WIDTH, Block, plain_text
from planner_models.base import Document
from tests.report.hostile import documents_named

LONG = f"-{'x' * 120}-x4v7p"
TEXTS = {
    "Inspection": inspect_table,
    "Diagnosis": explain_table,
    "Simulation": simulation_table,
    "Plan": plan_table,
    "EvictionPlan": evict_table,
    "DrainPlan": drain_table,
    "WhatIf": whatif_table,
}


def blocks(document: Document, *, wide: bool) -> list[Block]:
    texts = TEXTS[type(document).__name__]
    return list(texts.blocks(document, wide=wide))


@pytest.mark.parametrize("document", documents_named(LONG), ids=lambda each: type(each).__name__)
def test_long_names_are_shortened_in_the_middle(document: Document) -> None:
    found = blocks(document, wide=False)
    text = "".join(f"{line}\n" for block in found for line in block.lines(fit=True))
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert "..." in text
    assert LONG in plain_text(blocks(document, wide=True))
    assert LONG in plain_text(found)


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "--example", "docs-two-constraints"),
        ("explain", "-f", "tests/data/shop.yaml"),
        ("simulate", "-f", "tests/data/shop.yaml"),
        ("simulate", "--example", "rack-row-grid"),
        ("solve", "-f", "tests/data/shop.yaml", "--relax"),
        ("solve", "--example", "rack-row-grid", "--rebalance"),
        ("fleet", "--example", "fleet-groups"),
        ("fleet", "--example", "fleet-two-constraints"),
        ("inspect", "--example", "rack-row-grid"),
    ],
    ids=" ".join,
)
def test_a_pipe_gets_names_whole(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    main(arguments)
    out = capsys.readouterr().out
    assert out
    assert "..." not in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []
