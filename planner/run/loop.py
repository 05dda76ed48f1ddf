"""The loop of `planner run`: one leader, a round each period, and a look at who waits between."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from planner.apply.lease import RENEW, Holding, Lease, LockedError, LockLostError
from planner.errors import PlannerError
from planner.exit_codes import DONE, FAILURE, NEGATIVE
from planner.run.context import Tools
from planner.run.decide import left_alone, next_round
from planner.run.left_cordons import lift_cordons
from planner.run.log import Level
from planner.run.policy import PolicyFile
from planner.run.round import Round, RoundEnd
from planner.run.server import Health
from planner.run.state import with_round
from planner.run.waiting import Waiting
from planner.sources.live.api import ApiError, UnreachableError
from planner_models.run_state import RoundResult

LEASE = "planner-run"
"""Not the lock of `planner apply`: that is free while nothing is evicted."""
LOOK_EVERY = 60.0
"""Seconds between two looks at the pods that wait."""
TURN = 1.0
"""Seconds of a turn in which nothing is due."""

LEVELS: dict[RoundResult, Level] = {"failed": "error", "stopped": "warning"}


class Loop:
    """Rounds until `stopping`; `lease` makes the Lease anew for each try."""

    def __init__(
        self,
        tools: Tools,
        policy: PolicyFile,
        health: Health,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tools = tools
        self._policy = policy
        self._health = health
        self._stopping = stopping
        self._waiting = Waiting(tools)
        self._lease: Lease | None = None
        self._next_round = self._next_look = self._next_try = 0.0

    def run(self) -> int:
        """Until it is told to stop."""
        self._refuse_beside_descheduler()
        try:
            while not self._stopping():
                self._health.alive()
                if not self._turn():
                    self._tools.clock.sleep(TURN)
        finally:
            self._release()
        return DONE

    def once(self) -> int:
        """One round, for CronJobs; the exit code is that of `planner evict` and `planner apply`."""
        self._refuse_beside_descheduler()
        self._take()
        try:
            end = self._round()
            self._look()
        finally:
            self._release()
        if end.result == "failed":
            return FAILURE
        return NEGATIVE if end.result == "stopped" or not end.repaired else DONE

    def _refuse_beside_descheduler(self) -> None:
        """Two that evict for different reasons undo each other's work for ever."""
        if self._policy.current.policy.mode != "Apply":
            return
        tools = self._tools
        try:
            other = tools.look.descheduler(tools.clock.now())
        except (ApiError, UnreachableError) as error:
            raise PlannerError("can't look for a descheduler", detail=str(error)) from error
        if other is not None:
            raise PlannerError(
                f"the descheduler is active ({other})",
                help="two of them undo each other; scale it to 0, or keep mode: DryRun",
            )

    # Who leads

    def _take(self) -> None:
        """The Lease and the state that the last leader left; LockedError if somebody has it."""
        tools, settings = self._tools, self._tools.settings
        holder = f"{settings.pod}_{secrets.token_hex(4)}"
        lease = Lease(
            tools.writer, Holding(holder, "planner run"), tools.clock, settings.namespace, LEASE
        )
        lease.acquire()
        self._lease = lease
        tools.metrics.leader.set(1)
        try:
            tools.state = tools.store.read()
        except (ApiError, UnreachableError) as error:
            raise PlannerError("can't read planner-state", detail=str(error)) from error
        self._lift_left_cordons()
        policy = self._policy.current.policy
        what = (
            "dry run: nothing will be evicted"
            if policy.mode == "DryRun"
            else f"up to {policy.limits.per_round} evictions a round"
        )
        tools.log.say(f"{what} (mode: {policy.mode}); leader is {settings.pod}")
        for text in self._policy.current.unused:
            tools.log.say(text, level="warning")

    def _lift_left_cordons(self) -> None:
        """Those of a plan that the last leader was killed in."""
        tools = self._tools
        plan = tools.state.applying
        if plan is None:
            return
        try:
            nodes = lift_cordons(tools.writer, plan)
        except (ApiError, UnreachableError) as error:
            text = f"cordons of plan {plan} may be left: {error}"
            tools.log.say(text, level="error")
            return
        tools.state = tools.state.model_copy(update={"applying": None})
        if nodes:
            tools.log.say(f"lifted cordons that plan {plan} had left: {', '.join(nodes)}")

    def _lead(self) -> bool:
        """Whether this replica leads; if nobody does, from now on."""
        if self._lease is not None:
            try:
                self._lease.check()
            except LockLostError as error:
                self._tools.log.say(str(error), level="warning")
                self._lease = None
                self._tools.metrics.leader.set(0)
            return self._lease is not None
        now = self._tools.clock.now()
        if now < self._next_try:
            return False
        self._next_try = now + RENEW / 3
        try:
            self._take()
        except LockedError:
            self._health.ready = True  # standing by
            return False
        except PlannerError as error:
            self._tools.log.say(str(error), level="error")
            self._release()
            self._next_try = now + 60
            return False
        return True

    def _release(self) -> None:
        if self._lease is not None:
            self._lease.release()
            self._lease = None
        self._tools.metrics.leader.set(0)

    def _tick(self) -> str | None:
        """While a child runs: why it has to end."""
        self._health.alive()
        return "planner is told to stop" if self._stopping() else self._lost()

    def _lost(self) -> str | None:
        """Why this replica leads no longer; None if it does."""
        try:
            if self._lease is not None:
                self._lease.check()
        except LockLostError as error:
            return str(error)
        return None

    # What is due

    def _turn(self) -> bool:
        """Do what is due; False if nothing was."""
        if not self._lead():
            return False
        now = self._tools.clock.now()
        if now >= self._next_round:
            self._round()
        elif now >= self._next_look:
            self._look()
        else:
            return False
        return True

    def _round(self) -> RoundEnd:
        tools = self._tools
        started = tools.clock.now()
        read = self._policy.read_again()
        number = tools.state.round + 1
        self._tell_policy(number)
        current = Round(tools, read, number, self._tick)
        end = current.run()
        tools.log.say(
            end.text, level=LEVELS.get(end.result, "info"), number=number, result=end.result
        )
        tools.metrics.rounds.labels(end.result).inc()
        tools.metrics.last_round.set(tools.clock.now())
        tools.metrics.suspended.set(len(left_alone(tools.state, read.digest, tools.now)))
        broken = self._policy.broken
        tools.state = with_round(tools.state, current.record(end, started)).model_copy(
            update={
                "mode": read.policy.mode,
                "policy": read.digest,
                "policy_error": None if broken is None else str(broken),
            }
        )
        self._save()
        self._health.ready = self._health.ready or end.result != "failed"
        seconds = end.plan.read_seconds if end.plan is not None else 0.0
        self._next_round = next_round(started, read.policy.period, seconds)
        period = read.policy.period.total_seconds()
        self._health.patience = 2 * period + tools.settings.round_timeout
        return end

    def _tell_policy(self, number: int) -> None:
        tools, broken = self._tools, self._policy.broken
        tools.metrics.policy_valid.set(0 if broken else 1)
        tools.metrics.mode_apply.set(self._policy.current.policy.mode == "Apply")
        if broken is not None:
            file = tools.settings.file.rpartition("/")[2]
            message = broken.message
            short = message.partition(": ")[0] if message.startswith('"') else message
            why = f"{broken.field}: {short}" if broken.field else message
            tools.log.say(
                f"{file} is not valid ({why}); the last good one stays",
                level="warning",
                number=number,
                error=str(broken),
            )

    def _look(self) -> None:
        self._next_look = self._tools.clock.now() + LOOK_EVERY
        told = self._tools.state.told
        try:
            self._waiting.look(self._policy.current.policy, self._tick)
        except (ApiError, UnreachableError, PlannerError) as error:
            self._tools.log.say(f"can't look at waiting pods: {error}", level="warning")
        if self._tools.state.told != told:
            self._save()

    def _save(self) -> None:
        """What can't be saved now is saved with the next round; the log says so."""
        tools = self._tools
        try:
            if self._lost() is None:
                tools.store.write(tools.state)
        except (ApiError, UnreachableError, PlannerError) as error:
            tools.log.say(f"planner-state was not written: {error}", level="error")
