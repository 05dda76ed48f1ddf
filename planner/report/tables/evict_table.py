"""An `EvictionPlan` as text: what to evict, how sure the outcome is, and what others would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.text.blocks import GAP, Block, Paragraph, Style, Table
from planner.report.text.left_alone import left_alone_blocks
from planner.report.text.notices import notice_blocks
from planner.report.text.wording import name_some
from planner.words import conjoined, count_of
from planner_models.evictions import (
    Baseline,
    DeschedulerRound,
    EvictionPlan,
    EvictionWave,
    LikeDescheduler,
    PlannedEviction,
)
from planner_models.plan import PlanViolation

ROWS = 20
EXPECTED = 4
REASONS = 3
"""So many reasons why nodes are not emptied are told; `wide` tells all."""
"""So many nodes are named in a cell."""
SPREAD = "RemovePodsViolatingTopologySpreadConstraint"
_TITLES = {
    SPREAD: "topology spread strategy",
    "RemovePodsViolatingNodeAffinity": "node affinity strategy",
    "RemovePodsViolatingNodeTaints": "node taints strategy",
    "RemovePodsViolatingInterPodAntiAffinity": "anti-affinity strategy",
}


def blocks(document: EvictionPlan, *, wide: bool) -> Sequence[Block]:
    """Headline and how sure it is, evictions, what stays, and the comparison."""
    if document.like_descheduler is not None:
        parts = _rounds_parts(document, document.like_descheduler, wide=wide)
    else:
        parts = [
            [Paragraph(headline(document), "bold"), *certainty(document)],
            list(eviction_blocks(document, wide=wide)),
            list(remaining_blocks(document, wide=wide)),
        ]
    parts += [list(comparison(document)), list(notice_blocks(document.notices, wide=wide))]
    found: list[Block] = []
    for part in parts:
        if part:
            found.extend((GAP, *part) if found else part)
    return found


def names(document: EvictionPlan) -> Iterable[str]:
    """Every pod to evict, wave by wave."""
    return (f"pod/{eviction.pod.rpartition('/')[2]}" for eviction in document.evictions)


def headline(document: EvictionPlan) -> str:
    """`Evict 12 pods in 4 waves; kube-scheduler then repairs the spread itself.`"""
    if not document.evictions:
        if document.after.excess:
            return "Nothing that may be evicted would help."
        return f"Nothing to evict: {_nothing(document)}."
    pods = count_of(len(document.evictions), "pod")
    if document.part is not None:
        part = document.part
        return f"Wave {part.wave} of {part.waves}: evict {pods} of {part.evictions}."
    waves = count_of(len(document.waves), "wave")
    return f"Evict {pods} in {waves}; kube-scheduler then {_then(document)} itself."


def _then(document: EvictionPlan) -> str:
    before, after = document.before.excess, document.after.excess
    if document.options.goals != ("spread",) or after > before:
        return "places it anew" if len(document.evictions) == 1 else "places them anew"
    return "repairs part of the spread" if after else "repairs the spread"


def _nothing(document: EvictionPlan) -> str:
    """Why nothing is evicted; pods that wait are named, for they are no broken rule."""
    waiting = document.after.pending
    if not waiting:
        return "there is nothing to repair"
    goals = name_some([*document.options.goals, *document.options.nodes])
    who = "it" if waiting == 1 else "them"
    none = "no allowed eviction" if document.left_alone else "no eviction"
    proven = f"{none} lets {who} run" if document.fewest else f"{none} was found for {who}"
    pods = count_of(waiting, "pod stays", "pods stay")
    return f"no rule is broken that --for {goals} repairs. {pods} pending, and {proven}"


def only_drains(document: EvictionPlan) -> bool:
    """Whether nodes are to be emptied, and no rule was to be repaired."""
    return bool(document.options.nodes) and not document.options.goals


def certainty(document: EvictionPlan) -> Iterator[Block]:
    """What the evictions reach, and whether ties matter."""
    if not document.evictions:
        if document.before.excess:
            yield Paragraph(_counts(document))
        return
    seen, seeds = document.convergence, document.checked_seeds
    whole = document.part is None
    if document.converges:
        so = "Converges" if whole else "The whole plan converges"
        text = (
            f"{so}: in {seeds} of {seeds} tie seeds, with the evicted pod gone and with it "
            "still terminating when its replacement is placed."
        )
        yield Paragraph(f"{_counts(document)} {text}{_fewest(document)}", "green")
        return
    worst = seeds - min(seen.gone, seen.terminating)
    not_so = "Does not converge" if whole else "The whole plan does not converge"
    text = f"{not_so}: {worst} of {seeds} tie seeds end worse than planned"
    if seen.replanned is not None:
        again = f"{seen.replanned} of {seen.replanned_of}"
        text += f"; with a new plan after every wave {again} end well"
    then = "Run wave 1 and plan again (--wave 1)."
    if seen.replanned == 0:
        then = "Carry none of it out."
    yield Paragraph(f"{_counts(document)} {text}. {then}", "yellow")


def _fewest(document: EvictionPlan) -> str:
    """What is proven: that it takes as many evictions, or that more would help no further."""
    if not document.fewest or document.part is not None:
        return ""
    if not document.after.excess:
        return " No plan needs fewer evictions."
    most = document.options.limits.total
    if most is not None and most == len(document.evictions):
        return f" No plan of {count_of(most, 'eviction')} gets further (--max-evictions)."
    return " No plan gets further, or as far with fewer evictions."


def _counts(document: EvictionPlan) -> str:
    before, after, part = document.before, document.after, document.part
    what = "Over the limit"
    if only_drains(document):
        what = f"Pods that have to leave {conjoined(document.options.nodes)}"
    if part is not None:
        now = f"{what}: {part.excess_before} -> {part.excess_after} by this wave"
        return f"{now}, {after.excess} after the last one."
    text = f"{what}: {before.excess} -> {after.excess}."
    if before.pending or after.pending:
        text += f" Pending pods {before.pending} -> {after.pending}."
    return text


def eviction_blocks(document: EvictionPlan, *, wide: bool) -> Iterator[Block]:
    """Wave by wave, with the cordons around them."""
    if not document.evictions:
        return
    ways = "-o name for scripts, -o script to run it"
    yield from waves_blocks(document.evictions, document.waves, wide=wide, also=ways)


def waves_blocks(
    evictions: Sequence[PlannedEviction],
    waves: Sequence[EvictionWave],
    *,
    wide: bool,
    also: str = "-o name for scripts",
) -> Iterator[Block]:
    """A row for each eviction and cordon; `also` is where else they are."""
    rows = _rows(evictions, waves, wide=wide)
    shown = rows if wide else rows[:ROWS]
    yield Table(("WAVE", "POD", "NODE", "EXPECTED ON", "WHY"), tuple(shown))
    if len(shown) < len(rows):
        hidden = len(rows) - len(shown)
        yield Paragraph(f"... ({hidden} more; -o wide shows all, {also})", "dim")


def _rows(
    evictions: Sequence[PlannedEviction], waves: Sequence[EvictionWave], *, wide: bool
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    several = len({each.pod.partition("/")[0] for each in evictions}) > 1
    held: tuple[str, ...] = ()
    for wave in waves:
        rows += _cordons(wave, held)
        rows += [
            _row(each, several=several, wide=wide) for each in evictions if each.wave == wave.number
        ]
        held = wave.cordon if wave.hold else ()
        lifted = () if wave.hold else wave.cordon
        rows += [(str(wave.number), "# uncordon", node, "", "") for node in lifted]
    return rows


def _cordons(wave: EvictionWave, held: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What the wave before has left cordoned stays so, or is lifted once the others are set."""
    for node in wave.drain:
        yield (str(wave.number), "# cordon", node, "", "is to be emptied, stays cordoned")
    for node in wave.cordon:
        if node not in held:
            yield (str(wave.number), "# cordon", node, "", "or pods may land there")
    for node in held:
        if node not in wave.cordon:
            yield (str(wave.number), "# uncordon", node, "", "")


