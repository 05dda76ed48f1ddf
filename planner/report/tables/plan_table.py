"""A `Plan` as text: what is to do, how sure that is, and what kube-scheduler would do instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.report.tables.plan_checks import checks
from planner.report.tables.plan_counts import plan_counts
from planner.report.tables.plan_next import hints
from planner.report.tables.plan_proof import proof
from planner.report.tables.plan_steps import ROWS, Steps, more
from planner.report.text.blocks import GAP, Block, Paragraph, Table
from planner.report.text.left_alone import left_alone_blocks
from planner.report.text.notices import notice_blocks
from planner.report.text.spread_bars import Spread, spread_bars
from planner.report.text.wording import name_some
from planner.words import NAMED, count_of, short_key
from planner_models.plan import Plan, PlanViolation, Unplaced, WorkloadChange


def blocks(document: Plan, *, wide: bool) -> Sequence[Block]:
    """Headline and proof, workloads, steps, what stays unplaced or broken, checks, what next."""
    parts: list[list[Block]] = [
        [Paragraph(headline(document), "bold"), proof(document)],
        list(workload_blocks(document, wide=wide)),
        *Steps(document, wide=wide).parts(),
        list(broken_blocks(document, wide=wide)),
        [*remaining_blocks(document, wide=wide), *checks(document)],
        list(hints(document)),
        list(notice_blocks(document.notices, wide=wide)),
    ]
    found: list[Block] = []
    for part in parts:
        if part:
            found.extend((GAP, *part) if found else part)
    return found


def names(document: Plan) -> Iterable[str]:
    """Every pod that is placed or evicted; of those that planner made, the workload."""
    placed = (e.workload if e.synthesised else _pod(e.pod) for e in document.placements)
    steps = (step for wave in document.waves for step in wave.steps)
    evicted = (_pod(step.pod) for step in steps if step.action == "evict" and step.pod)
    return dict.fromkeys((*placed, *evicted))


def _pod(key: str) -> str:
    return f"pod/{key.rpartition('/')[2]}"


def headline(document: Plan) -> str:
    """`Plan: 0 to place, 12 to move, 0 can't be placed. Over the limit: 27 -> 0.`"""
    pods = plan_counts(document)
    counts = [f"{pods.placed} to place", f"{pods.moved} to move"]
    if pods.returned:
        counts.append(f"{pods.returned} to evict and bring back")
    if document.displaced:
        counts.append(f"{len(document.displaced)} to give way")
    counts.append(f"{len(document.unplaced)} can't be placed{_until(document.unplaced)}")
    text = f"Plan: {', '.join(counts)}{_aside(document.left_aside)}.{_each(document, pods.placed)}"
    if document.options.relax:
        rules = len({violation.constraint for violation in document.broken})
        weight = sum(violation.count - violation.allowed for violation in document.broken)
        return f"{text} {count_of(rules, 'rule')} broken, weight {weight}."
    if document.excess_before or document.excess_after:
        over = f"{document.excess_before} -> {document.excess_after}"
        return f"{text} Over the limit: {over}."
    return text


def _until(pods: Sequence[Unplaced]) -> str:
    """No plan counts on the end of terminating pods, which need no step of one."""
    soon = sum(bool(pod.soon) for pod in pods)
    if not soon:
        return ""
    return f" ({count_of(soon, 'runs', 'run')} once terminating pods are gone)"


def _each(document: Plan, placed: int) -> str:
    """What a pod costs, where there are more than are shown."""
    if document.evictions_per_placed_pod is None or placed <= ROWS:
        return ""
    return f" {document.evictions_per_placed_pod:g} evictions for each pod placed."


def _aside(pods: Sequence[Unplaced]) -> str:
    if not pods:
        return ""
    what = "gated pod" if all(pod.gated for pod in pods) else "pod"
    return f" ({count_of(len(pods), what)} left aside)"


def workload_blocks(document: Plan, *, wide: bool) -> Iterator[Block]:
    """Counts per zone before and after, where something moves; what changes comes first."""
    if not any(workload.moved for workload in document.workloads):
        return
    rows = sorted(document.workloads, key=lambda w: not (w.placed or w.moved or w.unplaced))
    shown = rows if wide else rows[:ROWS]
    several = len({workload.namespace for workload in rows}) > 1
    table = Table(
        ("WORKLOAD", "NOW", "AFTER", "MOVES", "BUDGET", "NOTE"),
        tuple(_workload_row(workload, several) for workload in shown),
        tuple("yellow" if workload.moved else "" for workload in shown),
    )
    key, domains = rows[0].topology_key, rows[0].domains
    if key is not None and len(domains) <= NAMED:
        indent = max(len("WORKLOAD"), *(len(row[0]) for row in table.rows)) + 2
        yield Paragraph(f"{' ' * indent}{short_key(key)} {'/'.join(domains)}", indent=indent)
    yield table
    yield from more(len(rows) - len(shown), "workload")
    if wide:
        yield from (GAP, *bars(rows, several=several))


def bars(workloads: Sequence[WorkloadChange], *, several: bool) -> Iterator[Block]:
    """Counts before and after against what hard spread constraints allow, where something moves."""
    return spread_bars(
        (
            Spread(
                name=f"{_name(workload, several)} {when}",
                topology_key=workload.topology_key or "",
                domains=workload.domains,
                counts=counts,
                limit=min(counts) + workload.max_skew,
            )
            for workload in workloads
            if workload.max_skew is not None and workload.moved
            for when, counts in (("now", workload.before), ("after", workload.after))
        ),
        wide=True,
    )


def _name(workload: WorkloadChange, several: bool) -> str:
    return f"{workload.namespace}/{workload.workload}" if several else workload.workload


def _workload_row(workload: WorkloadChange, several: bool) -> tuple[str, ...]:
    mark = " "
    if workload.placed or workload.moved or workload.unplaced:
        mark = "~" if workload.moved else "+" if workload.placed else "!"
    name = _name(workload, several)
    budget = "none" if workload.budget is None else str(workload.budget)
    return (
        f"{mark} {name}",
        _counts(workload.before),
        _counts(workload.after),
        f"{workload.moved:>{len('MOVES')}}",
        f"{budget:>{len('BUDGET')}}",
        workload.note,
    )


def _counts(counts: Sequence[int]) -> str:
    """`6/6/0`; from seven domains on only how far they are apart."""
    if len(counts) <= NAMED:
        return "/".join(map(str, counts)) or "-"
    return f"{min(counts)} to {max(counts)}"


def broken_blocks(document: Plan, *, wide: bool) -> Iterator[Block]:
    """What a relaxed plan breaks, with what would make it legal."""
    if not document.broken:
        return
    shown = document.broken if wide else document.broken[:ROWS]
    yield Table(
        ("BROKEN RULE", "WHERE", "HAVE", "ALLOWED", "OVER", "TO MAKE IT LEGAL"),
        tuple(_broken_row(violation) for violation in shown),
    )
    yield from more(len(document.broken) - len(shown), "broken rule")
    pods = sum(bool(placement.breaks) for placement in document.placements)
    if pods:
        these = "this pod" if pods == 1 else f"these {pods} pods"
        yield Paragraph(f"kube-scheduler refuses {these} until the rules are changed.")


def _broken_row(violation: PlanViolation) -> tuple[str, ...]:
    have = str(violation.count)
    if violation.minimum is not None:
        have = f"{violation.count} (minimum {violation.minimum})"
    elif violation.rule == "podAntiAffinity":
        have = count_of(violation.count, f"{violation.workload.partition('/')[2]} pod")
    return (
        violation.constraint,
        violation.domain,
        have,
        str(violation.allowed),
        str(violation.count - violation.allowed),
        violation.remedy or "",
    )


def remaining_blocks(document: Plan, *, wide: bool) -> Iterator[Block]:
    """Rules that stay broken by running pods, and pods that nobody may move."""
    if not document.options.relax and document.violations:
        yield _still_broken(document, wide=wide)
    waiting = len(document.unplaced)
    yield from left_alone_blocks(
        document.protected, document.left_alone, waiting=waiting, wide=wide
    )


def _still_broken(document: Plan, *, wide: bool) -> Block:
    found = [
        f"{v.constraint} {v.domain} ({v.count}, allowed {v.allowed})" for v in document.violations
    ]
    text = ", ".join(found) if wide else name_some(found)
    return Paragraph(f"Still broken: {text}.", "red")
