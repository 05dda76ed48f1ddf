"""A `Simulation` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from planner.report.text.blocks import GAP, WIDTH, Block, Paragraph, Style, Table
from planner.report.text.commands import about
from planner.rules import cards_of_plugin
from planner.words import NAMED, count_of, short_key
from planner_models.simulation import (
    RefusedNodes,
    SimulatedPod,
    Simulation,
    SimulationSummary,
    Verdict,
)

ROWS = 50
"""How many pods a table shows; `wide` shows all."""

PLUGINS = {
    "TaintToleration": "Taint",
    "NodeAffinity": "NodeAff",
    "NodeResourcesFit": "Fit",
    "PodTopologySpread": "Spread",
    "InterPodAffinity": "InterPod",
    "NodeResourcesBalancedAllocation": "Balanced",
    "ImageLocality": "Image",
}
"""Score plugins in the order of the default profile, with the names that fit a column."""


def blocks(document: Simulation, *, wide: bool) -> Sequence[Block]:
    """The summary, the pods, why nodes were left out, messages, and what was not tried."""
    detailed = wide or document.explained_node is not None
    found: list[Block] = [Paragraph(headline(document), "bold")]
    if document.pods:
        found.extend(pod_blocks(document, wide=wide))
        found.extend(refused_blocks(document.refused))
    found.extend(remarks(document))
    found.extend(failure_blocks(document.pods))
    if detailed:
        for pod in document.pods:
            found.extend(_details(pod, document.explained_node))
        if any(pod.scores for pod in document.pods):
            text = 'Scores are normalised and weighted. "-": the plugin skipped this pod.'
            found.append(Paragraph(text, "dim"))
    return found


def names(document: Simulation) -> Iterable[str]:
    """Every pod that was tried; of those that planner made, the workload (`deploy/web`)."""
    several = _several(document)
    return dict.fromkeys(
        _short(pod.workload, several) if pod.synthesised else f"pod/{_short(pod.pod, several)}"
        for pod in document.pods
    )


def headline(document: Simulation) -> str:
    """`3 pods: 3 scheduled, 0 unschedulable (seed 0, all nodes looked at)`."""
    summary = document.summary
    counts = [f"{summary.scheduled} scheduled", f"{summary.unschedulable} unschedulable"]
    if summary.gated:
        counts.append(f"{summary.gated} gated")
    if summary.left_aside:
        counts.append(f"{summary.left_aside} left aside")
    if summary.preempted:
        counts.append(f"{summary.preempted} preempted")
    share = summary.percentage_of_nodes_to_score
    looked_at = "all nodes looked at"
    if share is not None:
        looked_at = f"{share}% of the nodes looked at" if share else "nodes sampled"
    rules = f"(seed {summary.seed}, {looked_at})"
    if not document.pods and not summary.left_aside:
        return f"No pod is pending: nothing to schedule {rules}"
    return f"{count_of(summary.pods, 'pod')}: {', '.join(counts)} {rules}"


def pod_blocks(document: Simulation, *, wide: bool) -> Iterator[Block]:
    """Pods in the order in which they were tried; of very many, those that wait come first."""
    several = _several(document)
    pods = list(document.pods)
    if not wide and len(pods) > ROWS:
        pods.sort(key=lambda pod: pod.outcome == "scheduled")
        pods = pods[:ROWS]
    yield _pod_table(pods, several, document.summary)
    if len(pods) < len(document.pods):
        hidden = count_of(len(document.pods) - len(pods), "more pod")
        yield Paragraph(f"and {hidden}; -o wide shows all", "dim")


def _pod_table(pods: Sequence[SimulatedPod], several: bool, summary: SimulationSummary) -> Table:
    """Columns that would be empty in every row are left out."""
    sampled = summary.percentage_of_nodes_to_score is not None
    nodes, every = summary.nodes, summary.all_ties
    feasible = [
        "-" if pod.outcome == "gated" else f"{pod.feasible}/{pod.looked_at if sampled else nodes}"
        for pod in pods
    ]
    width = max(map(len, feasible))
    columns: list[tuple[str, list[str]]] = [
        ("POD", [_short(pod.pod, several) for pod in pods]),
        ("OUTCOME", [pod.outcome for pod in pods]),
        ("NODE", [pod.node or "-" for pod in pods]),
        ("FEASIBLE", [text.rjust(max(width, len("FEASIBLE"))) for text in feasible]),
    ]
    optional = (
        ("TIED WITH", [_tied(pod, every=every) for pod in pods]),
        ("NOTE", [_note(pod) for pod in pods]),
    )
    columns.extend((name, cells) for name, cells in optional if any(cells))
    styles: tuple[Style, ...] = tuple(
        "red" if pod.outcome == "unschedulable" else "" for pod in pods
    )
    rows = zip(*(cells for _, cells in columns), strict=True)
    return Table(tuple(name for name, _ in columns), tuple(rows), styles)


def _tied(pod: SimulatedPod, *, every: bool) -> str:
    """The other nodes with the same total: every one, or six and the number of the rest."""
    others = [name for name in pod.best if name != pod.node]
    if every or pod.tied - 1 <= NAMED:
        return " ".join(others)
    shown = others[: NAMED - 1]
    return " ".join([*shown, f"+{pod.tied - 1 - len(shown)}"])


def _note(pod: SimulatedPod) -> str:
    notes = ["synthesised"] if pod.synthesised else []
    if pod.attempts > 1:
        notes.append(f"tried {pod.attempts} times")
    return ", ".join(notes)


def refused_blocks(refused: Sequence[RefusedNodes]) -> Iterator[Block]:
    """One sentence per workload: who was left out, and by which rule."""
    by_workload: dict[str, list[RefusedNodes]] = {}
    for each in refused:
        by_workload.setdefault(each.workload, []).append(each)
    for workload, classes in by_workload.items():
        shown = [f"{each.where}, {_why(each)}" for each in classes[:NAMED]]
        hidden = sum(each.nodes for each in classes[NAMED:])
        if hidden:
            shown.append(f"{count_of(hidden, 'more node')} for other reasons")
        name = workload.rpartition("/")[2]
        yield Paragraph(f"Not feasible for {name}: {'; '.join(shown)}.")


def _why(refused: RefusedNodes) -> str:
    if refused.plugin == "PodTopologySpread" and refused.numbers is not None:
        key, _, numbers = refused.numbers.partition(": ")
        return f"{short_key(key)} spread ({numbers})"
    words = next((card.refusal for card in cards_of_plugin(refused.plugin)), "")
    return words or ", ".join(refused.reasons)


def remarks(document: Simulation) -> Iterator[Block]:
    """Ties, plugins left out, pods left aside, notices."""
    if any(pod.tied > 1 for pod in document.pods) and not document.summary.seed:
        text = "Ties are broken at random by kube-scheduler; --seed N, or --ties all for each."
        yield Paragraph(text, "dim")
    if document.summary.ignored_plugins:
        ignored = ", ".join(document.summary.ignored_plugins)
        yield Paragraph(f"Without {ignored}, as --ignore-plugin asks.", "yellow")
    for aside in document.left_aside[:NAMED]:
        yield Paragraph(f"Left aside: {aside.pod}, {aside.text}.")
    hidden = len(document.left_aside) - NAMED
    if hidden > 0:
        yield Paragraph(f"Left aside: {count_of(hidden, 'more pod')}; -o json names them.")
    for notice in document.notices:
        if notice.code != "synthesised":
            yield Paragraph(f"notice: {notice.text}", "yellow", indent=2)


def failure_blocks(pods: Sequence[SimulatedPod]) -> Iterator[Block]:
    """kube-scheduler's own text, once for all pods of which it says the same."""
    said: dict[tuple[str, str, str], list[SimulatedPod]] = {}
    for pod in pods:
        if pod.outcome != "scheduled":
            text = pod.event_message or pod.message or ""
            said.setdefault((text, _displaced(pod), pod.diagnosis or ""), []).append(pod)
    for (text, displaced, why), who in said.items():
        yield GAP
        names = _some([pod.pod.partition("/")[2] for pod in who])
        yield Paragraph(f"{names}: {why}".rstrip(), "red", indent=2)
        yield Paragraph(f"  {text}", "dim", indent=2)
        if displaced:
            yield Paragraph(f"  {displaced}", indent=2)
        if why:
            namespace, _, workload = who[0].workload.partition("/")
            what = about("explain", namespace, workload)
            yield Paragraph(f"  What helps: {what}", indent=2)


