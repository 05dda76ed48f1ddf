"""Pods that a plan leaves alone, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.html.names import Index
from planner.report.html.view import Row, Section, TableSection
from planner_models.plan import ProtectedCount, ProtectedPod


def not_evictable(
    protected: Sequence[ProtectedPod], left_alone: Sequence[ProtectedCount], index: Index
) -> Iterator[Section]:
    """Those that still break a rule one by one, all others by their reason."""
    if protected:
        rows = (
            index.row((index.pod(pod.pod), pod.node, pod.reason), pod.pod, [pod.node])
            for pod in protected
        )
        yield TableSection("Not evictable", "", ("Pod", "Node", "Why"), tuple(rows))
    if left_alone:
        reasons = (
            Row((str(each.pods), ", ".join(each.workloads), each.reason)) for each in left_alone
        )
        header = ("Pods", "Workloads", "Why")
        yield TableSection("Left alone in any case", "", header, tuple(reasons), frozenset({0}))
