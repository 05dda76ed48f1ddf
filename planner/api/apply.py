"""`planner.apply_plan`: a plan carried out in its cluster. Nothing else of planner writes there."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner.api.arguments import require_at_least
from planner.api.live import Live, seconds_of
from planner.errors import UsageError
from planner.words import count_of
from planner_models import apply_report
from planner_models.apply_report import ApplyEntry, ApplyStart
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.api.profiles import Configuration
    from planner.apply.clock import Clock
    from planner.apply.refusals import Reviewed
    from planner.report.emit import Texts

WAVE_TIMEOUT = "10m"
SLICE = 0.2
"""Seconds after which Ctrl-C is noticed while it waits."""


class ApplyReport(apply_report.ApplyReport, Answer):
    """How far a plan was carried out; `to_dataframe` has a row for each of its pods."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("wave", "pod", "node", "outcome", "landed_on", "as_promised", "seconds"),
    )

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import apply_table

        return apply_table

    def _rows(self) -> Sequence[Document]:
        return self.evictions

    def _short(self) -> str:
        return f"{self.result}, {count_of(self.evicted, 'pod')} evicted"


def apply_plan(  # noqa: PLR0913 - options are keywords
    plan: str | os.PathLike[str],
    *,
    confirm: Callable[[ApplyStart], bool],
    live: Live | None = None,
    wave: int | None = None,
    wave_timeout: str | float = WAVE_TIMEOUT,
    replan: bool = False,
    dry_run: bool = False,
    undo: bool = False,
    journal: str | os.PathLike[str] | None = None,
    lock: bool = True,
    lock_holder: str | None = None,
    events: bool = True,
    scheduler: Configuration = None,
    ignored_plugins: Sequence[str] = (),
    progress: Callable[[ApplyEntry], object] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    clock: Clock | None = None,
) -> ApplyReport:
    """Carry the plan in a file out in the running cluster that it was made for.

    An EvictionPlan or a DrainPlan, or a Plan of `solve(rebalance=True)` that cordons can steer.
    `confirm` is shown what will happen and says whether it may. `wave` is the last one to carry
    out; a wave that takes longer than `wave_timeout` ends it. With `replan` a plan that no longer
    holds is made anew, within the evictions that were approved. `dry_run` only asks. `undo` lifts
    the cordons of the plan. `journal` is by default the plan's name with `.journal`; the same call
    again goes on where it ended. Without `lock` nobody else is kept off; `lock_holder` holds it
    already. With `events` the owners of pods are told of evictions, if that is allowed. `progress`
    hears of each step, `interrupted` is asked whether to end.
    """
    from planner.api.profiles import default_scheduler
    from planner.apply.clock import Clock
    from planner.apply.door import Asked, Hooks, carry_out_plan, connect_to_write, undo_plan
    from planner.report.emit import Origin

    require_at_least("wave", wave, 1)
    file = os.fspath(plan)
    with closing(connect_to_write((live or Live()).wanted())) as api:
        document = read_plan(file)
        asked = Asked(
            file,
            Path(f"{file}.journal" if journal is None else journal),
            last_wave=wave,
            wave_timeout=seconds_of(wave_timeout, "wave_timeout") or float("inf"),
            dry_run=dry_run,
            replan=replan,
            lock=lock,
            lock_holder=lock_holder,
            events=events,
            renews=clock is None,
        )
        hooks = Hooks(
            profile_of=lambda found: default_scheduler(found, scheduler, ignored_plugins),
            begin=confirm,
            listener=progress or (lambda _: None),
            interrupted=interrupted,
            clock=clock or Clock(sleep=lambda seconds: _sleep(seconds, interrupted)),
        )
        api.ready()
        carry_out = undo_plan if undo else carry_out_plan
        report = carry_out(api, document, asked, hooks)
    return ApplyReport.of(report, Origin("planner apply", (file,)))


def _sleep(seconds: float, interrupted: Callable[[], bool]) -> None:
    """Until then, or until somebody wants it to end; a signal alone does not end a sleep."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not interrupted():
        time.sleep(min(left, SLICE))


def read_plan(file: str) -> Reviewed:
    """The document in a file, of one of the kinds that can be carried out."""
    from pydantic import ValidationError
    from pydantic_core import from_json

    from planner.sources.errors import SourceError
    from planner_models.drain import DrainPlan
    from planner_models.evictions import EvictionPlan
    from planner_models.plan import Plan

    kinds: dict[str, type[EvictionPlan | DrainPlan | Plan]] = {
        "EvictionPlan": EvictionPlan,
        "DrainPlan": DrainPlan,
        "Plan": Plan,
    }
    try:
        text = Path(file).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"can't read {file}: {reason}") from error
    try:
        data = from_json(text)
    except ValueError as error:
        raise SourceError(f"{file} is no JSON", detail=str(error)) from error
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind not in kinds:
        raise UsageError(
            f"{file} is no plan of planner evict, drain or solve (kind: {kind or 'none'})",
            help="planner evict -o json > plan.json writes one",
        )
    try:
        return kinds[kind].model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise SourceError(
            f"{file} is no {kind} that this version of planner has written",
            field=field,
            detail=str(first["msg"]),
        ) from error
