"""`planner apply` as a text, once it is over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.report.text.apply_text import end_text
from planner.report.text.blocks import Block, Paragraph
from planner_models.apply_report import ApplyReport


def blocks(document: ApplyReport, *, wide: bool) -> Sequence[Block]:
    """How it ended."""
    lines = end_text(document, "plan.json").splitlines()
    return [Paragraph(line) for line in lines]


def names(document: ApplyReport) -> Iterable[str]:
    """The pods that were evicted."""
    return [each.pod for each in document.evictions if each.outcome == "evicted"]