def _row(eviction: PlannedEviction, *, several: bool, wide: bool) -> tuple[str, ...]:
    pod = eviction.pod if several else eviction.pod.partition("/")[2]
    nodes = eviction.expected_nodes
    text = " ".join(nodes if wide else nodes[:EXPECTED])
    if not wide and len(nodes) > EXPECTED:
        text += f" +{len(nodes) - EXPECTED}"
    return (str(eviction.wave), pod, eviction.node, text or "waits", eviction.reason)


def remaining_blocks(document: EvictionPlan, *, wide: bool) -> Iterator[Block]:
    """Rules that stay broken, and pods that may not be evicted."""
    drained = document.options.nodes
    kept = [v for v in document.after.violations if v.rule == "taints" and v.domain in drained]
    if kept:
        yield Paragraph(_not_emptied(document, kept), "red")
        yield from _reasons(document, wide=wide)
    found = [
        f"{v.constraint} {v.domain} ({v.count}, allowed {v.allowed})"
        for v in document.after.violations
        if v not in kept
    ]
    if found:
        text = ", ".join(found) if wide else name_some(found)
        yield Paragraph(f"Still broken: {text}.", "red")
    told = {pod for each in document.not_emptied for pod in each.pods}
    others = [each for each in document.protected if each.pod not in told]
    waiting = document.after.pending
    yield from left_alone_blocks(others, document.left_alone, waiting=waiting, wide=wide)
    yield from _not_chosen(document, wide=wide)


