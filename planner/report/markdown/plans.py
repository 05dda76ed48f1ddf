"""A `Plan` and an `EvictionPlan` as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.snapshot import Cluster
from planner.report.markdown.pictures import before_and_after, picture
from planner.report.markdown.render import Fold, Heading, Part
from planner.report.tables import evict_table, plan_table
from planner.report.tables.plan_checks import checks
from planner.report.tables.plan_next import hints
from planner.report.tables.plan_proof import proof
from planner.report.tables.plan_steps import Steps
from planner.report.text.blocks import GAP, Block
from planner.report.text.notices import notice_blocks
from planner.words import count_of
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan


def plan_parts(document: Plan, cluster: Cluster | None) -> Iterator[Part]:
    """What is reached, and by which steps."""
    yield Heading(plan_table.headline(document))
    yield proof(document)
    yield from plan_table.workload_blocks(document, wide=False)
    steps, *unplaced = Steps(document, wide=False).parts()
    if unplaced:
        number = count_of(sum(len(wave.steps) for wave in document.waves), "step")
        yield Fold(f"{number} in {count_of(len(document.waves), 'wave')}", steps)
        yield from unplaced[0]
    else:
        yield from steps
    yield from plan_table.broken_blocks(document, wide=False)
    yield from plan_table.remaining_blocks(document, wide=False)
    placement = {each.pod: each.node for each in document.placements}
    gone = dict.fromkeys((each.pod for each in document.displaced), None)
    yield from before_and_after(cluster, {**gone, **placement})
    yield Fold("What was checked", list(checks(document)))
    yield from hints(document)
    yield from notice_blocks(document.notices, wide=False)


def eviction_parts(document: EvictionPlan, cluster: Cluster | None) -> Iterator[Part]:
    """What to evict, how sure the outcome is, and what others would do."""
    if document.like_descheduler is not None:
        first, *rest = evict_table.blocks(document, wide=False)
        yield Heading(_text(first))
        yield from rest
        return
    yield Heading(evict_table.headline(document))
    yield from evict_table.certainty(document)
    evictions = list(evict_table.eviction_blocks(document, wide=False))
    if evictions:
        number = count_of(len(document.evictions), "eviction")
        yield Fold(f"{number} in {count_of(len(document.waves), 'wave')}", evictions)
    yield from evict_table.remaining_blocks(document, wide=False)
    evicted = [each.pod for each in document.evictions]
    if evicted:
        yield from picture("The cluster now, with the pods to evict", cluster, evicted)
    yield Fold("Beside the descheduler", list(evict_table.comparison(document)))
    yield from notice_blocks(document.notices, wide=False)


def _text(block: Block) -> str:
    return " ".join(" ".join(block.lines(fit=False)).split()) if block != GAP else ""
