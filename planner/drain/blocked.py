"""What keeps pods on their node: a budget, a rule, the two of them together, or the pod itself.

Budgets come first, in closed form. For the others one pod of each group is taken as evicted, when
everybody who can leave is already elsewhere, and `explain` says which rules leave it no node while
these nodes are cordoned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.disruption.budgets import Allowance, Allowances
from planner.disruption.movability import Immovable, Stay
from planner.drain.find import Drain
from planner.drain.proofs import is_large
from planner.evictions.goals import placed_at
from planner.explain.diagnose import Explainer, ExplainOptions
from planner.explain.room.rearrange import Room
from planner.explain.situation.subject import Subject
from planner.scheduler.profile import Profile
from planner.words import conjoined, count_of, joined_sentences
from planner_models.diagnosis import Conflict, ConflictFact
from planner_models.drain import BlockedBy
from planner_models.policy import PodDisruptionBudget

UNSEARCHED = Room(limit="only pods of the drained nodes are evicted")
WHY_ONLY = ExplainOptions(brief=True, repairs=False)
EXPLAINED = 20
"""In a large cluster so many groups are explained; of the others the message is told."""
NAMED = 3
"""So many pods that are not ready are named."""
BY: Mapping[Immovable, BlockedBy] = {
    "noController": "barePod",
    "localStorage": "localStorage",
    "annotation": "annotation",
    "volume": "volume",
    "resourceClaim": "resourceClaim",
    "systemCritical": "priority",
    "otherScheduler": "otherScheduler",
    "nodeNotReady": "nodeNotReady",
    "job": "job",
    "unknownOwner": "unknownOwner",
    "notReplaced": "notReplaced",
}
FLAGS: Mapping[Immovable, str] = {
    "noController": " (--force)",
    "localStorage": " (--delete-emptydir-data)",
}


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Pods of one workload that the same thing keeps; `object` and `field` are where it is said."""

    pods: tuple[int, ...]
    by: BlockedBy
    object: str
    field: str
    text: str
    conflict: Conflict | None = None
    message: str = ""
    proven: bool = True
    short: str = ""
    """The reason in one sentence, if the text has more."""
    subject: Subject | None = None
    """One of the pods as it waits, where rules leave it no node."""


def obstacles(drain: Drain) -> tuple[Obstacle, ...]:
    """For every pod that stays, why; budgets and the pods' own reasons first."""
    kept: dict[tuple[int, Stay], list[int]] = {}
    for pod, stay in drain.leaving.kept.items():
        kept.setdefault((int(drain.start.group_of[pod]), stay), []).append(pod)
    own = [_own(drain, tuple(pods), stay) for (_, stay), pods in kept.items()]
    return (*own, *_stuck(drain))


def _own(drain: Drain, pods: tuple[int, ...], stay: Stay) -> Obstacle:
    """Who may not be evicted at all."""
    if stay.kind == "budget":
        return _by_budget(drain.start, drain.budgets, pods)
    key = drain.start.pods[pods[0]].key
    text = f"{stay.text}{FLAGS.get(stay.kind, '')}"
    return Obstacle(pods, BY[stay.kind], f"Pod {key}", "", text)


# Budgets


def _by_budget(cluster: Cluster, budgets: Allowances, pods: tuple[int, ...]) -> Obstacle:
    """The budgets over the pods: several, one that never allows it, or one that does not now."""
    group = int(budgets.group_of[pods[0]])
    contested = group in budgets.contested
    numbers = budgets.of_group[group] if contested else budgets.of_pod(pods[0])
    over = [budgets.each[number] for number in numbers if budgets.each[number].budget]
    names = [f"PodDisruptionBudget {each.name}" for each in over]
    if contested:
        text = f"{conjoined([each.name for each in over])} both select it, and the Eviction API "
        text += "refuses a pod with more than one budget"
        return Obstacle(pods, "severalBudgets", ", ".join(names), "spec.selector", text)
    budget = next((each for each in over if each.never), over[0])
    field = _field(_budget_of(cluster, budget))
    if budget.never:
        text = f"{_counted(budget.never)} allows 0 disruptions in every state"
        return Obstacle(pods, "budgetNever", names[0], field, text)
    return Obstacle(pods, "budgetNow", names[0], field, used_up(cluster, budget))


def _budget_of(cluster: Cluster, budget: Allowance) -> PodDisruptionBudget:
    return next(each for each in cluster.budgets if each.key == budget.name)


def _field(budget: PodDisruptionBudget) -> str:
    return "spec.minAvailable" if budget.spec.min_available is not None else "spec.maxUnavailable"


def _counted(never: str) -> str:
    """`minAvailable 1 of 1 replica`."""
    head, _, number = never.rpartition(" of ")
    if head.startswith("minAvailable") and number.isdecimal():
        return f"{head} of {count_of(int(number), 'replica')}"
    return never


def used_up(cluster: Cluster, budget: Allowance) -> str:
    """Who is down already, so that nobody else may be."""
    members = cluster.pods_of(np.array(budget.groups, np.int64)).tolist()
    down = [p for p in members if cluster.node_of[p] >= 0 and not cluster.pods[p].ready]
    down = [pod for pod in down if not cluster.pods[pod].terminating]
    waiting = [pod for pod in members if cluster.node_of[pod] == PENDING]
    said = [_named(cluster, pods, what) for pods, what in _kinds(down, waiting) if pods]
    because = f": {' and '.join(said)}" if said else ""
    return f"the budget {budget.name} is used up now{because}"


