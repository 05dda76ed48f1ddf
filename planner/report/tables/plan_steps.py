"""The steps of a plan: wave by wave where something moves, otherwise pod by pod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.tables.plan_counts import plan_counts
from planner.report.text.blocks import Block, Listing, Paragraph, Style
from planner.words import NAMED, conjoined, count_of
from planner_models.plan import Placement, Plan, Step, Unplaced, Wave

ROWS = 20
"""How many rows a table and how many steps a list shows; `wide` shows all."""

_MARKS: dict[str, tuple[str, Style]] = {
    "place": ("+", "green"),
    "move": ("~", "yellow"),
    "evict": ("-", "red"),
    "cordon": ("#", "cyan"),
    "uncordon": ("#", "cyan"),
}
_WORDS = {"move": "move", "place": "placement", "evict": "eviction", "cordon": "cordon"}

_Row = tuple[str, str, str, Style]


def more(hidden: int, what: str, to_do: str = "") -> Iterator[Block]:
    """How many rows are not shown, if any: `and 28 more pods to place`."""
    if hidden:
        number = count_of(hidden, f"more {what}")
        yield Paragraph(f"and {number}{to_do}; -o wide shows all", "dim")


class PodNames:
    """Pods by name, with their namespace only where a plan is about several."""

    def __init__(self, document: Plan) -> None:
        keys = [placement.pod for placement in document.placements]
        keys += [pod.pod for pod in (*document.unplaced, *document.displaced)]
        self._several = len({key.partition("/")[0] for key in keys}) > 1

    def __call__(self, key: str) -> str:
        return key if self._several else key.partition("/")[2]


class Steps:
    """The lists of one plan."""

    def __init__(self, document: Plan, *, wide: bool) -> None:
        self._plan = document
        self._wide = wide
        self._name = PodNames(document)

    def parts(self) -> list[list[Block]]:
        """What is to do, then what stays unplaced; one list if nothing moves."""
        unplaced = list(self._unplaced())
        if plan_counts(self._plan).evicted or self._plan.displaced:
            return [list(self._waves()), [_listing(unplaced)] if unplaced else []]
        every = self._plan.placements
        shown = every if self._wide else every[:ROWS]
        rows = [*map(self._landing, shown), *unplaced]
        hidden = list(more(len(every) - len(shown), "pod", " to place"))
        return [[*([_listing(rows)] if rows else []), *hidden]]

    def _landing(self, placement: Placement) -> _Row:
        if not placement.breaks:
            return ("+", self._name(placement.pod), placement.node, "green")
        width = max(len(each.node) for each in self._plan.placements)
        breaks = " and ".join(placement.breaks)
        where = f"{placement.node:<{width}}  breaks {breaks}"
        return ("+", self._name(placement.pod), where, "yellow")

    def _waves(self) -> Iterator[Block]:
        waves = self._plan.waves
        left = sum(len(wave.steps) for wave in waves) if self._wide else ROWS
        width = max(len(self._step(step)[1]) for wave in waves for step in wave.steps)
        waited: tuple[str, ...] = ()
        for number, wave in enumerate(waves):
            if left <= 0:
                steps = count_of(sum(len(each.steps) for each in waves[number:]), "step")
                hidden = count_of(len(waves) - number, "more wave")
                yield Paragraph(f"and {hidden} with {steps}; -o wide shows all", "dim")
                return
            yield Paragraph(self._head(number, wave, width, waited), "bold")
            waited = wave.waits_for
            shown = wave.steps[:left]
            left -= len(shown)
            yield _listing([self._step(step) for step in shown], width)
            yield from more(len(wave.steps) - len(shown), "step")

    def _head(self, number: int, wave: Wave, width: int, waited: Sequence[str]) -> str:
        head = f"Wave {number + 1} of {len(self._plan.waves)} ({_step_counts(wave.steps)})"
        if set(wave.waits_for) <= set(waited):
            return head
        names = [workload.partition("/")[2] for workload in wave.waits_for]
        verb = "is" if len(names) == 1 else "are"
        who = conjoined(names) if len(names) <= NAMED else f"{len(names)} workloads"
        return f"{head:<{width + 5}} when {who} {verb} ready again"

    def _step(self, step: Step) -> _Row:
        mark, style = _MARKS[step.action]
        if step.action in ("cordon", "uncordon"):
            return (mark, f"{step.action} {step.node}", "", style)
        pod = self._name(step.pod or "")
        if step.action == "move":
            first = ", new pod first" if step.surge else ""
            stay = ", for a while" if step.temporary else ""
            return (mark, pod, f"{step.from_} -> {step.to}{stay}{first}", style)
        return (mark, pod, f"{step.node}{' evicted' if step.action == 'evict' else ''}", style)

    def _unplaced(self) -> Iterator[_Row]:
        """One by one up to six of a workload that share a reason; then as one line."""
        together: dict[tuple[str, str, str], list[Unplaced]] = {}
        for pod in self._plan.unplaced:
            namespace = pod.pod.partition("/")[0]
            together.setdefault((namespace, pod.workload, pod.diagnosis), []).append(pod)
        for (_, workload, diagnosis), pods in together.items():
            if len(pods) > NAMED and not self._wide:
                yield ("!", f"{len(pods)} pods of {workload}", diagnosis, "red")
                continue
            for i, pod in enumerate(pods):
                yield ("!", self._name(pod.pod), "the same" if i else diagnosis, "red")


def _listing(rows: Sequence[_Row], width: int = 0) -> Listing:
    return Listing(
        tuple((mark, f"{name:<{width}}", remark) for mark, name, remark, _ in rows),
        tuple(style for *_, style in rows),
    )


def _step_counts(steps: Sequence[Step]) -> str:
    """`7 moves`, `2 moves, 1 placement`."""
    counts = [(sum(step.action == a for step in steps), word) for a, word in _WORDS.items()]
    return ", ".join(count_of(number, word) for number, word in counts if number)