def _displaced(pod: SimulatedPod) -> str:
    """Who would lose the place; preemption is carried out with --preempt only."""
    found = pod.preemption
    if found is None or found.nominated_node is None or not found.victims:
        return ""
    victims = _some([victim.partition("/")[2] for victim in found.victims])
    return f"Preemption would drive {victims} off {found.nominated_node}; --preempt does so."


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def _details(pod: SimulatedPod, node: str | None) -> Iterator[Block]:
    """Scores and verdicts, equal nodes united; `node` is the only one asked about, if any."""
    if pod.outcome == "gated":
        return
    name = pod.pod.partition("/")[2]
    yield GAP
    head = f"{name} -> {pod.node}" if pod.node else f"{name}: {pod.outcome}"
    yield Paragraph(head if node is None else f"{head}; on {node}:", "bold")
    if pod.totals:
        yield _scores(pod.scores or {}, pod.totals, frozenset(pod.best))
    if pod.filters:
        yield from _verdicts(pod.filters, pod.failing_plugins or {})


def _scores(
    scores: Mapping[str, Mapping[str, int]], totals: Mapping[str, int], best: frozenset[str]
) -> Table:
    plugins = [*PLUGINS, *(plugin for plugin in scores if plugin not in PLUGINS)]
    classes: dict[tuple[str, ...], list[str]] = {}
    for node in sorted(totals, key=lambda node: (-totals[node], node)):
        row = [str(scores[p][node]) if p in scores else "-" for p in plugins]
        mark = "best" if node in best else ""
        classes.setdefault((*row, str(totals[node]), mark), []).append(node)
    header = (*(PLUGINS.get(plugin, plugin) for plugin in plugins), "TOTAL", "")
    rows = list(classes)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    room = WIDTH - sum(width + 2 for width in widths)
    return Table(
        ("NODES", *_right(header, widths)),
        tuple((_fitting(classes[row], room), *_right(row, widths)) for row in rows),
        tuple("green" if row[-1] else "" for row in rows),
    )


