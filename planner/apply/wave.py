"""One wave: ask, cordon, evict, wait, verify, lift."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.apply.cordons import Cordons
from planner.apply.course import Course, CourseWave, Departure
from planner.apply.evicting import Evictions
from planner.apply.journal import Past
from planner.apply.landings import Controlled, Landed, Look, WaveWatch, controlled_by
from planner.apply.pods import PodLists
from planner.apply.state import Progress, ReadNow, Surroundings
from planner.apply.stopping import CancelledError, StoppedError
from planner.apply.stuck import why_stuck

EVERY = 2.0
"""Seconds between two looks at pods."""
LOOK_AFTER = 5.0
"""Seconds of evictions after which those that come are looked at."""
JUDGE_AFTER = 30.0
"""Seconds of evictions after which it is asked whether the rest still holds, or four times as long
as that takes."""


class Wave:
    """A wave of a course on the cluster as it was read last."""

    def __init__(
        self,
        course: Course,
        wave: CourseWave,
        now: ReadNow,
        around: Surroundings,
        progress: Progress,
        past: Past,
    ) -> None:
        self._course = course
        self._wave = wave
        self._around = around
        self._progress = progress
        self._past = past
        self._missing: tuple[str, ...] = ()
        self._now = now.cluster
        self._looked = self._judged = around.clock.now()
        self._judging = 0.0
        self._controlled = self._controllers(now)
        lists = PodLists(around.writer, around.clock)
        self._watch = WaveWatch(lists, around.clock, self._controlled, self._wanted_now)
        for each in self._whole.departures:
            if each.uid in progress.outcomes:
                self._watch.left(each.uid)

    @property
    def _whole(self) -> CourseWave:
        """With those that an earlier run has evicted."""
        return next(w for w in self._course.waves if w.number == self._wave.number)

    def _controllers(self, now: ReadNow) -> list[Controlled]:
        """Those of its pods, and of pods for whom nobody has landed so far."""
        gone = [d for d in (*self._progress.outstanding, *self._whole.departures) if not d.lost]
        keys = (f"{each.namespace}/{each.controller}" for each in self._wave.ready)
        owners = dict.fromkeys((*(each.controller_key for each in gone), *keys), "")
        started = self._past.started(self._wave.number)
        before = {} if started is None or started.before is None else started.before
        for key in before:
            controller, _, uid = key.rpartition("/")
            owners[controller] = uid
        found = controlled_by(now.cluster, owners)
        for key, each in found.items():
            each.departures = [d for d in gone if d.controller_key == key]
            if (known := before.get(f"{key}/{each.owner}")) is not None:
                each.before = frozenset(known)
                each.waited &= each.before
            each.allowed = self._may_wait(each, now)
        return list(found.values())

    def _may_wait(self, each: Controlled, now: ReadNow) -> int:
        """How many of its pods the plan leaves without a node; more if more are without one now.

        Pods that it wants beyond those of the plan are to run.
        """
        promised = next(
            (r for r in self._wave.ready if f"{r.namespace}/{r.controller}" == each.key), None
        )
        if promised is None:
            return len(each.waited)
        refs = (r for r in now.cluster.workloads if r.namespace == promised.namespace)
        ref = next((r for r in refs if r.short == promised.workload), None)
        wants = None if ref is None else now.cluster.owners.desired(ref)
        more = 0 if wants is None or promised.wants is None else max(0, wants - promised.wants)
        return max(0, len(each.before) - each.unready - promised.pods - more)

    def after_moving(self, timeout: float) -> None:
        """On resuming: wait until what was evicted has gone and others are ready or wait."""
        clock = self._around.clock
        until = clock.now() + timeout
        while not ((look := self._watch.look()).over or look.settled) and clock.now() < until:
            self._around.go_on()
            clock.sleep(EVERY)

    def ask(self, evictions: Evictions) -> None:
        """Every eviction by a dry run; a pod that has gone meanwhile is drift."""
        journal, wave, count = self._around.journal, self._wave, len(self._course.waves)
        if self._past.started(wave.number) is None:
            before = {f"{c.key}/{c.owner}": tuple(sorted(c.before)) for c in self._controlled}
            journal.write("waveStarted", wave=wave.number, waves=count, before=before)
        gone = [each.name for each in wave.departures if evictions.ask(each) is False]
        asked = len(wave.departures)
        journal.write("asked", wave=wave.number, waves=count, accepted=asked - len(gone), of=asked)
        if gone:
            lines = (f"{name} is gone" for name in gone)
            raise StoppedError(("the plan no longer holds.", *lines))

    def evict(
        self,
        evictions: Evictions,
        cordons: Cordons,
        timeout: float,
        still_good: Callable[[], bool],
        require: Callable[[CourseWave], None],
    ) -> None:
        """All of them, and until others have come in their place.

        Pods that no node takes end it, unless the rest of the plan is `still_good`: which of
        several pods is left waiting for a later wave may be for kube-scheduler to choose. A wave
        that takes long may no longer hold: `require` raises if what is left of it does not.
        """
        until = self._around.clock.now() + timeout
        try:
            for each in self._wave.departures:
                self._evict(each, evictions, cordons, until, require)
            self._wait(cordons, until, still_good)
        except (StoppedError, CancelledError):
            self._progress.landed += self._watch.landed(self._progress.outcomes)
            raise

    def _evict(
        self,
        each: Departure,
        evictions: Evictions,
        cordons: Cordons,
        until: float,
        require: Callable[[CourseWave], None],
    ) -> None:
        def may() -> None:
            self._may(cordons, lambda: require(self._wave.without(self._progress.outcomes)))

        evicted = evictions.evict(each, self._wave.number, may, lambda: self._look(cordons), until)
        self._progress.outcomes[each.uid] = "evicted" if evicted else "gone"
        self._watch.left(each.uid)
        if evicted and self._around.owners is not None:
            self._around.owners.of_eviction(each, self._now)

    def _wait(self, cordons: Cordons, until: float, still_good: Callable[[], bool]) -> None:
        wave, clock = self._wave, self._around.clock
        while not (look := self._look(cordons, still_good)).over:
            if look.stuck:  # and yet all is well
                return
            if clock.now() >= until:
                lines = ("a wave is not over in time.", *self._missing)
                raise StoppedError(lines, self._progress.waiting)
            if look.settled and not wave.hold and (held := cordons.set & set(wave.cordon)):
                # Who found no other node may have one of these, as in the plan.
                cordons.lift(held)
                self._watch.again()
            clock.sleep(EVERY)

    def _may(self, cordons: Cordons, require: Callable[[], None]) -> None:
        """Raises if nothing may be evicted any more."""
        self._around.go_on()
        clock = self._around.clock
        if clock.now() - self._looked >= LOOK_AFTER:
            self._look(cordons)
        began = clock.now()
        if began - self._judged >= max(JUDGE_AFTER, 4 * self._judging):
            require()
            self._judged = clock.now()
            self._judging = self._judged - began

    def _look(self, cordons: Cordons, still_good: Callable[[], bool] = lambda: False) -> Look:
        """How far it is; raises if a pod can't be placed."""
        self._around.go_on()
        look = self._watch.look()
        self._looked = self._around.clock.now()
        self._progress.waiting, self._missing = look.waiting, look.missing
        if look.stuck and not (look.settled and still_good()):
            raise self._cannot_be_placed(look.stuck, cordons)
        return look

    def _cannot_be_placed(self, stuck: Sequence[str], cordons: Cordons) -> StoppedError:
        """Cordons are lifted at once; then it is said why."""
        cordons.lift(set(cordons.set))
        cluster = self._around.read().cluster
        why = why_stuck(cluster, self._around.profile, stuck, self._progress.ready_nodes)
        lines = ("a replacement can't be placed.", *why)
        return StoppedError(lines, tuple(stuck))

    def verify(self) -> list[Landed]:
        """Who came where, each of them told."""
        landed = self._watch.landed()
        self._progress.landed += landed
        self._progress.outstanding = [
            departure
            for each in self._controlled
            for departure in each.departures
            if not departure.lost
        ]
        for each in landed:
            if self._around.owners is not None:
                self._around.owners.of_landing(each, self._now)
            self._around.journal.write(
                "landed" if each.as_promised else "elsewhere",
                wave=self._wave.number,
                pod=each.departure.pod,
                uid=each.departure.uid,
                node=each.departure.node,
                to=each.node,
                seconds=each.seconds,
                expected=each.departure.expected,
                text=each.pod,
            )
        return landed

    def _wanted_now(self) -> dict[str, int]:
        """How many pods each controller wants, read anew."""
        controllers = self._around.read().cluster.owners.controllers
        return {
            f"{ref.namespace}/{ref.kind}/{ref.name}": int(found.spec.replicas)
            for ref, found in controllers.items()
            if hasattr(found.spec, "replicas")
        }
