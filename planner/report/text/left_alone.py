"""Pods that may not be evicted, with the reason, said once for all that share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.text.blocks import Block, Paragraph
from planner.report.text.wording import name_some
from planner_models.plan import ProtectedCount, ProtectedPod


def left_alone_blocks(
    protected: Sequence[ProtectedPod],
    left_alone: Sequence[ProtectedCount],
    *,
    waiting: int,
    wide: bool,
) -> Iterator[Block]:
    """`Not evictable: prod/a, prod/b (it has local storage).`, pods that still break a rule.

    All others are told with `wide`, or where pods have no node: these may be in their way.
    """
    by_reason: dict[str, list[str]] = {}
    for pod in protected:
        by_reason.setdefault(pod.reason, []).append(pod.pod)
    if by_reason:
        parts = [
            f"{', '.join(pods) if wide else name_some(pods)} ({reason})"
            for reason, pods in by_reason.items()
        ]
        text = "; ".join(parts) if wide or len(parts) == 1 else name_some(parts)
        yield Paragraph(f"Not evictable: {text}.", "yellow")
    others = [each for each in left_alone if wide or each.reason not in by_reason]
    if others and (wide or waiting):
        alone = [_of_workloads(each, wide=wide) for each in others]
        text = "; ".join(alone) if wide else name_some(alone)
        yield Paragraph(f"Left alone in any case: {text}.", "dim")


def _of_workloads(each: ProtectedCount, *, wide: bool) -> str:
    names = ", ".join(each.workloads) if wide else name_some(each.workloads)
    return f"{each.pods} of {names} ({each.reason})"
