"""Carries a course out, wave by wave, and stops as soon as it is not what was promised.

Read, judge what is left, ask, cordon, evict, wait, verify, lift; then the next wave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from planner.apply.cordons import Cordons
from planner.apply.course import Course, CourseWave
from planner.apply.evicting import AGAIN, ASKED_FOR, Evictions
from planner.apply.journal import Past
from planner.apply.landings import NOT_MADE, Landed
from planner.apply.preconditions import Preconditions, Verdict
from planner.apply.replay_rest import excess_now, is_ours
from planner.apply.state import Options, Progress, ReadNow, Surroundings
from planner.apply.stopping import CancelledError, StoppedError
from planner.apply.stuck import answering
from planner.apply.telling import report_of, start_of
from planner.apply.wave import Wave
from planner.errors import PlannerError
from planner.sources.live.api import ApiError, UnreachableError
from planner.version import __version__
from planner.words import conjoined, count_of, ordinal
from planner_models.apply_report import ApplyReport, ApplyResult, ApplyStart

Waves = tuple[CourseWave, ...]


class CarryOut:
    """One run over a course; `written` is its document where that differs from the reviewed one."""

    def __init__(
        self,
        course: Course,
        around: Surroundings,
        options: Options,
        past: Past,
        written: dict[str, Any] | None = None,
    ) -> None:
        self._around = around
        self._options = options
        self._past = past
        self._written = written
        self._cordons = Cordons(around.writer, course.plan_id, around.journal)
        self._evictions = Evictions(around.writer, around.clock, around.journal)
        self._progress = Progress()
        self._take(course)

    def _take(self, course: Course) -> None:
        """This is the course from now on."""
        self._course = course
        self._preconditions = Preconditions(course, self._around.profile)
        planned = {d.uid: (d, w.number) for w in course.waves for d in w.departures}
        self._progress.planned |= planned

    def run(self, begin: Callable[[ApplyStart], bool]) -> ApplyReport:
        """Carry it out; `begin` is shown what will happen, and says whether it may."""
        try:
            return self._run(begin)
        except StoppedError as stop:
            self._progress.waiting = stop.waiting or self._progress.waiting
            return self._stopped("failed" if stop.failure else "stopped", stop.lines)
        except CancelledError:
            return self._stopped("interrupted", ())
        except PlannerError as error:
            return self._stopped("failed", tuple(filter(None, (error.message, error.detail))))
        except (ApiError, UnreachableError) as error:
            return self._stopped("failed", (str(error),))

    def _run(self, begin: Callable[[ApplyStart], bool]) -> ApplyReport:
        now = self._read()
        self._progress.ready_nodes = answering(now.cluster)
        rest, resuming = self._resumed(now)
        if resuming is not None and rest:
            self._wave_of(rest[0], now).after_moving(self._options.wave_timeout)
            now = self._read()
        self._progress.excess.append(self._excess(now))
        self._progress.wave = rest[0].number if rest else 0
        now, verdict = self._judged_in_time(rest, now, budgets=resuming is not None)
        if not verdict.good and self._options.replan is None:
            raise self._no_longer_holds(verdict)
        start = start_of(
            self._course, rest, now, self._around, verdict, resuming, self._progress.excess[0]
        )
        shown = self._around.clock.now()
        if not begin(start.model_copy(update={"dry_run": self._options.dry_run})):
            return self._report("stopped", ("nothing was evicted.",))
        if self._options.dry_run:
            return self._only_asked(rest)
        if self._around.clock.now() - shown > ASKED_FOR:  # somebody has thought about it
            now, verdict = self._judged_in_time(rest, self._read(), budgets=resuming is not None)
            if not verdict.good and self._options.replan is None:
                raise self._no_longer_holds(verdict)
        self._header()
        return self._waves(rest if verdict.good else self._replanned(now, verdict), now)

    def _waves(self, rest: Waves, now: ReadNow) -> ApplyReport:
        last = self._options.last_wave
        while rest and (last is None or rest[0].number <= last):
            wave, *later = rest
            elsewhere = self._elsewhere()
            now, rest = self._carry_out_wave(wave, tuple(later), now), tuple(later)
            if rest:
                self._progress.wave, self._progress.begun = rest[0].number, False
            # Also after the last wave: it may have ended elsewhere than promised.
            now, verdict = self._judged_in_time(rest, now)
            if not verdict.good and not rest:
                raise StoppedError(("the end is not what was promised.", *verdict.reasons))
            if rest and verdict.good and elsewhere < self._elsewhere():
                holds, of = verdict.holds, verdict.seeds
                self._around.journal.tell("goesOn", wave=wave.number, accepted=holds, of=of)
            if rest and not (verdict.good and self._course.converges):
                rest = self._replanned(now, verdict)
        if rest and last is not None:
            self._progress.wave = last
        self._cordons.lift(self._held())
        return self._report("done", ())

    def _elsewhere(self) -> int:
        return sum(not each.as_promised for each in self._progress.landed)

    def _carry_out_wave(self, wave: CourseWave, later: Waves, now: ReadNow) -> ReadNow:
        progress, timeout = self._progress, self._options.wave_timeout
        progress.wave = wave.number
        under_way = self._wave_of(wave, now)
        under_way.ask(self._evictions)
        progress.begun = True
        held = self._held()
        self._cordons.cordon((*wave.drain, *wave.cordon), wave.number)
        self._cordons.lift(held - set(wave.cordon))
        under_way.evict(
            self._evictions,
            self._cordons,
            timeout,
            lambda: self._course.converges and self._judged(later, self._read()).good,
            lambda left: self._require((left, *later)),
        )
        landed = under_way.verify()
        if not wave.hold:
            self._cordons.lift(self._held())
        after = self._read()
        progress.excess.append(self._excess(after))
        self._around.journal.write(
            "waveDone",
            wave=wave.number,
            waves=len(self._course.waves),
            landed=sum(each.as_promised for each in landed),
            of=len(landed),
            excess_before=progress.excess[-2],
            excess_after=progress.excess[-1],
        )
        return after

    def _wave_of(self, wave: CourseWave, now: ReadNow) -> Wave:
        return Wave(self._course, wave, now, self._around, self._progress, self._past)

    def _header(self) -> None:
        course, around = self._course, self._around
        around.journal.write(
            "header",
            plan_id=course.plan_id,
            cluster=course.source.cluster,
            who=around.who,
            holder=around.holder,
            version=__version__,
            waves=len(course.waves),
        )
        if self._written is not None:
            around.journal.write("replanned", plan=self._written, text="with cordons")

    def _read(self) -> ReadNow:
        self._around.go_on()
        now = self._around.read()
        self._progress.source = now.source
        return now

    def _excess(self, now: ReadNow) -> int:
        return excess_now(self._course, now.cluster, self._around.profile)

    def _held(self) -> set[str]:
        """Nodes that are cordoned for the length of a wave; drained ones stay so."""
        return self._cordons.set - {name for wave in self._course.waves for name in wave.drain}

    # What is left, and whether it holds

    def _resumed(self, now: ReadNow) -> tuple[Waves, str | None]:
        """The waves that are left, without pods that an earlier run has evicted."""
        plan_id, nodes = self._course.plan_id, now.cluster.nodes
        self._cordons.keep(n.name for n in nodes if is_ours(n.metadata.annotations, plan_id))
        there = {pod.uid for pod in now.cluster.pods if not pod.terminating}
        asked = self._past.uids("evicting", "evicted")
        gone = (asked | self._past.uids("refused")) - there
        for uid in gone & self._progress.planned.keys():
            self._progress.outcomes[uid] = "evicted" if uid in asked else "gone"
        self._progress.landed = list(self._landed_before())
        done = self._past.waves_done
        rest = tuple(w.without(gone) for w in self._course.waves if w.number not in done)
        begun = any(each.event == "waveStarted" for each in self._past.entries)
        return rest, self._resuming(rest) if begun else None

    def _landed_before(self) -> Iterator[Landed]:
        for each in self._past.entries:
            planned = self._progress.planned.get(each.uid or "")
            if each.event in ("landed", "elsewhere") and planned is not None:
                promised, seconds = each.event == "landed", each.seconds or 0
                yield Landed(planned[0], each.text or "", each.to or "", seconds, promised)

    def _resuming(self, rest: Waves) -> str:
        """`wave 2 of 4, 1 of 2 evicted`, and what an unfinished request came to."""
        if not rest:
            return "all waves are done"
        number = rest[0].number
        whole = next(w for w in self._course.waves if w.number == number)
        gone = [i for i, d in enumerate(whole.departures, 1) if d.uid in self._progress.outcomes]
        told = self._past.uids("evicted", "refused")
        unsure = [i for i in gone if whole.departures[i - 1].uid not in told]
        text = f"wave {number} of {len(self._course.waves)}"
        text += f", {len(gone) - len(unsure)} of {len(whole.departures)} evicted"
        if unsure:
            text += f" (the {ordinal(unsure[-1])} was asked for and is gone, too)"
        held = sorted(self._held())
        if held:
            kept = "kept until the wave ends"
            text += f". Cordon on {conjoined(held)} is ours: {kept}"
        return text

    def _judged(self, rest: Sequence[CourseWave], now: ReadNow) -> Verdict:
        """Whether what is left holds; in a wave that is under way, what comes after it."""
        if self._course.converges:
            verdict = self._preconditions.judge(rest, now.cluster, self._held())
        else:  # Only with a new plan after each wave: this one must not make anything worse.
            most = self._excess(now)
            verdict = self._preconditions.judge(rest[:1], now.cluster, self._held(), most)
        self._progress.verdict = verdict
        return verdict

    def _judged_in_time(
        self, rest: Waves, now: ReadNow, *, budgets: bool = True
    ) -> tuple[ReadNow, Verdict]:
        """Judged when budgets allow it, and when controllers have made the pods that they want.

        Budgets are given as long as a wave may take; a controller that makes no pods for half a
        minute is kept from it.
        """
        clock = self._around.clock
        began = clock.now()
        while True:
            verdict = self._judged(rest, now)
            patience = self._options.wave_timeout if budgets and verdict.for_now else 0.0
            patience = max(patience, NOT_MADE if verdict.lacking else 0.0)
            seconds = clock.now() - began
            if seconds >= patience:
                return now, verdict
            wave, text = self._progress.wave, (*verdict.lacking, *verdict.reasons)[0]
            self._around.journal.tell("waits", wave=wave, text=text, seconds=round(seconds))
            clock.sleep(AGAIN)
            now = self._read()

    def _require(self, rest: Waves) -> None:
        """Stop in the middle of a wave if the rest of it no longer holds."""
        now = self._read().cluster
        verdict = self._preconditions.judge(rest, now, self._cordons.set, under_way=True)
        if not verdict.good:
            raise self._no_longer_holds(verdict)

    def _no_longer_holds(self, verdict: Verdict) -> StoppedError:
        return StoppedError(("the plan no longer holds.", *verdict.reasons))

    def _replanned(self, now: ReadNow, verdict: Verdict) -> Waves:
        """The waves of a new plan, within what was approved; otherwise this is the end."""
        replan = self._options.replan
        if replan is None:
            raise self._no_longer_holds(verdict)
        self._cordons.lift(self._held())
        found = replan(now.cluster)
        if found is None:
            raise StoppedError(("the plan no longer holds, and no other was found.",))
        used = self._progress.outcomes.keys() | self._past.uids("evicted", "evicting", "refused")
        left, needs = self._options.approved - len(used), len(found.course.departures)
        if needs > left:
            more = (
                f"a new plan needs {count_of(needs, 'eviction')}; {left} of the approved are left"
            )
            raise StoppedError(("the plan no longer holds.", *verdict.reasons, more))
        self._around.journal.write("replanned", plan=found.document, of=needs, text=verdict.text)
        self._past = Past()
        self._take(found.course)
        return found.course.waves

    def _only_asked(self, rest: Waves) -> ApplyReport:
        """With a dry run: what the API server says to each eviction now."""
        refused: list[str] = []
        for wave in rest:
            told = [(each, self._evictions.ask(each)) for each in wave.departures]
            self._around.journal.tell(
                "asked",
                wave=wave.number,
                waves=len(self._course.waves),
                accepted=sum(answer is True for _, answer in told),
                of=len(told),
            )
            for each, answer in told:
                if answer is not True:
                    why = "it is gone" if answer is False else answer.text
                    refused.append(f"{each.name}: {why}")
        return self._report("dryRun", tuple(refused))

    # The end

    def _stopped(self, result: ApplyResult, lines: Sequence[str]) -> ApplyReport:
        lifted: tuple[str, ...] = ()
        with suppress(ApiError, UnreachableError, PlannerError):  # those left are named
            lifted = self._cordons.lift(set(self._cordons.set))
        if self._around.journal.written:
            wave = self._progress.wave or None
            self._around.journal.write("stopped", wave=wave, text=" ".join(lines))
        return self._report(result, lines, lifted)

    def _report(
        self, result: ApplyResult, lines: Sequence[str], lifted: Sequence[str] = ()
    ) -> ApplyReport:
        return report_of(
            self._course,
            self._around,
            self._progress,
            result,
            lines,
            cordoned=self._cordons.set,
            lifted=lifted,
        )
