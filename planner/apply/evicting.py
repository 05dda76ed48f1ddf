"""Evictions, one by one: asked first, then made, and asked again as long as a budget says no.

The API server takes a disruption out of the budget before it compares the uid: an eviction that it
then refuses (409) leaves the budget short until the disruption controller has counted again. A dry
run costs nothing. So nothing is evicted that was not asked about in the last 10 seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.apply.access import eviction_path
from planner.apply.clock import Clock
from planner.apply.course import Departure
from planner.apply.journal import Journal
from planner.apply.objects import eviction
from planner.apply.stopping import StoppedError
from planner.apply.writing import Writer
from planner.sources.live.api import ApiError
from planner.sources.live.requests import BUDGET

ASKED_FOR = 10
"""Seconds for which an answer to a dry run is good."""
AGAIN = 5
"""Seconds after which a budget that says no is asked again, as kubectl drain does."""
GONE = (404, 409)


@dataclass(frozen=True)
class Refusal:
    """A budget says no for now, in its words, and when to ask again."""

    text: str
    pause: float


class Evictions:
    """The Eviction API, for the pods of one plan."""

    def __init__(self, writer: Writer, clock: Clock, journal: Journal) -> None:
        self._writer = writer
        self._clock = clock
        self._journal = journal
        self._asked: dict[str, float] = {}

    def ask(self, each: Departure) -> bool | Refusal:
        """Whether it would be evicted now; False if it is gone."""
        answer = self._post(each, dry_run=True)
        self._asked[each.uid] = self._clock.now()
        return answer

    def evict(
        self,
        each: Departure,
        wave: int,
        may: Callable[[], None],
        meanwhile: Callable[[], object],
        until: float,
    ) -> bool:
        """Evict it; False if it was gone. `may` raises if it is not allowed any more.

        `meanwhile` is called as long as a budget says no, which it may do `until` then.
        """
        began = self._clock.now()
        while True:
            may()
            if self._clock.now() - self._asked.get(each.uid, 0.0) > ASKED_FOR:
                answer = self.ask(each)
                if answer is True:
                    may()
            else:
                answer = True
            if answer is True:
                self._journal.write(
                    "evicting", wave=wave, pod=each.pod, uid=each.uid, node=each.node
                )
                answer = self._post(each, dry_run=False)
            if answer is True:
                self._journal.write(
                    "evicted", wave=wave, pod=each.pod, uid=each.uid, node=each.node
                )
                return True
            if answer is False:
                text = "it was gone already"
                self._journal.write(
                    "refused", wave=wave, pod=each.pod, uid=each.uid, node=each.node, text=text
                )
                return False
            self._wait(each, wave, answer, began, until)
            meanwhile()

    def _wait(
        self, each: Departure, wave: int, refused: Refusal, began: float, until: float
    ) -> None:
        now = self._clock.now()
        seconds = round(now - began)
        if now >= until:
            line = f"{each.name} could not be evicted for {seconds} s: {refused.text}"
            raise StoppedError((line,))
        self._journal.tell(
            "waits", wave=wave, pod=each.pod, node=each.node, text=refused.text, seconds=seconds
        )
        self._clock.sleep(refused.pause)

    def _post(self, each: Departure, *, dry_run: bool) -> bool | Refusal:
        body = eviction(each.namespace, each.name, each.uid)
        try:
            self._writer.post(eviction_path(each.namespace, each.name), body, dry_run=dry_run)
        except ApiError as error:
            if error.code in GONE:
                return False
            cause = error.cause(BUDGET)
            if error.code == 429 and cause is not None:
                return Refusal(_lower(cause.message or error.message), error.retry_after or AGAIN)
            raise StoppedError(
                (f"{each.name} can't be evicted ({error.code}): {error.message}",), failure=True
            ) from error
        return True


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
