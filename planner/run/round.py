"""One round: look, plan in a child process, and carry the plan out in another, if all allow it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from planner.apply.events import Regarded, note_of
from planner.errors import PlannerError
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED
from planner.run.applied import Applied, applied
from planner.run.child import Tick
from planner.run.context import Tools
from planner.run.decide import (
    after_miss,
    left_alone,
    limit_words,
    paused,
    refusal,
    suspension_words,
)
from planner.run.plan_summary import PlanSummary, plan_summary
from planner.run.policy import ReadPolicy
from planner.sources.live.api import ApiError, UnreachableError
from planner.words import count_of
from planner_models.run_state import RoundRecord, RoundResult

ANSWERS = (DONE, NEGATIVE, UNDECIDED)
"""Exit codes with a document on stdout."""


@dataclass(frozen=True)
class RoundEnd:
    """How a round ended, in a line, with what is known of the plan."""

    result: RoundResult
    text: str
    plan: PlanSummary | None = None
    evicted: int | None = None

    @property
    def repaired(self) -> bool:
        """Whether nothing is left to do, as far as the plan tells."""
        refused = self.result == "nothing" and self.plan is not None and self.plan.evictions
        return self.plan is None or not (self.plan.after_excess or refused)


class Round:
    """A round under one policy; `tick` says when to stop."""

    def __init__(self, tools: Tools, read: ReadPolicy, number: int, tick: Tick) -> None:
        self._tools = tools
        self._read = read
        self._policy = read.policy
        self._number = number
        self._tick = tick

    def run(self) -> RoundEnd:
        """The whole round; what goes wrong is how it ends, and never an error."""
        try:
            return self._run()
        except (ApiError, UnreachableError, PlannerError) as error:
            return RoundEnd("failed", f"failed: {error}")

    def _run(self) -> RoundEnd:
        tools = self._tools
        facts = tools.look.facts(tools.look.waiting())
        why = paused(self._policy, facts, tools.now)
        if why is None and self._policy.mode == "Apply":
            other = tools.look.descheduler(tools.clock.now())
            why = None if other is None else f"the descheduler is active ({other})"
        if why is not None:
            return RoundEnd("paused", f"paused: {why}")
        with tempfile.TemporaryDirectory(prefix="planner-round-") as folder:
            return self._planned(Path(folder))

    def _planned(self, folder: Path) -> RoundEnd:
        policy = folder / "policy.yaml"
        policy.write_bytes(self._read.text)
        ended = self._tools.child(
            ("evict", "--run-policy", str(policy), *self._words(), "-o", "json"),
            self._tools.settings.round_timeout,
            self._tick,
        )
        if ended.stopped is not None or ended.code not in ANSWERS:
            return RoundEnd("failed", f"failed: no plan: {ended.why}")
        try:
            plan = plan_summary(ended.output)
        except ValueError as error:
            return RoundEnd("failed", f"failed: the plan can't be read: {error}")
        self._tools.warn(ended.warnings, self._number)
        self._measure(plan, ended.seconds)
        self._tools.log.say(
            f"read {count_of(plan.nodes, 'node')}, {count_of(plan.pods, 'pod')} "
            f"({plan.read_seconds:.1f} s); excess {plan.before_excess}, "
            f"{plan.before_pending} waiting",
            number=self._number,
        )
        if not plan.evictions:
            left = f"excess {plan.after_excess} stays" if plan.after_excess else "nothing to do"
            return RoundEnd("nothing", left, plan)
        why_not = refusal(plan, self._policy.goals)
        if why_not is not None:
            return RoundEnd("nothing", f"nothing is evicted: {why_not}", plan)
        if self._policy.mode == "DryRun":
            self._count(plan, "dry_run", [each.namespace for each in plan.evictions])
            return RoundEnd("done", f"would evict {self._described(plan)}", plan)
        return self._carried_out(folder, ended.output, plan)

    def _words(self) -> Iterator[str]:
        """The policy's own words, the workloads to leave alone, and the cluster."""
        tools, settings = self._tools, self._tools.settings
        overrides = settings.overrides
        yield from (
            word for name in overrides.ignored_strategies for word in ("--ignore-strategy", name)
        )
        if overrides.cordons:
            yield "--cordons"
        own = tools.look.own_workload(settings.namespace, settings.pod)
        missed = left_alone(tools.state, self._read.digest, tools.now)
        for workload in (*(() if own is None else (own,)), *(each.workload for each in missed)):
            yield from ("--leave-alone", workload)
        yield from ("--time-limit", f"{settings.time_limit:g}", *settings.planning)
        yield from settings.live

    def _described(self, plan: PlanSummary) -> str:
        """`10 of 12 (limit perRound 10) in 4 waves; 20 of 20 seeds end well`."""
        number = len(plan.evictions)
        of = ""
        if plan.without_limits is not None and plan.without_limits > number:
            of = f" of {plan.without_limits} ({limit_words(self._policy, number)})"
        return (
            f"{number}{of} in {count_of(len(plan.waves), 'wave')}; "
            f"{plan.seeds_well} of {plan.seeds} seeds end well"
        )

    # Carrying it out

    def _carried_out(self, folder: Path, text: bytes, plan: PlanSummary) -> RoundEnd:
        tools = self._tools
        why = self._tick()
        if why is not None:
            return RoundEnd("stopped", f"stopped before anything was evicted: {why}", plan, 0)
        tools.log.say(f"evicts {self._described(plan)}", number=self._number)
        file = folder / "plan.json"
        file.write_bytes(text)
        if self._policy.cordons:  # who is killed on the way can't lift them
            tools.state = tools.state.model_copy(update={"applying": plan.plan_id or None})
            tools.store.write(tools.state)
        ended = tools.child(
            ("apply", str(file), "--yes", "--no-events", "-o", "json", *self._applying()),
            tools.settings.round_timeout,
            self._tick,
        )
        if ended.code >= 0:
            tools.state = tools.state.model_copy(update={"applying": None})
        tools.metrics.round_seconds.labels("apply").observe(ended.seconds)
        try:
            report = applied(ended.output)
        except ValueError:
            self._count(plan, "failed", [plan.evictions[0].namespace])
            return RoundEnd("failed", f"failed: the plan was not carried out: {ended.why}", plan)
        self._tell(plan, report)
        missed = self._remember(plan, report)
        evicted = [each.namespace for each, _ in report.evicted_of(plan.evictions)]
        self._count(plan, "evicted", evicted)
        for outcome, number in report.landings().items():
            tools.metrics.landings.labels(outcome).inc(number)
        return self._ended(plan, report, missed, ended.stopped)

    def _applying(self) -> tuple[str, ...]:
        settings = self._tools.settings
        return (*settings.planning, *(word for word in settings.live if word != "--live"))

    def _ended(
        self, plan: PlanSummary, report: Applied, missed: list[str], stopped: str | None
    ) -> RoundEnd:
        number = report.evicted
        if report.result == "done":
            text = f"evicted {number} of {len(plan.evictions)}, excess {plan.before_excess} -> "
            text = f"{text}{plan.after_excess}"
            elsewhere = report.landings()["elsewhere"]
            more = f"; {elsewhere} on other nodes than expected" if elsewhere else ""
            return RoundEnd("done", f"{text}{more}", plan, number)
        told = "; ".join(missed)
        why = stopped or told or (report.reason[0] if report.reason else report.result)
        return RoundEnd("stopped", f"stopped: {why}", plan, number)

    def _remember(self, plan: PlanSummary, report: Applied) -> list[str]:
        """What did not land as promised is left alone from now on, and its owners are told."""
        tools, said = self._tools, []
        for workload, how in report.missed(plan.evictions).items():
            tools.state, entry = after_miss(
                tools.state, workload, self._read.digest, self._policy.cooldown, tools.now
            )
            words = suspension_words(entry, self._policy.cooldown)
            landed = "landed elsewhere" if how.startswith("is on") else "waits for a node"
            said.append(f"{workload.partition('/')[2]} {landed}; {words}")
            regarded = tools.look.workload(workload)
            if regarded is not None:
                tools.tell(regarded, "NotLanded", note_of(f"a replacement {how}"))
                tools.tell(regarded, "WorkloadSuspended", note_of(words))
        return said

    def _tell(self, plan: PlanSummary, report: Applied) -> None:
        """On the pod and on its workload: why it went, and where it is expected."""
        known: dict[str, Regarded | None] = {}
        for each, _ in report.evicted_of(plan.evictions):
            expected = " ".join(each.expected_nodes) or "no node yet"
            note = note_of(
                f"{each.name} was evicted from {each.node}: {each.reason}; expected on {expected}",
                f" (plan {report.plan_id})",
            )
            pod = Regarded("Pod", "v1", each.namespace, each.name, each.uid)
            self._tools.tell(pod, "EvictedByPlanner", note)
            key = each.workload_key
            if key not in known:
                known[key] = self._tools.look.workload(key)
            workload = known[key]
            if workload is not None:
                self._tools.tell(workload, "EvictedByPlanner", note)

    # Numbers

    def _measure(self, plan: PlanSummary, seconds: float) -> None:
        metrics = self._tools.metrics
        metrics.round_seconds.labels("read").observe(plan.read_seconds)
        metrics.round_seconds.labels("plan").observe(max(0.0, seconds - plan.read_seconds))
        metrics.set_each("objects", {"nodes": plan.nodes, "pods": plan.pods})
        metrics.set_each("not_read", dict.fromkeys(plan.not_read, 1))
        metrics.set_each("excess", plan.excess_by_rule)
        metrics.set_each("violations", plan.violations_by_rule)
        metrics.set_each("planned", plan.planned_by_rule)

    def _count(self, plan: PlanSummary, result: str, namespaces: list[str]) -> None:
        goal = ",".join(self._policy.goals)
        for namespace in namespaces:
            self._tools.metrics.evictions.labels(result, goal, namespace).inc()

    def record(self, end: RoundEnd, started: float) -> RoundRecord:
        """What is remembered of it."""
        plan = end.plan
        return RoundRecord(
            number=self._number,
            started=datetime.fromtimestamp(int(started), UTC),
            mode=self._policy.mode,
            result=end.result,
            text=end.text,
            excess=None if plan is None else plan.before_excess,
            pending=None if plan is None else plan.before_pending,
            planned=None if plan is None else len(plan.evictions),
            evicted=end.evicted,
        )
