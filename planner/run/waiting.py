"""Between rounds: pods that wait too long are explained, in events and in numbers."""

from __future__ import annotations

from datetime import datetime

from planner.run.child import Tick
from planner.run.context import Tools
from planner.run.explanations import explanations
from planner.run.look import WaitingPod
from planner.run.round import ANSWERS
from planner.run.state import REPEATED
from planner.words import count_of
from planner_models.run_policy import RunPolicy


class Waiting:
    """Remembers who was explained, so that nobody is explained every minute."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._explained: dict[str, datetime] = {}

    def look(self, policy: RunPolicy, tick: Tick) -> None:
        """List the pods without a node; explain them if one has waited long enough."""
        now = self._tools.now
        waiting = self._tools.look.waiting()
        if not waiting:
            self._explained.clear()
            self._tools.metrics.set_pending({})
            return
        late = [each for each in waiting if _late(each, policy, now)]
        new = [
            each
            for each in late
            if now - self._explained.get(each.regarded.uid, datetime.min.replace(tzinfo=now.tzinfo))
            >= REPEATED
        ]
        if new:
            self._explained = {each.regarded.uid: now for each in late}
            self._explain(late, policy, tick)

    def _explain(self, late: list[WaitingPod], policy: RunPolicy, tick: Tick) -> None:
        settings = self._tools.settings
        ended = self._tools.child(
            ("explain", "--all-pending", "-A", "-o", "json", *settings.planning, *settings.live),
            settings.round_timeout,
            tick,
        )
        if ended.stopped is not None or ended.code not in ANSWERS:
            self._tools.log.say(f"no explanation: {ended.why}", level="warning")
            return
        try:
            found = explanations(ended.output)
        except ValueError as error:
            self._tools.log.say(f"the explanation can't be read: {error}", level="warning")
            return
        verdicts = found.verdicts()
        self._tools.metrics.set_pending(verdicts)
        told = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
        self._tools.log.say(f"explained {count_of(len(late), 'waiting pod')}: {told}")
        if policy.explain.events:
            by_key = {each.key: each.regarded for each in late}
            for key, note in found.notes():
                if key in by_key:
                    self._tools.tell(by_key[key], "Explained", note)


def _late(pod: WaitingPod, policy: RunPolicy, now: datetime) -> bool:
    """Gated pods wait for whoever gated them."""
    waits = pod.since is not None and now - pod.since >= policy.explain.pending_for
    return waits and not pod.gated
