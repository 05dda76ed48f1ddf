"""Failures one by one: a line for each class of equal outcomes, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from planner.report.tables.whatif_words import percent, short
from planner.report.text.blocks import GAP, Block, Paragraph, Table
from planner.report.text.commands import command
from planner.report.text.wording import decimal
from planner.words import NAMED, conjoined, count_of
from planner_models.whatif import WhatIf, WhatIfSingle

ROWS = 20
"""Lines of failures that leave pods waiting; `wide` shows all."""
Manner = Literal["unreachable", "removed"]
MANNERS: tuple[Manner, ...] = ("unreachable", "removed")


def headline(document: WhatIf) -> str:
    """`15 single failures tried; 3 leave pods waiting. Worst: zone eu-1a.`"""
    singles = document.singles
    noun = "pair of failures" if document.pairs else "single failure"
    tried = count_of(len(singles), noun, "pairs of failures" if document.pairs else None)
    bad = [each for each in singles if worst(each)]
    if not bad:
        return f"{tried} tried; none leaves a pod waiting."
    verb = "leaves" if len(bad) == 1 else "leave"
    return f"{tried} tried; {len(bad)} {verb} pods waiting. Worst: {named(bad[0])}."


def worst(each: WhatIfSingle) -> int:
    """Pods that do not run, in the worse manner."""
    return max(each.waiting.values())


def named(each: WhatIfSingle) -> str:
    """`zone eu-1a`; nodes and labels by their own name."""
    return f"zone {each.domain}" if each.kind == "zone" else each.domain


def blocks(document: WhatIf, *, wide: bool) -> Iterator[Block]:
    """The table, and what follows from it."""
    manners = [each for each in MANNERS if each in document.singles[0].waiting]
    rows = list(_rows(document.singles, wide=wide))
    header = ("LOSE", "PODS DOWN", *map(str.upper, manners), "HIT HARDEST", "CPU THEN")
    yield Paragraph("Pods that wait then, by what becomes of the nodes that fail:")
    yield Table(
        header,
        tuple((name, *_cells(same, manners)) for name, same in rows),
        tuple("red" if any(map(worst, same)) else "" for _, same in rows),
        right=frozenset(range(1, len(manners) + 2)),
    )
    yield GAP
    yield from map(Paragraph, _remarks(document))


def _rows(
    singles: Sequence[WhatIfSingle], *, wide: bool
) -> Iterator[tuple[str, Sequence[WhatIfSingle]]]:
    """Classes with pods that wait; of the others those with the largest loss, and the rest."""
    bad = list(_classes([each for each in singles if worst(each)]))
    shown = bad if wide else bad[:ROWS]
    yield from ((_names(same), same) for same in shown)
    rest = [each for same in bad[len(shown) :] for each in same]
    if rest:
        yield f"{len(rest)} others", rest
    kinds = dict.fromkeys(each.kind for each in singles)
    for kind in kinds:
        good = [each for each in singles if each.kind == kind and not worst(each)]
        most = max((_share(each) for each in good), default=0)
        first = [each for each in good if wide or _share(each) == most]
        classes = list(_classes(first))
        if len(classes) > NAMED and not wide:
            classes, first = [], []
        yield from ((_names(same), same) for same in classes)
        left = [each for each in good if each not in first]
        if left:
            noun = "node" if kind == "node" else "domain"
            other = f"other {noun}" if first or bad else noun
            yield count_of(len(left), other), left


def _share(each: WhatIfSingle) -> float:
    return each.hardest.down / max(1, each.hardest.of) if each.hardest is not None else 0


def _classes(singles: Sequence[WhatIfSingle]) -> Iterator[Sequence[WhatIfSingle]]:
    """Equal lines together; zones each have their own."""

    def key(each: WhatIfSingle) -> tuple[object, ...]:
        alone = each.domain if each.kind != "node" else ""
        hit = each.hardest
        who = (hit.workload, hit.down, hit.of) if hit is not None else ()
        numbers = tuple(-number for number in each.waiting.values())
        return -worst(each), numbers, -each.pods_down, alone, str(who), percent(each.requested)

    for _, same in groupby(sorted(singles, key=key), key=key):
        yield list(same)


def _names(same: Sequence[WhatIfSingle]) -> str:
    names = [named(each) for each in same]
    return (
        ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"
    )


def _cells(same: Sequence[WhatIfSingle], manners: Sequence[Manner]) -> Iterator[str]:
    yield _range([each.pods_down for each in same])
    for manner in manners:
        yield _range([each.waiting[manner] for each in same])
    hardest = max(same, key=lambda each: (worst(each), _share(each)))
    hit = hardest.hardest
    yield "-" if hit is None else f"{short(hit.workload, kind=False)} {hit.down} of {hit.of}"
    most = max(same, key=lambda each: each.requested.used / max(1, each.requested.allocatable))
    yield f"{percent(most.requested)} of {decimal(most.requested.allocatable, 1000)}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}-{high}"


def _remarks(document: WhatIf) -> Iterator[str]:
    nodes = [each for each in document.singles if each.kind == "node"]
    if nodes and not document.pairs and not any(map(worst, nodes)):
        sure = all(each.certified for each in nodes)
        seeds = min((each.seeds for each in nodes if not each.certified), default=0)
        ties = "whatever the ties" if sure else f"in {count_of(seeds, 'tie seed')}"
        yield f"No single node matters: every pod finds a place elsewhere, {ties}."
    elif nodes and not document.pairs:
        counted = sum(each.certified for each in nodes)
        if counted == len(nodes):
            yield "These numbers are counted: they hold whatever the ties."
        elif counted:
            yield (
                f"{counted} of {len(nodes)} nodes are counted, whatever the ties; "
                f"{len(nodes) - counted} simulated."
            )
    domains = [each for each in document.singles if each.kind != "node" and worst(each)]
    if domains and not document.pairs:
        first = domains[0]
        word = f"zone/{first.domain}" if first.kind == "zone" else first.domain
        yield f"Why, and what helps: {command('whatif', '--lose', word)}"
    loose = [named(each) for each in document.singles if not each.agree]
    if loose:
        yield f"Ties matter for {conjoined(loose[:NAMED])}: the worst draw is shown."
    if document.not_tried:
        what = "pair" if document.pairs else "failure"
        verb = "was" if document.not_tried == 1 else "were"
        yield (
            f"{count_of(document.not_tried, what)} {verb} not tried: those with the most pods were."
        )
