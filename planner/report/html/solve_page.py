"""The report of `planner solve`: what moves, why that is enough, and in which order."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.report.html.cluster_map import cluster_map
from planner.report.html.left_alone import not_evictable
from planner.report.html.map_view import Tone
from planner.report.html.names import Index
from planner.report.html.section_order import in_order
from planner.report.html.spread_charts import situation, spread_section, uneven_workloads
from planner.report.html.story import Story, plan_story
from planner.report.html.view import Badge, Fact, Page, Row, Section, TableSection, TextSection
from planner.report.html.words import many, words
from planner.report.tables import plan_table
from planner.report.tables.plan_checks import checks
from planner.report.tables.plan_counts import plan_counts
from planner.report.tables.plan_next import hints
from planner.report.tables.plan_proof import proof
from planner.report.text.blocks import Paragraph, plain_text
from planner.report.text.commands import NOTHING, Given, pasteable
from planner.words import count_of
from planner_models.plan import Plan, PlanViolation, Step

WIDE = 500
"""Up to so many placements the text names each."""
BADGES: dict[str, Badge] = {
    "optimal": Badge("Optimal, proven", "good"),
    "feasible": Badge("Feasible, not proven best", "warn"),
    "infeasible": Badge("Infeasible", "bad"),
    "unknown": Badge("Undecided", "bad"),
}
VIOLATIONS = ("Rule", "Where", "Pods", "Allowed", "To make it legal")


def solve_page(cluster: Cluster, plan: Plan, given: Given = NOTHING) -> Page:
    """The plan over the cluster that it is for."""
    story, index = plan_story(cluster, plan), Index(cluster)
    uneven, left = uneven_workloads(story)
    return Page(
        command="planner solve",
        badge=BADGES[plan.status],
        headline=headline(plan, uneven, left),
        lead=tuple(text for text in (situation(story), proof(plan).text) if text),
        facts=tuple(_facts(cluster, plan, uneven, left)),
        sections=in_order(_sections(story, plan, index, given)),
        names=index.names,
        words=words("over the limit", "wave", "maxSkew", "domain", "budget"),
        notices=tuple(notice.text for notice in plan.notices),
    )


def headline(plan: Plan, uneven: int, left: int) -> str:
    """What to do and what it gives, in one sentence."""
    pods = plan_counts(plan)
    acts = []
    if pods.placed:
        acts.append(f"place {many(pods.placed, 'waiting pod')}")
    if pods.moved:
        acts.append(f"move {many(pods.moved, 'running pod')}")
    if pods.returned:
        acts.append(f"evict {many(pods.returned, 'pod')} that come back to the same node")
    if plan.displaced:
        acts.append(f"let {many(len(plan.displaced), 'pod')} of lower priority give way")
    text = " and ".join(acts) or "nothing to do"
    if pods.evicted and len(plan.waves) > 1:
        text += f" in {len(plan.waves)} waves"
    return f"{text[0].upper()}{text[1:]}{_outcome(plan, uneven, left, bool(acts))}."


def _outcome(plan: Plan, uneven: int, left: int, acts: bool) -> str:
    broken = ""
    if plan.broken:
        rules = len({violation.constraint for violation in plan.broken})
        broken = f"; {count_of(rules, 'rule is', 'rules are')} broken for that"
    if plan.unplaced:
        pods = many(len(plan.unplaced), "pod")
        still = " still" if acts else ""
        return f"{broken}; {pods}{still} can't run"
    if plan.broken:
        return broken
    if uneven and not left:
        subject = "1 uneven workload is" if uneven == 1 else f"all {uneven:,} uneven workloads are"
        return f", and {subject} spread as their rules ask" if acts else ""
    if plan.violations:
        return f"; {count_of(len(plan.violations), 'rule stays', 'rules stay')} broken"
    return ": every rule holds" if not acts else ", and every rule holds"


def _facts(cluster: Cluster, plan: Plan, uneven: int, left: int) -> Iterator[Fact]:
    pods = plan_counts(plan)
    if pods.moved or plan.options.rebalance:
        yield Fact(f"{pods.moved:,}", f"of {len(cluster.running):,} running pods move")
    if pods.returned:
        yield Fact(f"{pods.returned:,}", "evicted, back on the same node")
    if pods.placed or plan.unplaced:
        total = pods.placed + len(plan.unplaced)
        tone: Tone = "bad" if plan.unplaced else "good"
        yield Fact(f"{pods.placed:,} of {total:,}", "waiting pods get a node", tone)
    if plan.waves:
        yield Fact(str(len(plan.waves)), "wave" if len(plan.waves) == 1 else "waves, one by one")
    if plan.broken:
        yield Fact(f"{len(plan.broken):,}", "rules broken on purpose", "warn")
        return
    if uneven or left:
        yield Fact(f"{uneven:,} → {left:,}", "workloads are uneven", "bad" if left else "good")
    if plan.excess_before or plan.excess_after:
        tone = "bad" if plan.excess_after else "good"
        yield Fact(f"{plan.excess_before:,} → {plan.excess_after:,}", "over the limit", tone)


def _sections(story: Story, plan: Plan, index: Index, given: Given) -> Iterator[Section]:
    yield cluster_map(story)
    charts = spread_section(story)
    if charts is not None:
        yield charts
    rows = tuple(_steps(plan, index))
    if rows:
        header = ("Wave", "Step", "Pod", "From", "To", "Why")
        yield TableSection("The plan, step by step", "", header, rows, frozenset({0}))
    yield from _unplaced(plan, index)
    if plan.broken:
        yield TableSection(
            "Rules that the plan breaks",
            "--relax breaks as little as places everything; kube-scheduler refuses these pods "
            "until the rules are changed.",
            VIOLATIONS,
            tuple(map(_violation, plan.broken)),
            frozenset({2, 3}),
        )
    elif plan.violations:
        yield TableSection(
            "Rules that stay broken",
            "",
            VIOLATIONS,
            tuple(map(_violation, plan.violations)),
            frozenset({2, 3}),
        )
    yield from not_evictable(plan.protected, plan.left_alone, index)
    said = [
        block.text.strip()
        for block in pasteable((*checks(plan), *hints(plan)), given)
        if isinstance(block, Paragraph)
    ]
    if said:
        yield TextSection("How sure this is", tuple(said))
    wide = len(plan.placements) <= WIDE
    text = plain_text(pasteable(plan_table.blocks(plan, wide=wide), given))
    yield TextSection("The same as text", (text,), code=True, folded=True)


def _steps(plan: Plan, index: Index) -> Iterator[Row]:
    reasons = {placement.pod: placement.reason for placement in plan.placements}
    for number, wave in enumerate(plan.waves, start=1):
        for step in wave.steps:
            yield _step(number, step, reasons, index)


def _step(number: int, step: Step, reasons: dict[str, str], index: Index) -> Row:
    if step.pod is None:
        cordon = (str(number), str(step.action), "", step.node or "", "", "")
        return Row(cordon, None, index.nodes([step.node]), "", number)
    why = reasons.get(step.pod, "") if step.action != "evict" else ""
    source = step.from_ if step.action == "move" else step.node if step.action == "evict" else ""
    target = step.to if step.action == "move" else step.node if step.action == "place" else ""
    cells = (str(number), str(step.action), index.pod(step.pod), source or "", target or "", why)
    return index.row(cells, step.pod, [step.from_, step.to, step.node], step=number)


def _unplaced(plan: Plan, index: Index) -> Iterator[Section]:
    groups = (
        ("Pods that can't be placed", plan.unplaced),
        ("Pods that give way", plan.displaced),
        ("Left aside", plan.left_aside),
    )
    for title, pods in groups:
        if pods:
            rows = (
                index.row((index.pod(pod.pod), pod.workload, pod.diagnosis), pod.pod)
                for pod in pods
            )
            yield TableSection(title, "", ("Pod", "Workload", "Why"), tuple(rows))


def _violation(violation: PlanViolation) -> Row:
    cells = (
        violation.constraint,
        violation.domain,
        str(violation.count),
        str(violation.allowed),
        violation.remedy or "",
    )
    return Row(cells, tone="bad")