def _reasons(document: EvictionPlan, *, wide: bool) -> Iterator[Block]:
    """What keeps pods on nodes that were to be emptied, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for each in document.not_emptied:
        if each.node in document.options.nodes:
            names = [pod.partition("/")[2] for pod in each.pods]
            by_reason.setdefault(each.reason, []).extend(names)
    reasons = list(by_reason.items())
    shown = reasons if wide else reasons[:REASONS]
    for reason, pods in shown:
        listed = ", ".join(pods) if wide else name_some(pods)
        yield Paragraph(f"  {listed}: {reason.rstrip('.')}.", indent=4)
    if len(shown) < len(reasons):
        hidden = count_of(len(reasons) - len(shown), "more reason")
        yield Paragraph(f"  and {hidden}; -o wide shows all", "dim")


def _not_chosen(document: EvictionPlan, *, wide: bool) -> Iterator[Block]:
    """Nodes that a consolidation looked at and left as they are."""
    found = [each for each in document.not_emptied if each.node not in document.options.nodes]
    shown = found if wide else found[:REASONS]
    if found:
        yield Paragraph(f"Can't be emptied as well: {count_of(len(found), 'node')}.")
    for each in shown:
        pod = each.pods[0].partition("/")[2]
        yield Paragraph(f"  {each.node}: {pod}: {each.reason.rstrip('.')}.", indent=4)
    if len(shown) < len(found):
        hidden = count_of(len(found) - len(shown), "more node")
        yield Paragraph(f"  and {hidden}; -o wide shows all", "dim")


def _not_emptied(document: EvictionPlan, kept: Sequence[PlanViolation]) -> str:
    """Nodes that keep pods, and what could be done where others are left alone."""
    pods: dict[str, int] = {}
    for violation in kept:
        pods[violation.domain] = pods.get(violation.domain, 0) + violation.count
    nodes = name_some([f"{node} ({count_of(count, 'pod')})" for node, count in pods.items()])
    text = f"Not emptied: {nodes}."
    stay = sum(pod.node in pods for pod in document.protected)
    if {"spread", "soft"} & set(document.options.goals) or stay >= sum(pods.values()):
        return text
    return f"{text} With --for spread beside it others may be evicted to make room."


# The comparison


def comparison(document: EvictionPlan) -> Iterator[Block]:
    """Ours beside the strategies of the descheduler, and what there is to say about these."""
    if not document.baselines:
        return
    header = ("", "EVICTIONS", "ROUNDS", "OVER", "CHECKED")
    rows: list[tuple[str, ...]] = []
    styles: list[Style] = []
    if document.like_descheduler is None:
        values = (len(document.evictions), len(document.waves), document.after.excess)
        rows.append(("planner", *_numbers(header, values), "simulated"))
        styles.append("green" if not document.after.excess else "red")
    for each in document.baselines:
        values = (each.evictions, each.rounds, each.violations_after)
        name = _TITLES.get(each.strategy, each.strategy)
        name = name if each.strategy == "planner" else f"descheduler, {name}"
        rows.append((name, *_numbers(header, values), _checked(each)))
        styles.append("red" if each.loops else "")
    yield Table(header, tuple(rows), tuple(styles))
    yield from (Paragraph(text, "dim") for text in _remarks(document))


def _checked(each: Baseline) -> str:
    if each.strategy == "planner":
        return "simulated"
    return "loops" if each.loops else "not by it"


def _numbers(header: Sequence[str], values: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{value:>{len(name)}}" for name, value in zip(header[1:], values, strict=False))


def _remarks(document: EvictionPlan) -> Iterator[str]:
    for each in document.baselines:
        if each.strategy == SPREAD and each.evictions and document.evictions:
            yield _spread_remark(document, each)
        if each.loop is not None:
            yield f"{_TITLES.get(each.strategy, each.strategy)} loops: {each.loop}."


def _spread_remark(document: EvictionPlan, each: Baseline) -> str:
    ours = len(document.evictions)
    same = f"the same {ours}" if each.evictions == ours else str(each.evictions)
    text = f"The descheduler's spread strategy needs {same} here"
    if each.refused:
        text += f". It asks for all in one run, where budgets refuse {each.refused},"
        return f"{text} and looks at no outcome."
    return f"{text}, and looks at no outcome."


# What the descheduler would do


def _rounds_parts(
    document: EvictionPlan, rounds: LikeDescheduler, *, wide: bool
) -> list[list[Block]]:
    parts: list[list[Block]] = [[*_rounds_head(document, rounds)]]
    left = ROWS
    for each in rounds.rounds:
        if left <= 0 and not wide:
            hidden = len(rounds.rounds) - each.number + 1
            parts.append([Paragraph(f"and {count_of(hidden, 'more round')}; -o wide shows all")])
            break
        parts.append(list(_round(each, left, wide=wide)))
        left -= len(each.evictions)
    parts.append(list(remaining_blocks(document, wide=wide)))
    return parts


def _rounds_head(document: EvictionPlan, rounds: LikeDescheduler) -> Iterator[Block]:
    evictions = sum(len(each.evictions) for each in rounds.rounds)
    if not rounds.rounds:
        yield Paragraph(f"The descheduler evicts nothing ({rounds.policy}).", "bold")
        return
    head = f"The descheduler evicts {count_of(evictions, 'pod')}"
    head += f" in {count_of(len(rounds.rounds), 'round')} ({rounds.policy})."
    yield Paragraph(head, "bold")
    match rounds.end:
        case "settled":
            yield Paragraph(f"{_counts(document)} Then it finds nothing more to do.", "")
        case "loop":
            yield Paragraph(f"{_counts(document)} It loops: {rounds.loop}.", "red")
        case "limit":
            yield Paragraph(f"{_counts(document)} It has not settled by then.", "yellow")


def _round(each: DeschedulerRound, left: int, *, wide: bool) -> Iterator[Block]:
    refused = f", {each.refused} refused by budgets" if each.refused else ""
    yield Paragraph(
        f"Round {each.number} ({count_of(len(each.evictions), 'eviction')}{refused})", "bold"
    )
    shown = each.evictions if wide else each.evictions[: max(left, 1)]
    rows = tuple(
        (
            eviction.pod.partition("/")[2],
            eviction.from_,
            eviction.target or ("waits" if eviction.comes_back else "does not come back"),
            _TITLES.get(eviction.strategy, eviction.strategy).removesuffix(" strategy"),
        )
        for eviction in shown
    )
    yield Table(("POD", "NODE", "COMES BACK ON", "STRATEGY"), rows)
    if len(shown) < len(each.evictions):
        hidden = len(each.evictions) - len(shown)
        yield Paragraph(f"and {count_of(hidden, 'more eviction')}; -o wide shows all", "dim")
