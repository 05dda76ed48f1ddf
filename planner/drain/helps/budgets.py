"""Other budgets: one that lets a pod go at a time, or one where there are several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster import Cluster
from planner.disruption.budget_status import PodCounts
from planner.drain.blocked import Obstacle
from planner.drain.find import Drain
from planner.drain.helps.carried_out import carried_out
from planner.words import conjoined
from planner_models.diagnosis import Repair
from planner_models.policy import PodDisruptionBudget, PodDisruptionBudgetStatus

COST = 50
PREFIX = "PodDisruptionBudget "


def propose(drain: Drain, obstacles: Sequence[Obstacle]) -> Iterator[Repair]:
    """All budgets that keep pods changed together, if that is enough."""
    blocking = [each for each in obstacles if each.by in ("budgetNever", "budgetNow")]
    doubled = [each for each in obstacles if each.by == "severalBudgets"]
    if not blocking and not doubled:
        return
    changed = {key: _one_more(drain.start, key) for each in blocking for key in _keys(each)}
    dropped = {key for each in doubled for key in _keys(each)[1:]}
    found = carried_out(drain, _with_budgets(drain.given, changed, dropped))
    if found is None:
        return
    texts = [_text(budget) for budget in changed.values()]
    texts += [f"delete the budget {name}" for name in sorted(dropped)]
    if len(changed) == 1 and not dropped:
        (budget,) = changed.values()
        texts = [f"budget: maxUnavailable: {budget.spec.max_unavailable} instead"]
    yield Repair(
        kind="changeBudget",
        object=", ".join(f"pdb/{key.rpartition('/')[2]}" for key in (*changed, *sorted(dropped))),
        field="spec",
        cost=COST * (len(changed) + len(dropped)),
        text=conjoined(texts),
        then=_then(drain, blocking) if blocking else "",
        command=_command(changed, dropped),
    )


def _keys(obstacle: Obstacle) -> list[str]:
    return [name.removeprefix(PREFIX) for name in obstacle.object.split(", ")]


def _one_more(cluster: Cluster, key: str) -> PodDisruptionBudget:
    """The budget as a number of pods that may be down: those that are, and one more."""
    budget = next(each for each in cluster.budgets if each.key == key)
    groups = cluster.group_index.matching(budget.spec.selector, (budget.namespace,))
    _, down = PodCounts(cluster).of(groups.tolist())
    spec = budget.spec.replace(min_available=None, max_unavailable=down + 1)
    return budget.replace(spec=spec, status=PodDisruptionBudgetStatus.defaults())


def _with_budgets(
    cluster: Cluster, changed: Mapping[str, PodDisruptionBudget], dropped: set[str]
) -> Cluster:
    budgets = (changed.get(each.key, each) for each in cluster.budgets if each.key not in dropped)
    return replace(cluster, budgets=tuple(budgets))


def _text(budget: PodDisruptionBudget) -> str:
    return f"budget {budget.name}: maxUnavailable: {budget.spec.max_unavailable}"


def _then(drain: Drain, blocking: Sequence[Obstacle]) -> str:
    """Who is down while a pod moves: all of a workload that has one replica."""
    start = drain.start
    alone: list[str] = []
    for each in blocking:
        ref = start.workloads[int(start.group_of[each.pods[0]])]
        groups = [group for group, other in enumerate(start.workloads) if other == ref]
        if len(start.pods_of(np.array(groups, np.int64))) == 1:
            alone.append(ref.name)
    if alone:
        return f"{conjoined(alone)} down meanwhile"
    return "1 pod more down at a time"


def _command(changed: Mapping[str, PodDisruptionBudget], dropped: set[str]) -> str:
    parts = []
    for key, budget in changed.items():
        namespace, _, name = key.partition("/")
        patch = f'{{"spec":{{"minAvailable":null,"maxUnavailable":{budget.spec.max_unavailable}}}}}'
        parts.append(f"kubectl -n {namespace} patch pdb {name} --type=merge -p '{patch}'")
    for key in sorted(dropped):
        namespace, _, name = key.partition("/")
        parts.append(f"kubectl -n {namespace} delete pdb {name}")
    return " && ".join(parts)