def _right(cells: Sequence[str], widths: Sequence[int]) -> tuple[str, ...]:
    """Numbers to the right; the mark behind them stays where it is."""
    padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    return (*padded[:-1], cells[-1])


def _verdicts(
    filters: Mapping[str, Verdict], failing: Mapping[str, tuple[str, ...]]
) -> Iterator[Block]:
    """A sentence each, for reasons are longer than a column of a table."""
    classes: dict[tuple[str, str, str], list[str]] = {}
    for node in sorted(filters):
        verdict = filters[node]
        also = ", ".join(p for p in failing.get(node, ()) if p != verdict.plugin)
        row = (verdict.plugin, ", ".join(verdict.reasons), also)
        classes.setdefault(row, []).append(node)
    for row in sorted(classes, key=lambda row: (-len(classes[row]), row)):
        plugin, reasons, also = row
        more = f"; also refused by {also}" if also else ""
        yield Paragraph(f"{_nodes(classes[row])}: {plugin}, {reasons}{more}", indent=2)


def _fitting(nodes: Sequence[str], room: int) -> str:
    """As many names as fit, at least one, and the number of the others."""
    for count in range(min(len(nodes), NAMED), 1, -1):
        text = _nodes(nodes, count)
        if len(text) <= room:
            return text
    return _nodes(nodes, 1)


def _nodes(nodes: Sequence[str], most: int = NAMED) -> str:
    shown = " ".join(nodes[:most])
    return shown if len(nodes) <= most else f"{shown} +{len(nodes) - most}"


def _short(key: str, several: bool) -> str:
    return key if several else key.partition("/")[2]


def _several(document: Simulation) -> bool:
    return len({pod.pod.partition("/")[0] for pod in document.pods}) > 1