def _kinds(down: Sequence[int], waiting: Sequence[int]) -> Iterator[tuple[Sequence[int], str]]:
    yield down, "not ready"
    yield waiting, "pending"


def _named(cluster: Cluster, pods: Sequence[int], what: str) -> str:
    names = [cluster.pods[pod].name for pod in pods[:NAMED]]
    if len(pods) > NAMED:
        names.append(f"{len(pods) - NAMED} more")
    return f"{conjoined(names)} {'is' if len(pods) == 1 else 'are'} {what}"


# Rules


def _stuck(drain: Drain) -> Iterator[Obstacle]:
    """Pods that could be evicted and have no place then, group by group."""
    by_group: dict[int, list[int]] = {}
    for pod in drain.stuck:
        by_group.setdefault(int(drain.start.group_of[pod]), []).append(pod)
    if not by_group:
        return
    ended = placed_at(drain.aim.real, drain.tried.runs[0].node_of)
    shared = None
    if is_large(drain.aim):  # one state for all: groups of a large cluster rarely meet
        firsts = {pods[0]: PENDING for pods in by_group.values()}
        shared = Explainer(ended.with_placement(firsts), drain.profile, WHY_ONLY)
    for number, pods in enumerate(by_group.values()):
        if shared is not None and number >= EXPLAINED:
            yield _by_message(drain, shared, tuple(pods))
            continue
        evicted = ended.with_placement({pods[0]: PENDING})
        explainer = shared or Explainer(evicted, drain.profile, WHY_ONLY)
        yield _by_rules(drain, explainer, tuple(pods))


def _by_message(drain: Drain, explainer: Explainer, pods: tuple[int, ...]) -> Obstacle:
    """kube-scheduler's own words, where there are too many groups to explain each of them."""
    subject = explainer.subject(pods[0])
    message = subject.scheduler.evaluate(pods[0]).message()
    text = joined_sentences((message, _drives_off(drain, pods)))
    proven = drain.proof.stuck >= len(drain.stuck)
    by: BlockedBy = "rule" if proven else "unknown"
    return Obstacle(pods, by, subject.workload.short, "", text, None, message, proven)


def _drives_off(drain: Drain, pods: Sequence[int]) -> str:
    """That the pods would find a place, at the expense of others."""
    if not drain.preemptors.intersection(pods):
        return ""
    return "It would drive off pods of lower priority instead."


def why_no_node(ended: Cluster, profile: Profile, pod: int) -> str:
    """Which rules leave a pod that waits no node, in a sentence."""
    return Explainer(ended, profile, WHY_ONLY).explained(pod, UNSEARCHED).headline


def _by_rules(drain: Drain, explainer: Explainer, pods: tuple[int, ...]) -> Obstacle:
    proven = drain.proof.stuck >= len(drain.stuck)
    found = explainer.explained(pods[0], UNSEARCHED)
    budgets = [drain.budgets.each[number] for number in drain.budgets.of_pod(pods[0])]
    tight = [each for each in budgets if each.budget and each.left < len(pods)]
    if found.verdict == "schedulable":
        return _not_together(drain, pods, tight, proven=proven)
    facts = found.conflicts[0].constraints if found.conflicts else ()
    by: BlockedBy = "ruleBehindBudget" if tight else "rule"
    if {"volumes"} <= {fact.kind for fact in facts} <= {"volumes", "unschedulable"}:
        by = "volume"
    field = facts[0].field if facts else ""
    still = _counted_still(drain, pods[0], facts)
    text = joined_sentences((*found.narrative, still, _drives_off(drain, pods)))
    return Obstacle(
        pods,
        by if facts else "unknown",
        found.workloads[0],
        field,
        text,
        found.conflicts[0] if found.conflicts else None,
        found.message,
        proven,
        found.headline,
        explainer.subject(pods[0]) if facts else None,
    )


def _counted_still(drain: Drain, pod: int, facts: Sequence[ConflictFact]) -> str:
    """That cordoned nodes are domains all the same, unless a spread constraint honours taints."""
    constraints = drain.start.groups[int(drain.start.group_of[pod])].spec
    ignoring = {
        f"spec.topologySpreadConstraints[{index}]"
        for index, each in enumerate(constraints.topology_spread_constraints)
        if each.node_taints_policy == "Ignore"
    }
    if any(fact.field in ignoring for fact in facts):
        return "Cordoned nodes still count for spread (nodeTaintsPolicy Ignore)."
    return ""


def _not_together(
    drain: Drain, pods: tuple[int, ...], tight: Sequence[Allowance], *, proven: bool
) -> Obstacle:
    """One more finds a place, but nobody found a way for all of them."""
    ref = drain.start.workloads[int(drain.start.group_of[pods[0]])]
    text = "it finds a node alone, but not all of them do, one after the other"
    if tight:
        names = conjoined([each.name for each in tight])
        text = f"it would have to wait for others to leave, and {names} allows no more to be down"
        return Obstacle(pods, "ruleBehindBudget", ref.short, "", text, proven=proven)
    return Obstacle(pods, "rule" if proven else "unknown", ref.short, "", text, proven=proven)
