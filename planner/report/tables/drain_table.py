"""A `DrainPlan` as text: whether the nodes can be emptied, how, what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.tables import drain_most, drain_rounds
from planner.report.tables.drain_blocked import blocked_blocks, where
from planner.report.tables.drain_kubectl import kubectl_text
from planner.report.tables.explain_repairs import repair_lines
from planner.report.text.blocks import GAP, Block, Paragraph, Style, Table
from planner.report.text.notices import notice_blocks
from planner.words import conjoined, count_of, named_or_counted
from planner_models.drain import DrainEviction, DrainPlan, DrainStatus

ROWS = 20
EXPECTED = 4
"""So many nodes are named in a cell."""
STYLES: dict[DrainStatus, Style] = {"possible": "bold", "impossible": "red", "undecided": "yellow"}


def blocks(document: DrainPlan, *, wide: bool) -> Sequence[Block]:
    """Headline, waves or what blocks, what helps, what kubectl does, what is certain."""
    if document.status == "possible" and document.options.rolling:
        return _in_parts(*_rolling(document, wide=wide))
    if document.most is not None:
        return _in_parts(*_most(document, wide=wide))
    parts = [
        [Paragraph(headline(document), STYLES[document.status], indent=2), *where(document)],
        list(eviction_blocks(document, wide=wide)) if document.status == "possible" else [],
        list(blocked_blocks(document, wide=wide)),
        list(help_blocks(document, wide=wide)),
        list(certainty(document)),
        list(notice_blocks(document.notices, wide=wide)),
    ]
    together = document.status == "possible"
    found: list[Block] = []
    for number, part in enumerate(parts):
        joined = together and number == 4 and bool(document.evictions)
        if part:
            found.extend(part if not found or joined else (GAP, *part))
    return found


def _in_parts(*parts: Iterable[Block]) -> Sequence[Block]:
    """Parts with a line between them."""
    found: list[Block] = []
    for part in map(list, parts):
        if part:
            found.extend(part if not found else (GAP, *part))
    return found


def _rolling(document: DrainPlan, *, wide: bool) -> Iterator[Iterable[Block]]:
    """The table of choices, or the rounds of the shape that was asked for."""
    yield [Paragraph(headline(document), "bold")]
    if document.choices:
        yield [*drain_rounds.choice_blocks(document), *drain_rounds.bound_blocks(document)]
        yield [*drain_rounds.next_block(document), _checked(document)]
    else:
        if document.round is not None or len(document.rounds) == 1 or wide:
            yield eviction_blocks(document, wide=wide)
        if document.round is None:
            yield [*drain_rounds.round_blocks(document), *drain_rounds.bound_blocks(document)]
        yield [_checked(document)]
    yield notice_blocks(document.notices, wide=wide)


def _most(document: DrainPlan, *, wide: bool) -> Iterator[Iterable[Block]]:
    """Which nodes can go, why no more, and what a failure does then."""
    yield [
        Paragraph(headline(document), "bold"),
        drain_most.proof_block(document),
        drain_most.summary_block(document),
    ]
    yield drain_most.failure_blocks(document)
    if wide:
        yield eviction_blocks(document, wide=wide)
    yield [_checked(document)] if document.evictions else []
    yield notice_blocks(document.notices, wide=wide)


def names(document: DrainPlan) -> Iterable[str]:
    """Every pod to evict, wave by wave."""
    return (f"pod/{eviction.pod.rpartition('/')[2]}" for eviction in document.evictions)


def headline(document: DrainPlan) -> str:
    """`Drain c1: 5 evictions in 1 wave, every pod finds a place. Fewest possible.`"""
    if document.most is not None:
        return drain_most.headline(document)
    if document.status == "possible" and document.options.rolling:
        return drain_rounds.headline(document)
    nodes = named_or_counted(document.nodes, "node")
    if document.status == "impossible":
        return f"impossible: {_impossible(document, nodes)}"
    if document.status == "undecided":
        return f"undecided: no way was found to empty {nodes}, and none is excluded"
    if not document.evictions:
        return f"Drain {nodes}: nothing has to leave."
    evictions = count_of(len(document.evictions), "eviction")
    if document.part is not None:
        return f"Drain {nodes}, wave {document.part} alone: {evictions}."
    waves = count_of(sum(len(each.waves) for each in document.rounds), "wave")
    lost = sum(each.lost for each in document.evictions)
    every = "every other pod" if lost else "every pod"
    found = f"{every} finds a place" if document.converges else "if ties fall well"
    if lost:
        gone = f"{count_of(lost, 'pod does', 'pods do')} not come back"
        found = gone if lost == len(document.evictions) else f"{gone}, {found}"
    fewest = " Fewest possible." if len(document.evictions) == document.bounds.evictions else ""
    return f"Drain {nodes}: {evictions} in {waves}, {found}.{fewest}"


def _impossible(document: DrainPlan, nodes: str) -> str:
    if not document.blocked and document.at_once is not None:
        most = count_of(document.at_once.most, "node")
        return f"at most {most} can be empty together (--nodes-at-once {document.at_once.most})"
    first, number = document.blocked[0], len(document.blocked)
    pod = first.pod.partition("/")[2]
    kinds = {each.by for each in document.blocked}
    if kinds <= {"rule", "ruleBehindBudget", "volume", "unknown"}:
        are = "is" if len(document.nodes) == 1 else "are"
        have = "has" if number == 1 else "have"
        pods = f"{number} of {count_of(document.leaving, 'pod')}"
        return f"{pods} {have} no place while {nodes} {are} cordoned"
    if number > 1:
        return f"{number} of {count_of(document.leaving, 'pod')} can't leave {nodes}"
    if first.by in ("budgetNever", "budgetNow"):
        return f"the budget of {first.object.rpartition('/')[2]} keeps {pod} on {first.node}"
    if first.by == "severalBudgets":
        return f"several budgets keep {pod} on {first.node}"
    return f"{pod} can't leave {first.node}: {first.text}"


# The plan


def eviction_blocks(document: DrainPlan, *, wide: bool) -> Iterator[Block]:
    """Wave by wave, with cordons for the length of a wave."""
    if not document.evictions:
        return
    several = len({each.pod.partition("/")[0] for each in document.evictions}) > 1
    rounds = len(document.rounds) > 1
    rows: list[tuple[str, ...]] = []
    for number, each in enumerate(document.rounds, start=1):
        for wave in each.waves:
            label = f"{number}.{wave.number}" if rounds else str(wave.number)
            cordons = _some(wave.cordon, wide=wide)
            rows += [(label, f"# cordon {cordons}", "")] if cordons else []
            rows += [
                (label, *_row(eviction, several=several, wide=wide))
                for eviction in document.evictions
                if (eviction.round, eviction.wave) == (number, wave.number)
            ]
            rows += [(label, f"# uncordon {cordons}", "")] if cordons else []
    shown = rows if wide else rows[:ROWS]
    yield Table(("WAVE", "POD", "EXPECTED ON"), tuple(shown))
    if len(shown) < len(rows):
        hidden = len(rows) - len(shown)
        more = f"... ({hidden} more; -o wide shows all, -o name for scripts, -o script to run it)"
        yield Paragraph(more, "dim")


def _row(eviction: DrainEviction, *, several: bool, wide: bool) -> tuple[str, str]:
    pod = eviction.pod if several else eviction.pod.partition("/")[2]
    text = _some(eviction.expected_nodes, wide=wide)
    return pod, "does not come back" if eviction.lost else text or "waits"


def _some(nodes: Sequence[str], *, wide: bool) -> str:
    """The first few names, and how many more there are."""
    if wide or len(nodes) <= EXPECTED:
        return " ".join(nodes)
    return f"{' '.join(nodes[:EXPECTED])} +{len(nodes) - EXPECTED}"


# What is certain


def certainty(document: DrainPlan) -> Iterator[Block]:
    """What stays as it is, budgets, kubectl, and what was tried or proven."""
    if document.status == "possible":
        yield Paragraph(" ".join(_afterwards(document)))
        kubectl = kubectl_text(document)
        if kubectl:
            yield Paragraph(kubectl)
    yield from _stays(document)
    if document.status == "possible" and document.evictions:
        yield _checked(document)
    if document.proof:
        yield Paragraph(f"Proven: {'; '.join(document.proof)}.", "dim", indent=2)


def _afterwards(document: DrainPlan) -> Iterator[str]:
    stays = "stays" if len(document.nodes) == 1 else "stay"
    yield f"{named_or_counted(document.nodes, 'node')} {stays} cordoned."
    budgets = document.budgets
    if not budgets:
        return
    held = [f"{each.budget.rpartition('/')[2]} {each.down}" for each in budgets]
    allowed = {each.allowed for each in budgets}
    if len(allowed) == 1:
        of = f" (of {allowed.pop()}{' each' if len(budgets) > 1 else ''})"
        yield f"Budgets hold: {', '.join(held)}{of}."
    else:
        each_of = [f"{text} of {b.allowed}" for text, b in zip(held, budgets, strict=True)]
        yield f"Budgets hold: {', '.join(each_of)}."


def _stays(document: DrainPlan) -> Iterator[Block]:
    """Pods that stay with their node."""
    if document.stays:
        said = [f"{count_of(each.pods, 'pod')} ({each.reason})" for each in document.stays]
        yield Paragraph(f"Stay on their node: {conjoined(said)}.")


def _checked(document: DrainPlan) -> Paragraph:
    seen, seeds = document.convergence, document.checked_seeds
    if document.converges and not seeds:
        return Paragraph("Checked: carried out once, with ties broken by name.", "dim")
    if document.converges or seen is None:
        return Paragraph(
            f"Checked: {seeds} of {seeds} tie seeds, evicted pods gone or still terminating.", "dim"
        )
    well = min(seen.gone, seen.terminating)
    text = f"Does not always end well: {well} of {seeds} tie seeds do. Run wave 1 and plan again."
    return Paragraph(text, "yellow")


def help_blocks(document: DrainPlan, *, wide: bool) -> Iterator[Block]:
    """Changes with which it is possible."""
    if document.helps:
        yield Paragraph("What helps, smallest change first (each carried out on a copy):", "bold")
        for line in repair_lines(document.helps, wide=wide):
            yield Paragraph(line, indent=5)
