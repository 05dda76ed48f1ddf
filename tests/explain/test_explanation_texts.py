"""The texts of explanations, whole, as users see them; snapshots are in tests/snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import planner
from planner.cluster import Cluster
from planner.examples import example_path
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods, explain_workloads
from planner.report.tables import explain_table
from planner.report.text.blocks import plain_text
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain import situations

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
EXAMPLES = (
    "docs-conflicting-constraints",
    "docs-one-constraint",
    "docs-two-constraints",
    "docs-node-affinity",
    "docs-missing-zone-label",
)
SITUATIONS: dict[str, Callable[[], Cluster]] = {
    "one-zone-full": situations.one_zone_full,
    "tainted-zone": situations.tainted_zone,
    "pigeonhole": situations.pigeonhole,
    "zonal-volume": situations.zonal_volume,
    "too-many-domains": situations.too_many_domains,
    "greedy-got-stuck": situations.greedy_got_stuck,
    "on-paper-only": situations.on_paper_only,
    "competing": situations.competing,
    "preemption-would-help": situations.preemption_would_help,
    "grid": situations.grid,
    "large": situations.large,
}


def explained(cluster: Cluster) -> Diagnosis:
    pods = cluster.pending.tolist()
    return explain_pods(cluster, pods, default_profile(), ExplainOptions())


def compare(name: str, document: Diagnosis, *, wide: bool = False) -> None:
    text = plain_text(explain_table.blocks(document, wide=wide))
    assert text == (SNAPSHOTS / f"explain-{name}.txt").read_text(encoding="utf-8")
    commands = [line for line in text.splitlines() if line.startswith("     $ kubectl")]
    assert all(len(line) <= 80 for line in text.splitlines() if line not in commands)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_documentation_s_examples(name: str) -> None:
    compare(name, explained(planner.load(example=name).snapshot))


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations_of_everyday(name: str) -> None:
    compare(name, explained(SITUATIONS[name]()))


def test_a_cordoned_node_and_a_label_typo(tmp_path: Path) -> None:
    dump = json.loads(Path(example_path("docs-missing-zone-label")).read_text(encoding="utf-8"))
    for item in dump["items"]:
        if item["kind"] == "Node" and item["metadata"]["name"] == "node2":
            taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
            item["spec"] = {"unschedulable": True, "taints": [taint]}
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(dump), encoding="utf-8")
    document = explained(planner.load(file).snapshot)
    compare("label-typo", document)
    facts = document.conflicts[0].constraints
    assert [fact.kind for fact in facts] == ["topologySpread", "unschedulable"]


def test_everything_that_waits_is_summed_up_by_workload() -> None:
    cluster = situations.all_pending()
    pods = cluster.pending.tolist()
    compare("all-pending", explain_workloads(cluster, pods, default_profile(), ExplainOptions()))


def test_wide_shows_every_node_with_every_rule() -> None:
    compare("one-zone-full-wide", explained(situations.one_zone_full()), wide=True)


def test_evictions_that_are_not_named_are_counted() -> None:
    cluster = situations.all_pending()
    pods = cluster.pending.tolist()
    found = explain_workloads(cluster, pods, default_profile(), ExplainOptions())
    stuck = next(part for part in found.parts if part.rearrangement is not None)
    room = stuck.rearrangement
    assert room is not None
    named = min(len(room.moves), 3)
    larger = room.model_copy(update={"evictions": named + 2})
    changed = stuck.model_copy(update={"rearrangement": larger})
    parts = tuple(changed if part is stuck else part for part in found.parts)
    text = plain_text(explain_table.blocks(found.model_copy(update={"parts": parts}), wide=False))
    assert f"{named + 2} evictions (" in text
    assert "and 2 more)" in text
