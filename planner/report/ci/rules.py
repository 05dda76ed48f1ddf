"""What findings are called, and what they mean: the help behind each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

RuleId = Literal[
    "pod-impossible",
    "pod-stuck",
    "pod-undecided",
    "pod-unschedulable",
    "pod-unplaced",
    "rule-broken",
    "no-room",
    "plan-not-proven",
    "evictions-not-converging",
    "pod-blocks-drain",
    "whatif-worse",
    "fleet-deadlock",
    "fleet-impossible",
    "fleet-undecided",
    "fleet-constraint-broken",
]


@dataclass(frozen=True)
class RuleHelp:
    """A rule in a sentence, and what to do about it."""

    short: str
    help: str


RULES: Mapping[RuleId, RuleHelp] = MappingProxyType(
    {
        "pod-impossible": RuleHelp(
            "A pod can't run: no sequence of evictions and placements makes room for it.",
            "The rules named in the message leave no node together. Apply one of the listed "
            "changes; each of them was tried on a copy of the cluster.",
        ),
        "pod-stuck": RuleHelp(
            "A pod can't run now, but evicting running pods makes room for it.",
            "Evict the pods that the message names, in that order, or apply one of the listed "
            "changes. `planner evict -o script` writes a script for the evictions.",
        ),
        "pod-undecided": RuleHelp(
            "A pod can't run now, and the search ended before it was clear whether evictions help.",
            "Give the search more room: `planner explain --states N`.",
        ),
        "pod-unschedulable": RuleHelp(
            "kube-scheduler finds no node for a pod.",
            "`planner explain` says which rules leave no node together, and what helps.",
        ),
        "pod-unplaced": RuleHelp(
            "The best plan leaves a pod without a node.",
            "`planner explain` says why; `planner solve --rebalance` may make room, and `--relax` "
            "shows which rules are cheapest to give up.",
        ),
        "rule-broken": RuleHelp(
            "Running pods break a hard rule of their own: more are in a domain than it allows.",
            "`planner evict` and `planner solve --rebalance` show which pods to move; the rule's "
            "own pods can't be placed evenly by kube-scheduler alone.",
        ),
        "no-room": RuleHelp(
            "No more pod of a workload fits on the nodes as they are.",
            "The message names the rule that stops it on each node; `planner capacity` says what "
            "moves of other pods would add.",
        ),
        "plan-not-proven": RuleHelp(
            "The search ended before the plan was proven to be the best.",
            "The plan is complete and checked. A longer `--time-limit` may prove or improve it.",
        ),
        "evictions-not-converging": RuleHelp(
            "What kube-scheduler makes of the evictions depends on how it breaks ties.",
            "Carry out the first wave only and plan again: `planner evict --wave 1`.",
        ),
        "pod-blocks-drain": RuleHelp(
            "A node can't be emptied: a pod can't leave it.",
            "The message names the budget or the rules that keep it. `planner drain` lists changes "
            "with which the drain is possible; each was carried out on a copy of the cluster.",
        ),
        "whatif-worse": RuleHelp(
            "A pod that runs now does not run after a change or a failure.",
            "The message names the rule and the changes that help; each of them was tried on a "
            "copy of the cluster.",
        ),
        "fleet-deadlock": RuleHelp(
            "Fleet stops picking clusters although enough of them can be picked.",
            "Apply one of the listed changes; each of them was tried on a copy.",
        ),
        "fleet-impossible": RuleHelp(
            "A placement can't get as many clusters as it wants.",
            "The rules named in the message leave too few clusters. Apply one of the listed "
            "changes; each of them was tried on a copy.",
        ),
        "fleet-undecided": RuleHelp(
            "A placement gets fewer clusters than it wants, and whether more are possible is open.",
            "Give the search more time: `planner fleet --time-limit SECONDS`.",
        ),
        "fleet-constraint-broken": RuleHelp(
            "The clusters of a placement break one of its hard spread constraints.",
            "`planner fleet -o wide` shows the counts per domain and a choice that keeps it.",
        ),
    }
)


def rule_help(rule: str) -> RuleHelp:
    """What is known of a rule, of planner's findings or of `planner check`."""
    found = next((text for name, text in RULES.items() if name == rule), None)
    if found is not None:
        return found
    from planner.checks.registry import BY_ID

    known = BY_ID[rule]
    short = f"{known.summary[:1].upper()}{known.summary[1:]}."
    return RuleHelp(short, f"`planner check --rule {rule}` asks for this alone.")
