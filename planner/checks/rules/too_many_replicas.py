"""`too-many-replicas`: more replicas than kube-scheduler reaches in any order of placements.

Rules may dead-lock before all replicas are there, although some arrangement would hold them all
(kubernetes#109364). Replicas that others could make way for, or of which nothing is proven within
the limits of a check, are a warning: they wait as things are.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_constraint, in_spec, more_nodes, with_replicas
from planner.checks.finding import Finding, Idea, Proof
from planner.checks.own_pods import alone, own_pods, waiting_pods
from planner.checks.rule import per_workload
from planner.checks.rules.no_budget import SCALED
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import PENDING
from planner.explain.diagnose import ExplainOptions
from planner.explain.room.rearrange import Limits
from planner.explain.several_pods import explain_pods
from planner.scenario import apply_changes, settle
from planner.words import count_of, short_key
from planner_models.diagnosis import Diagnosis
from planner_models.node import HOSTNAME

ID = "too-many-replicas"
LIMITS = Limits(states=20_000, tries=100, cells=4_000)
"""A check runs on every change: where a proof takes longer, it says that it has none."""
UP_TO = 2
"""Fixes are tried with so many times the replicas, to say how far they reach."""


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    cluster = subject.cluster
    pods, waiting = own_pods(cluster, workload), waiting_pods(cluster, workload)
    if not waiting or all(subject.before_rollout.node_of[waiting] >= 0):
        return
    left = _left_over(subject, waiting, preempt=True)
    if not left:
        return
    options = ExplainOptions(limits=LIMITS, repairs=False)
    found = explain_pods(alone(cluster, waiting), waiting, subject.profile, options)
    number = found.without_node or left
    running = len(pods) - number
    never = found.verdict == "impossible"
    if found.verdict == "undecided":
        told = f"whether all {len(pods)} {workload.name} pods can ever run"
        subject.undecided[ID] = ", ".join(filter(None, (subject.undecided.get(ID), told)))
    yield Finding(
        rule=ID,
        severity="error" if never else "warning",
        objects=(workload.object,),
        field=_field(workload, found),
        title=_title(workload, found, number, len(pods)),
        text=(*found.narrative, *found.rearranging, *_remedy(found)),
        facts={"runs": running, "replicas": len(pods)},
        proof=_proof(found, running) if never else Proof("simulated", seeds=1, seen=1),
        ideas=tuple(_ideas(subject, workload, running)),
    )


def _title(workload: CheckedWorkload, found: Diagnosis, number: int, of: int) -> str:
    """Of rules the number is known; for want of room other pods might be moved for some of them."""
    who = f"{number} of {count_of(of, f'{workload.name} pod')}"
    if found.verdict != "impossible":
        return f"{who} {'finds' if number == 1 else 'find'} no node as things are"
    facts = found.conflicts[0].constraints if found.conflicts else ()
    if number < of and any(fact.kind == "capacity" for fact in facts):
        return f"{who} {'finds' if number == 1 else 'find'} no node, and there is no room for all"
    return f"{who} can never run"


def _remedy(found: Diagnosis) -> Iterator[str]:
    """What would let them in, where something would."""
    if found.verdict == "stuck" and found.remedy:
        yield f"{found.remedy} would make room: planner solve --rebalance."


def _field(workload: CheckedWorkload, found: Diagnosis) -> str:
    facts = found.conflicts[0].constraints if found.conflicts else ()
    fields = [
        f.field.removeprefix("spec.") for f in facts if f.kind not in ("replicas", "capacity")
    ]
    return workload.field(fields[0]) if fields else "spec.replicas"


def _proof(found: Diagnosis, running: int) -> Proof:
    if found.counting is None or found.counting.kind != "search":
        return Proof("counted", reached=running)
    states = found.counting.numbers.get("states")
    return Proof("searched", reached=running, states=states if isinstance(states, int) else None)


def _ideas(subject: Subject, workload: CheckedWorkload, running: int) -> Iterator[Idea]:
    """Fewer replicas, wider spread; how far each reaches is tried as well."""
    pods = workload.replicas

    def all_run(changed: Subject) -> bool:
        waiting = waiting_pods(changed.cluster, workload)
        return not (waiting and _left_over(changed, waiting, preempt=True))

    if running and workload.ref.kind in SCALED:
        fewer = with_replicas(workload, running)
        yield Idea(f"replicas {pods} -> {running}", fewer, "all run", works=all_run)

    def reach(changed: Subject) -> str:
        return _reach(changed, workload)

    spec = subject.spec(workload)
    for index, constraint in enumerate(spec.topology_spread_constraints):
        if constraint.hard:
            key, skew = short_key(constraint.topology_key), constraint.max_skew + 1
            change = in_constraint(workload, index, max_skew=skew)
            yield Idea(
                f"{key}: maxSkew {skew - 1} -> {skew}", change, reach, restarts=pods, works=all_run
            )
    apart = spec.affinity.pod_anti_affinity
    if any(term.topology_key != HOSTNAME for term in apart.required):
        terms = tuple(term.replace(topology_key=HOSTNAME) for term in apart.required)
        affinity = spec.affinity.replace(pod_anti_affinity=apart.replace(required=terms))
        change = in_spec(workload, affinity=affinity)
        yield Idea(f"anti-affinity by {HOSTNAME}", change, reach, restarts=pods, works=all_run)
    for zone, added in more_nodes(subject, workload):
        yield Idea("one more node", added, reach, where=zone, works=all_run)


def _left_over(subject: Subject, waiting: list[int], *, preempt: bool = False) -> int:
    """Pods that kube-scheduler leaves without a node, nobody else waiting."""
    changed = apply_changes(alone(subject.cluster, waiting), [])
    ended = settle(changed, subject.profile, preempt=preempt).cluster
    return sum(bool(ended.node_of[pod] == PENDING) for pod in waiting)


def _reach(subject: Subject, workload: CheckedWorkload) -> str:
    """With which number of replicas the changed rules stop, if they do soon."""
    if workload.ref.kind not in SCALED:
        return ""
    most = UP_TO * workload.replicas
    more = subject.changed(with_replicas(workload, most))
    waits = _left_over(more, waiting_pods(more.cluster, workload))
    if not waits:
        return f"all run, tried up to {count_of(most, 'pod')}"
    return f"all run, up to {count_of(most - waits, 'pod')}"
