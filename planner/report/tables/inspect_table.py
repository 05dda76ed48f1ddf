"""An `Inspection` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.documents.inspection import count_kinds
from planner.report.text.blocks import GAP, NO_BREAK, Block, Paragraph, Table
from planner.report.text.commands import command
from planner.report.text.notices import notice_blocks
from planner.report.text.spread_bars import Spread, spread_bars
from planner.report.text.wording import name_some, part_of, short_name
from planner.words import NAMED, count_of, short_key
from planner_models.inspection import (
    Flavour,
    Inspection,
    NodeInspection,
    SpreadViolation,
    Utilisation,
    WorkloadInspection,
    WorkloadName,
    ZoneInspection,
)
from planner_models.node import ZONE
from planner_models.resources import CPU, MEMORY, PODS

ROWS = 20
"""How many rows a table shows; `wide` shows all."""

NEXT = f"Next: {command('evict')}, or {command('solve', '--rebalance')}."

_Keys = frozenset[tuple[str, str, str]]


def blocks(document: Inspection, *, wide: bool) -> Sequence[Block]:
    """Summary, zones, workloads, what is not steady, what has no budget, notices."""
    found: list[Block] = [Paragraph(headline(document), "bold")]
    if document.nodes.total:
        found.append(Paragraph(f"Requested: {requested_text(document.utilisation)}"))
        found.append(Paragraph(f"Flavours: {_flavours(document.nodes.flavours)}"))
    if document.nodes.zones:
        found.extend((GAP, zone_table(document.nodes.zones, wide=wide)))
    if document.workloads:
        found.extend((GAP, *workload_blocks(document, wide=wide)))
    if document.spread.violations:
        found.extend((GAP, *bars(document, wide=wide)))
    found.extend((GAP, steadiness(document)))
    if document.without_budget:
        found.append(Paragraph(unbudgeted(document)))
    if document.spread.violations:
        found.append(Paragraph(NEXT, "cyan", indent=6))
    if document.notices:
        found.extend((GAP, *notice_blocks(document.notices, wide=wide)))
    return found


def names(document: Inspection) -> Iterable[str]:
    """Every workload."""
    return map(short_name, document.workloads)


def headline(document: Inspection) -> str:
    """`12 nodes in 3 zones; 51 pods running, 0 pending; 7 Deployments, 3 budgets`."""
    kinds = [
        count_of(number, "bare pod") if kind == "Pod" else count_of(number, kind)
        for kind, number in count_kinds(document.workloads)
    ]
    if document.budgets:
        kinds.append(count_of(document.budgets, "budget"))
    parts = [_nodes(document), _pods(document), ", ".join(kinds)]
    return "; ".join(part for part in parts if part)


def _nodes(document: Inspection) -> str:
    nodes = document.nodes
    text = count_of(nodes.total, "node")
    zones = [zone for zone in nodes.zones if zone.zone is not None]
    if zones:
        text += f" in {count_of(len(zones), 'zone')}"
    remarks = [
        f"{sum(z.nodes for z in nodes.zones if z.zone is None)} without a zone",
        _cordoned(nodes),
        f"{nodes.not_ready} not ready",
    ]
    remarks = [remark for remark in remarks if not remark.startswith("0 ")]
    if nodes.zone_key not in (None, ZONE):
        remarks.insert(0, f"label {nodes.zone_key}")
    return f"{text} ({', '.join(remarks)})" if remarks else text


def _cordoned(nodes: NodeInspection) -> str:
    """`2 cordoned, by planner: b1 b4`: whoever forgets these has less room than he thinks."""
    ours = nodes.cordoned_by_planner
    return f"{nodes.cordoned} cordoned" + (f", by planner: {' '.join(ours)}" if ours else "")


def _pods(document: Inspection) -> str:
    pods = document.pods
    waiting = [
        f"{number} {what}"
        for number, what in ((pods.gated, "gated"), (pods.synthesised, "made from templates"))
        if number
    ]
    pending = f"{pods.pending} pending" + (f" ({', '.join(waiting)})" if waiting else "")
    more = [
        f"{number} {what}"
        for number, what in (
            (pods.terminating, "terminating"),
            (pods.elsewhere, "on unknown nodes"),
            (pods.finished, "finished"),
            (pods.other_scheduler, "of another scheduler"),
        )
        if number
    ]
    return ", ".join((f"{count_of(pods.running, 'pod')} running", pending, *more))


def requested_text(utilisation: Iterable[Utilisation]) -> str:
    """`18.95 of 48 CPU (39%), 29.5 of 192Gi (15%), 51 of 384 pods`."""
    parts = []
    for use in utilisation:
        amount = part_of(use.requested, use.allocatable, use.unit)
        unit = {CPU: " CPU", MEMORY: ""}.get(use.resource, f" {use.resource}")
        share = "" if use.resource == PODS or use.percent is None else f" ({use.percent}%)"
        parts.append(f"{amount}{unit}{share}")
    return ", ".join(parts)


def _flavours(flavours: Sequence[Flavour]) -> str:
    return name_some([f"{flavour.nodes} x {flavour.name}" for flavour in flavours])


def zone_table(zones: Sequence[ZoneInspection], *, wide: bool) -> Table:
    """A row per zone."""
    extended = sorted(
        {use.resource for zone in zones for use in zone.utilisation} - {CPU, MEMORY, PODS}
    )
    shown = (CPU, MEMORY, *(extended if wide else ()))
    more = ("FLAVOURS",) if wide else ()
    rows = []
    for zone in zones:
        uses = {use.resource: use for use in zone.utilisation}
        cells = [_use(uses[name]) if name in uses else "" for name in shown]
        flavours = (_flavours(zone.flavours),) if wide else ()
        rows.append((zone.zone or "(none)", str(zone.nodes), str(zone.pods), *cells, *flavours))
    return Table(("ZONE", "NODES", "PODS", *(n.upper() for n in shown), *more), tuple(rows))


def _use(use: Utilisation) -> str:
    amount = part_of(use.requested, use.allocatable, use.unit)
    return amount if use.percent is None else f"{amount} ({use.percent}%)"


def workload_blocks(document: Inspection, *, wide: bool) -> Iterator[Block]:
    """All of them, or those that wait or are not steady first."""
    uneven = _uneven(document.spread.violations)
    workloads = document.workloads
    shown: Sequence[WorkloadInspection] = workloads
    if not wide and len(workloads) > ROWS:
        ordered = sorted(workloads, key=lambda w: not (w.pending or _key(w) in uneven))
        chosen = {_key(workload) for workload in ordered[:ROWS]}
        shown = [workload for workload in workloads if _key(workload) in chosen]
    yield _workload_table(shown, uneven, _several_namespaces(workloads), wide=wide)
    if len(shown) < len(workloads):
        hidden = count_of(len(workloads) - len(shown), "more workload")
        yield Paragraph(f"and {hidden}; -o wide shows all", "dim")


def _workload_table(
    workloads: Sequence[WorkloadInspection], uneven: _Keys, namespaces: bool, *, wide: bool
) -> Table:
    """Columns that would be empty or 0 in every row are left out, unless `wide` asks for them."""
    ending = wide or any(w.terminating for w in workloads)
    elsewhere = wide or any(w.elsewhere for w in workloads)
    columns = (
        (namespaces, "NAMESPACE", lambda w: w.namespace),
        (True, "WORKLOAD", short_name),
        (True, "DESIRED", lambda w: "-" if w.desired is None else str(w.desired)),
        (True, "RUNNING", lambda w: str(w.running)),
        (True, "PENDING", lambda w: str(w.pending)),
        (ending, "TERMINATING", lambda w: str(w.terminating)),
        (elsewhere, "ELSEWHERE", lambda w: str(w.elsewhere)),
        (wide, "BUDGETS", lambda w: ",".join(w.budgets) or "-"),
    )
    used = [(name, cell) for present, name, cell in columns if present]
    return Table(
        tuple(name for name, _ in used),
        tuple(tuple(cell(workload) for _, cell in used) for workload in workloads),
        tuple("red" if _key(workload) in uneven else "" for workload in workloads),
    )


def _key(workload: WorkloadName) -> tuple[str, str, str]:
    return (workload.namespace, workload.kind, workload.name)


def _uneven(violations: Iterable[SpreadViolation]) -> _Keys:
    return frozenset(_key(w) for violation in violations for w in violation.workloads)


def bars(document: Inspection, *, wide: bool) -> Iterator[Block]:
    """The counts of every constraint that is broken, against what it allows."""
    several = _several_namespaces(document.workloads)
    spreads = (
        Spread(
            name=_carriers(violation, several),
            topology_key=violation.topology_key,
            domains=tuple(domain.domain for domain in violation.domains),
            counts=tuple(domain.count for domain in violation.domains),
            limit=violation.minimum + violation.max_skew,
        )
        for violation in document.spread.violations
    )
    return spread_bars(spreads, wide=wide)


def _carriers(violation: SpreadViolation, several: bool) -> str:
    """`api`, `api and web`, `api and web and 3 more`."""
    who = " and ".join(_plain_name(w, several) for w in violation.workloads[:2])
    more = f" and {len(violation.workloads) - 2} more" if violation.workloads[2:] else ""
    return f"{who}{more}"


def _domain_counts(violation: SpreadViolation) -> str:
    """`6/6/0` in the order of the domains; from seven domains on only how far they are apart."""
    counts = [domain.count for domain in violation.domains]
    if len(counts) <= NAMED:
        return "/".join(map(str, counts))
    return f"{min(counts)} to {max(counts)} in {len(counts)} domains"


def steadiness(document: Inspection) -> Paragraph:
    """Whether hard spread constraints hold, and who breaks them."""
    spread = document.spread
    if not spread.constraints:
        return Paragraph("No pod has a hard spread constraint.")
    if not spread.violations:
        holds = "holds" if spread.constraints == 1 else "hold"
        constraints = count_of(spread.constraints, "hard spread constraint")
        return Paragraph(f"Steady: {constraints} {holds}, no domain is above its limit.", "green")
    subject = count_of(len(_uneven(spread.violations)), "workload is", "workloads are")
    over = NO_BREAK.join((str(spread.excess), "over", "the", "limit"))
    text = f"{subject} not steady: {_unsteady(document)}: {over}."
    return Paragraph(text, "yellow")


def _unsteady(document: Inspection) -> str:
    """`api 6/6/0, web 5/4/0 (zone, maxSkew 1)`, the constraints of equal terms together."""
    several = _several_namespaces(document.workloads)
    worst = sorted(document.spread.violations, key=lambda v: -v.excess)[:NAMED]
    terms: dict[tuple[str, int], list[str]] = {}
    for violation in document.spread.violations:
        if violation in worst:
            who = _carriers(violation, several)
            term = (short_key(violation.topology_key), violation.max_skew)
            terms.setdefault(term, []).append(f"{who}{NO_BREAK}{_domain_counts(violation)}")
    text = "; ".join(
        f"{', '.join(found)} ({key}, maxSkew{NO_BREAK}{skew})"
        for (key, skew), found in terms.items()
    )
    hidden = len(document.spread.violations) - len(worst)
    return f"{text} and {count_of(hidden, 'more constraint')}" if hidden else text


def _plain_name(workload: WorkloadName, several_namespaces: bool) -> str:
    name = short_name(workload) if workload.kind == "Pod" else workload.name
    return f"{workload.namespace}/{name}" if several_namespaces else name


def _several_namespaces(workloads: Iterable[WorkloadName]) -> bool:
    return len({workload.namespace for workload in workloads}) > 1


def unbudgeted(document: Inspection) -> str:
    """Workloads that evictions could take down at once."""
    missing = document.without_budget
    subject = count_of(len(missing), "workload has", "workloads have")
    if len(missing) > NAMED:
        kinds = ", ".join(count_of(number, kind) for kind, number in count_kinds(missing))
        return f"{subject} no budget: {kinds}."
    several = _several_namespaces(document.workloads)
    return f"{subject} no budget: {', '.join(_plain_name(w, several) for w in missing)}."
