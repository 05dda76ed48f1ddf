"""All rules of `planner check`, in the order in which findings of equal weight are shown."""

from __future__ import annotations

from collections.abc import Mapping

from planner.checks.rule import Rule

ONE_CAUSE = ("label-unknown", "request-too-large", "spread-key-unknown", "affinity-nobody")
"""Rules that name the one reason why no pod of a workload ever runs."""

RULES: tuple[Rule, ...] = (
    Rule("api-refuses", "error", needs_nodes=False, summary="a field that the API server refuses"),
    Rule("label-unknown", "error", needs_nodes=True, summary="a label that no node has"),
    Rule("request-too-large", "error", needs_nodes=True, summary="a pod that no node can hold"),
    Rule(
        "priority-unknown", "error", needs_nodes=True, summary="a PriorityClass that does not exist"
    ),
    Rule("over-quota", "error", needs_nodes=False, summary="pods that a quota refuses"),
    Rule("spread-key-unknown", "error", needs_nodes=True, summary="a topologyKey that no node has"),
    Rule(
        "spread-no-selector",
        "error",
        needs_nodes=False,
        summary="a spread constraint that counts no pod",
    ),
    Rule("min-domains-above", "error", needs_nodes=True, summary="fewer domains than minDomains"),
    Rule("affinity-nobody", "error", needs_nodes=True, summary="pod affinity to nobody"),
    Rule(
        "too-many-replicas",
        "error",
        needs_nodes=True,
        summary="replicas that can never run",
        unless=ONE_CAUSE,
    ),
    Rule("rollout-deadlock", "error", needs_nodes=True, summary="a rolling update that stops"),
    Rule(
        "pdb-blocks", "error", needs_nodes=False, summary="a budget that never allows an eviction"
    ),
    Rule("pdb-several", "error", needs_nodes=False, summary="two budgets over one pod"),
    Rule(
        "domain-out-of-reach",
        "warning",
        needs_nodes=True,
        summary="a domain that counts and takes no pod",
    ),
    Rule("priority-preempts", "warning", needs_nodes=True, summary="pods that drive others off"),
    Rule(
        "pdb-locks-with-spread",
        "warning",
        needs_nodes=True,
        summary="a drain that a budget and a rule lock",
    ),
    Rule(
        "outage-blocks",
        "warning",
        needs_nodes=True,
        summary="an outage that keeps replacements out",
    ),
    Rule(
        "outage-no-room",
        "warning",
        needs_nodes=True,
        summary="an outage that leaves too little room",
    ),
    Rule(
        "rollout-ends-uneven",
        "warning",
        needs_nodes=True,
        summary="a rolling update that ends uneven",
    ),
    Rule(
        "selector-misses-itself",
        "warning",
        needs_nodes=False,
        summary="a spread constraint that misses its own pods",
    ),
    Rule(
        "spread-key-partial", "warning", needs_nodes=True, summary="nodes without the topologyKey"
    ),
    Rule(
        "match-label-keys-void",
        "warning",
        needs_nodes=False,
        summary="matchLabelKeys names a label of no pod",
    ),
    Rule("volume-pins", "warning", needs_nodes=True, summary="claims that bind before their pod"),
    Rule(
        "pdb-selects-nothing", "warning", needs_nodes=False, summary="a budget that protects no pod"
    ),
    Rule(
        "selector-counts-others",
        "note",
        needs_nodes=True,
        summary="a spread that counts other workloads",
    ),
    Rule(
        "pdb-unhealthy-stuck",
        "note",
        needs_nodes=False,
        summary="unready pods that block drains",
        unless=("pdb-blocks",),
    ),
    Rule("priority-never", "note", needs_nodes=True, summary="a priority that drives nobody off"),
    Rule("defaults-only", "note", needs_nodes=False, summary="replicas without a spread rule"),
    Rule("no-budget", "note", needs_nodes=False, summary="replicas without a budget"),
    Rule("bare-pod", "note", needs_nodes=False, summary="a pod without a controller"),
    Rule("local-storage", "note", needs_nodes=False, summary="data that a drain loses"),
)

BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}
