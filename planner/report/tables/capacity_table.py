"""A `Capacity` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.tables.scale_up_words import in_short
from planner.report.text.blocks import GAP, Block, Paragraph, Table
from planner.report.text.notices import notice_blocks
from planner.words import conjoined, count_of, plain_amount, resource_word, short_key
from planner_models.capacity import (
    Capacity,
    CapacityLine,
    CurvePoint,
    DomainCount,
    StopReason,
    Survival,
)
from planner_models.node import HOSTNAME

SPREAD = " spread"
SHOWN = 6
"""Domains whose counts are shown one by one."""


def blocks(document: Capacity, *, wide: bool) -> Sequence[Block]:
    """One workload in full, or a line for each of several."""
    found: list[Block]
    if not document.lines:
        found = [Paragraph("No workload can be given more pods.", "bold")]
    elif len(document.lines) == 1:
        found = list(_single(document))
    else:
        found = [
            _overview(document),
            Paragraph("Each alone, not together; kube-scheduler's own placement."),
            *_ties(document),
        ]
    for text in document.not_counted:
        found.append(Paragraph(f"Not counted: {text}", indent=2))
    if document.notices:
        found.extend((GAP, *notice_blocks(document.notices, wide=wide)))
    return found


def _ties(document: Capacity) -> Iterator[Block]:
    loose = [each.survive for each in document.lines if _ties_decide(each.survive)]
    if loose:
        seeds = min(each.checked_seeds for each in loose if each is not None)
        told = f"The lower number stands all {seeds} tie seeds that were tried"
        yield Paragraph(f"{told}; up to the higher one ties decide.")


def _ties_decide(survive: Survival | None) -> bool:
    return survive is not None and survive.at_best > survive.count


def names(document: Capacity) -> Iterable[str]:
    """`deploy/api=50`, a line each."""
    return (f"{subject(line)}={line.now.count}" for line in document.lines)


def subject(line: CapacityLine) -> str:
    """`deploy/api`, or a mix: `2 deploy/web + deploy/db`."""
    return " + ".join(
        each.workload if each.ratio == 1 else f"{each.ratio} {each.workload}"
        for each in line.subject
    )


def headline(document: Capacity) -> str:
    """The answer in a sentence, for one workload."""
    if len(document.lines) != 1:
        return f"Room for more pods of {count_of(len(document.lines), 'workload')}"
    line = document.lines[0]
    count, name = line.now.count, _name(line)
    if not count:
        return f"0 {name} fit now: {line.now.limited or _no_room(line, document.nodes)}."
    total = f" ({line.subject[0].running + count} in all)" if len(line.subject) == 1 else ""
    end = line.now.limited or f"The next one stops at {_why(line, document.nodes)}"
    verb = "fits" if count == 1 else "fit"
    return f"{count} more {name} {verb} now{total}. {end}."


def _no_room(line: CapacityLine, nodes: int) -> str:
    """`no node has 3 CPU free (the most is 2.65 on c4), though 29.05 CPU are free in all`."""
    room = line.now.largest_room
    if room is None:
        return _why(line, nodes)
    asked, most, free = (
        plain_amount(room.resource, number) for number in (room.asked, room.most, room.free)
    )
    word = resource_word(room.resource)
    more = f". Moving other pods makes room for {line.curve[-1].count}" if line.curve else ""
    return (
        f"no node has {asked} {word} free (the most is {most} on {room.node}), though {free} "
        f"{word} are free in all{more}"
    )


def _name(line: CapacityLine) -> str:
    if len(line.subject) > 1:
        return f"sets of {subject(line)}"
    return f"{line.subject[0].workload.partition('/')[2]} pods"


def _why(line: CapacityLine, nodes: int) -> str:
    who = f"{line.now.stopped_by}, " if line.now.stopped_by else ""
    return who + (conjoined([_stop(stop, nodes) for stop in _decisive(line, nodes)]) or "no node")


def _decisive(line: CapacityLine, nodes: int) -> Sequence[StopReason]:
    """What stops the next pod: of rules that refuse every node by themselves, only these."""
    everywhere = [stop for stop in line.now.stops_at if stop.nodes == nodes]
    return everywhere or line.now.stops_at


def _rules(line: CapacityLine, nodes: int) -> str:
    """`CPU, zone and hostname spread`."""
    rules = [stop.rule for stop in _decisive(line, nodes)]
    spread = [rule.removesuffix(SPREAD) for rule in rules if rule.endswith(SPREAD)]
    others = [rule for rule in rules if not rule.endswith(SPREAD)]
    return ", ".join([*others, *([f"{conjoined(spread)}{SPREAD}"] if spread else [])])


def _stop(stop: StopReason, nodes: int) -> str:
    where = f"all {nodes}" if stop.nodes == nodes else f"{stop.nodes} of {nodes}"
    return f"{stop.rule} on {where} nodes"


def _single(document: Capacity) -> Iterator[Block]:
    line = document.lines[0]
    yield Paragraph(headline(document), "bold")
    yield GAP
    key = document.topology_key
    title = f"PER {'NODE' if key == HOSTNAME else short_key(key).upper()}" if key else ""
    yield Table(("", "MORE", title, ""), tuple(_rows(line, document.nodes)), right=frozenset((1,)))
    if line.curve:
        yield GAP
        yield curve_table(line)
    told = [*_remarks(line), *([_survives(line.survive)] if line.survive is not None else ())]
    if told:
        yield GAP
        yield from map(Paragraph, told)


def _rows(line: CapacityLine, nodes: int) -> Iterator[tuple[str, ...]]:
    now, best, bound = line.now, line.best, line.bound
    stops = _rules(line, nodes) or now.limited
    yield ("kube-scheduler, as it is", str(now.count), _domains(now.per_domain), stops)
    if best is not None:
        proof = "proven" if best.status == "proven" else f"at most {best.bound}"
        same = (
            ": kube-scheduler is best"
            if best.count == now.count and best.status == "proven"
            else ""
        )
        yield ("best choice of nodes", str(best.count), "", f"{proof}{same}")
    if line.within is not None:
        proven = line.within.status == "proven"
        proof = "proven the most" if proven else f"at most {line.within.bound}"
        what = f"with up to {count_of(line.within.moves, 'move')} of others"
        yield (what, str(line.within.count), "", proof)
    elif line.curve:
        last = line.curve[-1]
        proof = "proven the fewest moves" if last.status == "proven" else _open(last)
        moves = count_of(last.moves, "move")
        yield (f"with {moves} of other pods", str(last.count), _domains(last.per_domain), proof)
    if bound is not None:
        yield ("no more than", str(bound.count), "", bound.why)
    if line.survive is not None:
        survive = line.survive
        what = f"and survive the loss of a {survive.kind}"
        ties = f"to {survive.at_best}, as ties fall" if _ties_decide(survive) else ""
        yield (what, str(survive.count), _domains(survive.per_domain), ties)


def _open(point: CurvePoint) -> str:
    return f"at least {count_of(point.at_least, 'move')}"


def _survives(survive: Survival) -> str:
    """What was tried, and where it ends."""
    fails, now = survive.fails_at, survive.fails_now
    lost = f"losing a {survive.kind} (nodes {survive.manner})"
    if now is not None:
        return f"Already now {lost} leaves pods waiting: {now.domain} {now.waiting}."
    if not survive.checked_seeds:
        return (
            f"About {survive.count}: so many find room after {lost}, each {survive.kind} tried. "
            "The cluster is too large to place them before, number by number."
        )
    several = survive.checked_seeds > 1
    seeds = count_of(survive.checked_seeds, "tie seed")
    told = f"{survive.count} more stand {lost} in {'all ' if several else ''}{seeds}"
    if fails is not None and fails.domain:
        waiting = f"{count_of(fails.waiting, 'pod')} waiting{' in one of them' if several else ''}"
        told += f"; with {fails.count} losing {fails.domain} leaves {waiting}"
    silent = survive.silent_now
    if silent is not None:
        told += (
            f". While its nodes are only unreachable, {count_of(silent.waiting, 'pod')} of "
            f"{silent.domain} {'waits' if silent.waiting == 1 else 'wait'} already now: "
            f"planner whatif --each {survive.kind}"
        )
    return f"{told}."


def curve_table(line: CapacityLine) -> Table:
    """More pods against moves of others."""
    rows = tuple(
        (
            str(point.count),
            str(point.moves),
            "proven the fewest" if point.status == "proven" else _open(point),
        )
        for point in line.curve
    )
    return Table(("MORE PODS", "MOVES", ""), rows, right=frozenset((0, 1)))


def _remarks(line: CapacityLine) -> Iterator[str]:
    yield from line.remarks
    for each in line.cost:
        pods = count_of(each.count, "pod" if len(line.subject) == 1 else "set")
        instead = f"Instead of {count_of(each.moves, 'move')} for" if each.moves else "For"
        yield f"{instead} {pods}: {in_short(each.nodes)}."
    reached = max((point.count for point in line.curve), default=line.now.count)
    best = max(reached, 0 if line.best is None else line.best.count)
    if line.bound is not None and line.curve and not line.within and line.bound.count > best:
        first = best + 1
        numbers = str(first) if first == line.bound.count else f"{first} to {line.bound.count}"
        yield f"{numbers}: not found, and not excluded by more than the sum."


def _domains(per_domain: Sequence[DomainCount]) -> str:
    counts = [each.count for each in per_domain]
    if len(counts) <= SHOWN:
        return "/".join(map(str, counts))
    return f"{min(counts)} to {max(counts)} each"


def _overview(document: Capacity) -> Table:
    survive = any(line.survive is not None for line in document.lines)
    kind = next((line.survive.kind for line in document.lines if line.survive is not None), "")
    header = ("WORKLOAD", "NOW", "MORE", "STOPS AT")
    rows = [
        (
            subject(line),
            str(sum(each.running for each in line.subject)),
            str(line.now.count),
            _rules(line, document.nodes) or line.now.limited,
            *((_between(line.survive),) if survive else ()),
        )
        for line in document.lines
    ]
    return Table(
        (*header, f"AND SURVIVE A {kind.upper()} LOSS") if survive else header,
        tuple(rows),
        right=frozenset((1, 2, 4)),
    )


def _between(survive: Survival | None) -> str:
    """`21`, or `21-22` where ties decide."""
    if survive is None:
        return "-"
    ties = f"-{survive.at_best}" if _ties_decide(survive) else ""
    return f"{survive.count}{ties}"
