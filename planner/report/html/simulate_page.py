"""The report of `planner simulate`: where kube-scheduler puts each pod, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.report.html.cluster_map import cluster_map
from planner.report.html.map_view import Tone
from planner.report.html.names import Index
from planner.report.html.section_order import in_order
from planner.report.html.spread_charts import spread_section
from planner.report.html.story import Story, simulation_story
from planner.report.html.view import Badge, Fact, Page, Row, Section, TableSection, TextSection
from planner.report.html.words import many, words
from planner.report.tables import simulation_table
from planner.report.text.blocks import plain_text
from planner.report.text.commands import NOTHING, Given, pasteable
from planner.report.text.wording import name_some
from planner.words import count_of
from planner_models.simulation import SimulatedPod, Simulation

TONES: dict[str, Tone] = {"scheduled": "", "unschedulable": "bad", "gated": "warn"}


def simulate_page(cluster: Cluster, simulation: Simulation, given: Given = NOTHING) -> Page:
    """What kube-scheduler does with the pending pods of the cluster."""
    story, index = simulation_story(cluster, simulation), Index(cluster)
    return Page(
        command="planner simulate",
        badge=_badge(simulation),
        headline=headline(simulation),
        lead=tuple(_lead(simulation)),
        facts=tuple(_facts(simulation)),
        sections=in_order(_sections(story, simulation, index, given)),
        names=index.names,
        words=words("feasible", "tied", "maxSkew", "domain"),
        notices=tuple(notice.text for notice in simulation.notices),
    )


def _badge(simulation: Simulation) -> Badge:
    if simulation.summary.unschedulable:
        return Badge("Something stays pending", "bad")
    if not simulation.summary.scheduled:
        return Badge("Nothing to schedule", "")
    return Badge("All scheduled", "good")


def headline(simulation: Simulation) -> str:
    """What happens to the pods that wait, in one sentence."""
    summary = simulation.summary
    if not summary.pods:
        return "No pod is waiting: kube-scheduler has nothing to do."
    pods = many(summary.pods, "waiting pod")
    if summary.scheduled == summary.pods:
        verb = "finds" if summary.pods == 1 else "all find"
        return f"{pods} {verb} a node."
    if summary.pods == summary.unschedulable == 1:
        return "The one waiting pod finds no node and stays pending."
    found = summary.scheduled or "none"
    gated = f", {summary.gated} held back by gates" if summary.gated else ""
    stay = summary.unschedulable
    stays = f"{stay} stays" if stay == 1 else f"{stay} stay"
    finds = "find" if summary.scheduled > 1 else "finds"
    return f"Of {pods}, {found} {finds} a node; {stays} pending{gated}."


def _lead(simulation: Simulation) -> Iterator[str]:
    summary = simulation.summary
    nodes = count_of(summary.nodes, "node")
    if summary.pods:
        ties = "by the first name" if not summary.seed else f"by seed {summary.seed}"
        yield (
            f"kube-scheduler takes the pods in the order of its queue, looks at {nodes}, and takes "
            f"the one with the highest score; ties are broken {ties}."
        )
    if summary.preempted:
        yield f"{count_of(summary.preempted, 'pod')} of lower priority gave way: " + name_some(
            simulation.preempted
        )


def _facts(simulation: Simulation) -> Iterator[Fact]:
    summary = simulation.summary
    yield Fact(str(summary.scheduled), "scheduled", "good" if summary.scheduled else "")
    yield Fact(str(summary.unschedulable), "stay pending", "bad" if summary.unschedulable else "")
    if summary.gated:
        yield Fact(str(summary.gated), "gated", "warn")
    if summary.preempted:
        yield Fact(str(summary.preempted), "gave way", "warn")
    yield Fact(f"{summary.nodes:,}", "node" if summary.nodes == 1 else "nodes")


def _sections(
    story: Story, simulation: Simulation, index: Index, given: Given
) -> Iterator[Section]:
    yield cluster_map(story)
    rows = tuple(_decisions(simulation, index))
    if rows:
        header = ("", "Pod", "Outcome", "Node", "Feasible", "As good", "kube-scheduler says")
        yield TableSection("Decisions, in the order of the queue", "", header, rows, frozenset({0}))
    refused = tuple(_refusals(simulation))
    if refused:
        yield TableSection(
            "Why other nodes were not taken",
            "For the first pod of each workload.",
            ("Workload", "Nodes", "Which", "Refused by", "Reason"),
            refused,
            frozenset({1}),
        )
    charts = spread_section(story)
    if charts is not None:
        yield charts
    aside = tuple(
        index.row((index.pod(pod.pod), pod.text), pod.pod) for pod in simulation.left_aside
    )
    if aside:
        yield TableSection("Left aside", "", ("Pod", "Why"), aside)
    text = plain_text(pasteable(simulation_table.blocks(simulation, wide=False), given))
    yield TextSection("The same as text", (text,), code=True, folded=True)


def _decisions(simulation: Simulation, index: Index) -> Iterator[Row]:
    """`step` is the place of a scheduled pod on the slider."""
    placed = 0
    for number, pod in enumerate(simulation.pods, 1):
        placed += pod.node is not None
        yield _decision(pod, number, index, placed if pod.node is not None else None)


def _decision(pod: SimulatedPod, number: int, index: Index, step: int | None) -> Row:
    others = [name for name in pod.best if name != pod.node]
    more = pod.tied - 1 - len(others)
    tied = name_some(others) + (f" and {more} more" if more > 0 and len(others) <= 6 else "")
    looked = f"{pod.feasible} of {pod.looked_at}" if pod.looked_at else ""
    said = pod.message or ("made from its template" if pod.synthesised else "")
    cells = (str(number), index.pod(pod.pod), pod.outcome, pod.node or "", looked, tied, said)
    return index.row(cells, pod.pod, [pod.node], tone=TONES[pod.outcome], step=step)


def _refusals(simulation: Simulation) -> Iterator[Row]:
    for each in simulation.refused:
        reasons = ", ".join(each.reasons)
        why = f"{reasons} ({each.numbers})" if each.numbers else reasons
        yield Row((each.workload, str(each.nodes), each.where, each.plugin, why))
