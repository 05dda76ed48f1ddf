"""`priority-preempts`: pods that run at the cost of others of lower priority.

kube-scheduler drives off running pods where a pod of higher priority finds no node, and budgets
hold only as far as there are other victims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from planner.checks.changes import with_replicas
from planner.checks.finding import Finding, Idea, Proof
from planner.checks.own_pods import alone, waiting_pods
from planner.checks.rule import per_workload
from planner.checks.rules.no_budget import SCALED
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import PENDING, Cluster
from planner.disruption.budget_status import budget_statuses
from planner.scenario import apply_changes, settle
from planner.sources.inventory import Inventory
from planner.words import conjoined, count_of

ID = "priority-preempts"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    cluster, spec = subject.cluster, subject.spec(workload)
    waiting = waiting_pods(cluster, workload)
    if not waiting or not spec.priority:
        return
    changed = apply_changes(alone(cluster, waiting), [])
    ended = settle(changed, subject.profile, preempt=True)
    victims = [pod for pod in dict.fromkeys(ended.preempted) if pod not in set(waiting)]
    if not victims:
        return
    peaceful = settle(changed, subject.profile)
    fit = sum(bool(peaceful.cluster.node_of[pod] != PENDING) for pod in waiting)
    pending = [pod for pod in victims if ended.cluster.node_of[pod] < 0]
    rest = len(waiting) - fit
    yield Finding(
        rule=ID,
        severity="warning",
        objects=(workload.object,),
        field=workload.field("priorityClassName"),
        title=f"{workload.name} runs at the cost of {count_of(len(victims), 'running pod')}",
        text=(
            f"{fit} of its {count_of(len(waiting), 'pod')} {'finds' if fit == 1 else 'find'} room; "
            f"the other{'s preempt' if rest > 1 else ' one preempts'} {_named(cluster, victims)} "
            f"(lower priority). {_again(cluster, victims, pending)}{_overrun(cluster, victims)}",
        ),
        facts={"preempted": len(victims), "pending": len(pending), "fit": fit},
        proof=Proof("simulated", seeds=1, seen=1),
        ideas=tuple(_ideas(subject, workload, fit, len(waiting))),
    )


def _again(cluster: Cluster, victims: list[int], pending: list[int]) -> str:
    found, waits = len(victims) - len(pending), len(pending)
    if not waits:
        return "All of those find another node."
    told = f"{waits} {'stays' if waits == 1 else 'stay'} pending: {_named(cluster, pending)}."
    if not found:
        return told
    return (
        f"{found} of those {len(victims)} {'finds' if found == 1 else 'find'} another node, {told}"
    )


def _overrun(cluster: Cluster, victims: list[int]) -> str:
    """Preemption looks at budgets, and goes over them where nothing else is left."""
    hit = Counter(int(cluster.group_of[pod]) for pod in victims)
    broken = [
        f"that of {status.budget.name} ({status.allowed})"
        for status in budget_statuses(cluster)
        if sum(hit[group] for group in status.groups) > status.allowed
    ]
    if not broken:
        return ""
    return f" Of the budgets {conjoined(broken)} {'does' if len(broken) == 1 else 'do'} not hold."


def _ideas(subject: Subject, workload: CheckedWorkload, fit: int, pods: int) -> Iterator[Idea]:
    """Only as many as find room, or a class that drives nobody off."""
    fewer = workload.replicas - pods + fit
    if fewer > 0 and workload.ref.kind in SCALED:
        text = f"replicas {workload.replicas} -> {fewer}"
        yield Idea(text, with_replicas(workload, fewer), "nobody is driven off")
    name = subject.spec(workload).priority_class_name

    def never(inventory: Inventory) -> Inventory:
        classes = tuple(
            each.replace(preemption_policy="Never") if each.name == name else each
            for each in inventory.priority_classes
        )
        return replace(inventory, priority_classes=classes)

    waits = count_of(pods - fit, f"{workload.name} pod waits", f"{workload.name} pods wait")
    yield Idea("a PriorityClass with preemptionPolicy: Never", never, f"then {waits}")


def _named(cluster: Cluster, pods: list[int]) -> str:
    counts = Counter(cluster.workloads[int(cluster.group_of[pod])].name for pod in pods)
    return conjoined([f"{name} {count}" for name, count in counts.most_common()])
