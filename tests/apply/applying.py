"""Plans made for and carried out in a world behind the fake API server."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from planner.apply.door import Asked, Hooks, carry_out_plan
from planner.apply.refusals import Reviewed
from planner.cluster import build_cluster
from planner.disruption.movability import MovePolicy
from planner.documents.drain_plan import drain_plan
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan_id import fingerprint, plan_id
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.evictions.protection import Protection
from planner.evictions.suggestion import EvictOptions
from planner.scheduler.profile import default_profile
from planner.sources.live.snapshot import read_snapshot
from planner_models.apply_report import ApplyEntry, ApplyReport, ApplyStart
from planner_models.drain import DrainPlan
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from tests.apply.world_api import InProcess, WorldApi

POLICY = MovePolicy(jobs=True)
D = TypeVar("D", EvictionPlan, DrainPlan, Plan)


def plan_for(api: WorldApi, *nodes: str, seeds: int | None = None) -> EvictionPlan:
    """What `planner evict -o json` writes for the cluster as it is; nodes are to be emptied."""
    read = read_snapshot(InProcess(api), sleep=api.sleep)
    cluster = build_cluster(read.inventory)
    options = EvictOptions(
        nodes=tuple(cluster.node_index[name] for name in nodes),
        protection=Protection(POLICY),
        seeds=seeds,
        time_limit=5.0,
    )
    found = make_eviction_plan(cluster, options, default_profile())
    state = {"source": _moment(read.source, api), "state": fingerprint(cluster)}
    return identified(found.model_copy(update=state))


def drain_for(api: WorldApi, *nodes: str) -> DrainPlan:
    """What `planner drain -o json` writes."""
    read = read_snapshot(InProcess(api), sleep=api.sleep)
    cluster = build_cluster(read.inventory)
    options = DrainOptions(tuple(cluster.node_index[n] for n in nodes), seeds=4, time_limit=5.0)
    found = drain_plan(find_drain(cluster, options, default_profile()), helps=False, kubectl=False)
    state = {"source": _moment(read.source, api), "state": fingerprint(cluster)}
    return identified(found.model_copy(update=state))


def _moment(source: Any, api: WorldApi) -> Any:
    return source.model_copy(update={"read_at": datetime.fromtimestamp(api.now, UTC)})


def identified(document: D) -> D:
    return document.model_copy(update={"plan_id": plan_id(document)})


@dataclass
class Applying:
    """Runs of one plan; what they tell is in `entries` and `starts`."""

    api: WorldApi
    document: Reviewed
    folder: Path
    entries: list[ApplyEntry] = field(default_factory=list)
    starts: list[ApplyStart] = field(default_factory=list)
    answer: bool = True

    @property
    def journal(self) -> Path:
        return self.folder / "plan.json.journal"

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def events(self, *names: str) -> list[ApplyEntry]:
        return [each for each in self.entries if each.event in names]

    def run(
        self,
        listener: Callable[[ApplyEntry], object] = lambda _: None,
        interrupted: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> ApplyReport:
        def begin(start: ApplyStart) -> bool:
            self.starts.append(start)
            return self.answer

        def heard(entry: ApplyEntry) -> None:
            self.entries.append(entry)
            listener(entry)

        journal: Path = options.pop("journal", self.journal)
        asked = Asked("plan.json", journal, **options)
        hooks = Hooks(
            profile_of=lambda _: default_profile(),
            begin=begin,
            listener=heard,
            interrupted=interrupted,
            clock=self.api.clock(),
        )
        return carry_out_plan(InProcess(self.api), self.document, asked, hooks)
