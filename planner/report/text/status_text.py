"""A RunStatus in a few sentences."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from planner.words import count_of, duration, named_or_counted
from planner_models.run_state import RoundRecord, RunStatus

WIDTH = 92


def status_text(status: RunStatus) -> str:
    """Who runs, how the last round went, and what is left alone."""
    return textwrap.fill(" ".join(_sentences(status)), WIDTH, break_on_hyphens=False) + "\n"


def _sentences(status: RunStatus) -> Iterator[str]:
    state = status.state
    last = state.rounds[-1] if state.rounds else None
    where = f"in {status.namespace} ({state.mode})"
    if status.leader is None:
        yield f"planner does not run {where}: nobody holds its Lease{_since(status)}."
        if last is not None:
            yield f"Its last round was {_ago(status, last)}: {_last(last)}."
    else:
        told = "no round yet" if last is None else f"last round {_ago(status, last)}: {_last(last)}"
        yield f"planner runs {where}, leader {status.leader}, {told}."
    failed = sum(each.result == "failed" for each in state.rounds)
    suspended = [each.workload for each in status.suspended]
    yield (
        f"{failed} of the last {count_of(len(state.rounds), 'round')} failed; "
        + (
            f"left alone: {named_or_counted(suspended, 'workload')}."
            if suspended
            else "no workload is suspended."
        )
    )
    if state.policy_error is not None:
        yield f"The policy is not valid, the last good one counts: {state.policy_error}."


def _since(status: RunStatus) -> str:
    if status.renewed is None:
        return ""
    return f", which was renewed {duration(int((status.at - status.renewed).total_seconds()))} ago"


def _ago(status: RunStatus, last: RoundRecord) -> str:
    return f"{duration(max(0, int((status.at - last.started).total_seconds())))} ago"


def _last(last: RoundRecord) -> str:
    if last.planned is None or last.result not in ("done", "stopped"):
        return last.text
    what = (
        f"would evict {last.planned}"
        if last.mode == "DryRun"
        else f"evicted {last.evicted or 0} of {last.planned}"
    )
    return f"excess {last.excess}, {what}"
