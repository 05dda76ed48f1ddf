"""A `Capacity` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.text.blocks import GAP, Block, Paragraph, Table
from planner.report.text.notices import notice_blocks
from planner.words import conjoined, count_of
from planner_models.capacity import Capacity, CapacityLine, CurvePoint, StopReason, Survival

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
        ]
    for text in document.not_counted:
        found.append(Paragraph(f"Not counted: {text}", indent=2))
    if document.notices:
        found.extend((GAP, *notice_blocks(document.notices, wide=wide)))
    return found


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
        return f"0 {name} fit now: {_why(line, document.nodes)}."
    total = f" ({line.subject[0].running + count} in all)" if len(line.subject) == 1 else ""
    end = line.now.limited or f"The next one stops at {_why(line, document.nodes)}"
    verb = "fits" if count == 1 else "fit"
    return f"{count} more {name} {verb} now{total}. {end}."


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


def _stop(stop: StopReason, nodes: int) -> str:
    where = f"all {nodes}" if stop.nodes == nodes else f"{stop.nodes} of {nodes}"
    return f"{stop.rule} on {where} nodes"


def _single(document: Capacity) -> Iterator[Block]:
    line = document.lines[0]
    yield Paragraph(headline(document), "bold")
    yield GAP
    yield Table(
        ("", "MORE", "PER ZONE" if document.topology_key else "", "REMARK"), tuple(_rows(line))
    )
    if line.curve:
        yield GAP
        yield curve_table(line)
    for text in _remarks(line):
        yield Paragraph(text)


def _rows(line: CapacityLine) -> Iterator[tuple[str, ...]]:
    now, best, bound = line.now, line.best, line.bound
    stops = ", ".join(stop.rule for stop in now.stops_at)
    yield ("kube-scheduler, as it is", str(now.count), _domains(line), stops or now.limited)
    if best is not None:
        proof = "proven" if best.status == "proven" else f"at most {best.bound}"
        same = (
            ": kube-scheduler is best"
            if best.count == now.count and best.status == "proven"
            else ""
        )
        yield ("best choice of nodes", str(best.count), "", f"{proof}{same}")
    if line.curve:
        last = line.curve[-1]
        proof = "proven the fewest moves" if last.status == "proven" else _open(last)
        moves = count_of(last.moves, "move")
        yield (f"with {moves} of other pods", str(last.count), "", proof)
    if bound is not None:
        yield ("no more than", str(bound.count), "", bound.why)
    if line.survive is not None:
        what = f"and survive the loss of a {line.survive.kind}"
        yield (what, str(line.survive.count), "", _survives(line.survive))


def _open(point: CurvePoint) -> str:
    return f"at least {count_of(point.at_least, 'move')}"


def _survives(survive: Survival) -> str:
    if survive.fails_now is not None:
        fails = survive.fails_now
        return f"{fails.domain} lost leaves {count_of(fails.waiting, 'pod')} waiting already now"
    told = f"nodes {survive.manner}, {count_of(survive.checked_seeds, 'tie seed')}"
    if survive.fails_at is not None and survive.fails_at.domain:
        told += f"; {survive.fails_at.count} fail with {survive.fails_at.domain}"
    return told


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
    reached = max((point.count for point in line.curve), default=line.now.count)
    best = max(reached, 0 if line.best is None else line.best.count)
    if line.bound is not None and line.curve and line.bound.count > best:
        first = best + 1
        numbers = str(first) if first == line.bound.count else f"{first} to {line.bound.count}"
        yield f"{numbers}: not found, and not excluded by more than the sum."


def _domains(line: CapacityLine) -> str:
    counts = [each.count for each in line.now.per_domain]
    if len(counts) <= SHOWN:
        return "/".join(map(str, counts))
    return f"{min(counts)} to {max(counts)}"


def _overview(document: Capacity) -> Table:
    survive = any(line.survive is not None for line in document.lines)
    kind = next((line.survive.kind for line in document.lines if line.survive is not None), "")
    header = ("WORKLOAD", "NOW", "MORE", "STOPS AT")
    rows = [
        (
            subject(line),
            str(sum(each.running for each in line.subject)),
            str(line.now.count),
            ", ".join(stop.rule for stop in _decisive(line, document.nodes)) or line.now.limited,
            *((str(line.survive.count) if line.survive else "-",) if survive else ()),
        )
        for line in document.lines
    ]
    return Table(
        (*header, f"AND SURVIVE A {kind.upper()} LOSS") if survive else header,
        tuple(rows),
        right=frozenset((1, 2, 4)),
    )
