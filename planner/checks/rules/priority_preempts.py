"""`priority-preempts`: pods that run at the cost of others of lower priority.

kube-scheduler drives off running pods where a pod of higher priority finds no node, and budgets
hold only as far as there are other victims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from planner.checks.finding import Finding, Proof
from planner.checks.own_pods import alone, waiting_pods
from planner.checks.rule import Rule, per_workload
from planner.checks.subject import CheckedWorkload, Subject
from planner.cluster import PENDING, Cluster
from planner.scenario import apply_changes, settle
from planner.words import conjoined, count_of

ID = "priority-preempts"


def _find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
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
    fit = sum(peaceful.cluster.node_of[pod] != PENDING for pod in waiting)
    pending = [pod for pod in victims if ended.cluster.node_of[pod] < 0]
    yield Finding(
        rule=ID,
        severity="warning",
        objects=(workload.object,),
        field=workload.field("priorityClassName"),
        title=f"{workload.name} runs at the cost of {count_of(len(victims), 'running pod')}",
        text=(
            f"{fit} of its {count_of(len(waiting), 'pod')} find room; the others preempt "
            f"{_named(cluster, victims)} (lower priority).",
            f"{len(victims) - len(pending)} of those {len(victims)} find another node, "
            f"{len(pending)} stay pending{f': {_named(cluster, pending)}' if pending else ''}.",
        ),
        facts={"preempted": len(victims), "pending": len(pending), "fit": fit},
        proof=Proof("simulated", seeds=1, seen=1),
    )


def _named(cluster: Cluster, pods: list[int]) -> str:
    counts = Counter(cluster.workloads[int(cluster.group_of[pod])].name for pod in pods)
    return conjoined([f"{name} {count}" for name, count in counts.most_common()])


RULE = Rule(ID, "warning", True, "pods that drive others off", per_workload(_find))
