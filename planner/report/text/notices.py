"""Notices: what was odd in the input, below every result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planner.report.text.blocks import Block, Paragraph
from planner.report.text.wording import name_some
from planner_models.notice import Notice


def notice_blocks(notices: Iterable[Notice], *, wide: bool) -> Iterator[Block]:
    """Each with the objects that it is about, some of them or all."""
    for notice in notices:
        yield Paragraph(f"notice: {notice.text}", "yellow", indent=2)
        if notice.objects:
            objects = ", ".join(notice.objects) if wide else name_some(notice.objects)
            yield Paragraph(f"  {objects}", "dim", indent=2)
