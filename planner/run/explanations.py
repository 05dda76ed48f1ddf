"""What is said of pods that wait: the verdicts of a Diagnosis, and a note for each pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from planner.apply.events import note_of


class _Repair(msgspec.Struct):
    text: str = ""


class _Part(msgspec.Struct):
    targets: list[str] = []
    verdict: str = ""
    headline: str = ""
    repairs: list[_Repair] = []


class Explanations(msgspec.Struct):
    """The parts of a Diagnosis, one for each workload that has pods waiting."""

    parts: list[_Part] = []

    def verdicts(self) -> Mapping[str, int]:
        """How many pods wait with which verdict."""
        found: Counter[str] = Counter()
        for part in self.parts:
            found[part.verdict] += len(part.targets)
        return found

    def notes(self) -> Iterator[tuple[str, str]]:
        """`shop/web-1`, and what to say of it in an event."""
        for part in self.parts:
            text = f"{part.verdict}: {part.headline}."
            if part.repairs:
                text = f"{text} Smallest change: {part.repairs[0].text}."
            for key in part.targets:
                namespace, _, name = key.partition("/")
                where = "" if namespace == "default" else f" -n {namespace}"
                yield key, note_of(text, f" kubectl planner explain pod/{name}{where}")


def explanations(text: bytes) -> Explanations:
    """ValueError for what is no Diagnosis."""
    return msgspec.json.decode(text, type=Explanations)
