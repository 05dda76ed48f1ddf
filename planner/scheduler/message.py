"""The text of kube-scheduler's FailedScheduling event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from planner.scheduler.framework.plugin import Status


def fit_error(
    nodes: int,
    rejection: Status | None,
    verdicts: Mapping[int, Status],
    elsewhere: Status | None,
) -> str:
    """`0/N nodes are available: ` and the sorted histogram of reasons.

    Each node counts once per reason; nodes that were not looked at count with `elsewhere`.
    """
    return fit_error_of(nodes, rejection, Counter(verdicts.values()), elsewhere)


def fit_error_of(
    nodes: int,
    rejection: Status | None,
    counts: Mapping[Status, int],
    elsewhere: Status | None,
) -> str:
    """The same from how many nodes have which verdict."""
    head = f"0/{nodes} nodes are available:"
    if rejection is not None:
        return f"{head} {', '.join(rejection.reasons)}."
    reasons: Counter[str] = Counter()
    for status, count in counts.items():
        for reason in status.reasons:
            reasons[reason] += count
    others = nodes - sum(counts.values())
    if elsewhere is not None and others:
        for reason in elsewhere.reasons:
            reasons[reason] += others
    histogram = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f"{head} {', '.join(histogram)}." if histogram else head
