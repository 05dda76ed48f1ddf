"""`rollout-deadlock`: a rolling update that stops, because its next pod finds no node.

With maxUnavailable rounded down to 0 a new pod has to run before an old one may go; where the old
ones keep it out (anti-affinity is symmetric) or no room is left, nothing ever changes
(kubernetes#116891).
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_object, in_spec, more_nodes
from planner.checks.finding import Change, Finding, Idea, Proof
from planner.checks.rollouts import Rollouts, rollouts_of
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.words import count_of
from planner_models.affinity import WeightedPodAffinityTerm
from planner_models.workload import HASH_LABEL, Deployment

ID = "rollout-deadlock"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    found = rollouts_of(subject, workload)
    if found is None or not found.stuck:
        return
    every = len(found.stuck) == len(found.runs)
    run = min(found.stuck, key=lambda each: each.replaced)
    begins = "before it begins" if not run.replaced else f"after {run.replaced} of {run.of} pods"
    what = "the rolling update" if found.changes else "the next rolling update"
    yield Finding(
        rule=ID,
        severity="error" if every else "warning",
        objects=(workload.object,),
        field="spec.strategy.rollingUpdate",
        title=f"{what} of {workload.name} {'stops' if every else 'may stop'} {begins}",
        text=(
            _rounding(subject, workload, found),
            f"Simulated: {run.replaced} of {run.of} replaced, "
            f"{count_of(len(run.waiting), 'pod')} pending for ever. kube-scheduler says: "
            f"{run.message}",
            *_old_rules(run.message),
        ),
        facts={"replaced": run.replaced, "of": run.of},
        proof=Proof("simulated", seeds=len(found.runs), seen=len(found.stuck)),
        ideas=tuple(_ideas(subject, workload)),
    )


def _old_rules(message: str) -> Iterator[str]:
    """Anti-affinity is symmetric: what the new template asks for is not all that counts."""
    if "anti-affinity" in message:
        yield (
            "Running pods keep the anti-affinity that they were made with, and keep new pods out "
            "until they are gone."
        )


def _rounding(subject: Subject, workload: CheckedWorkload, found: Rollouts) -> str:
    """What the strategy's percentages come to, and what that means."""
    strategy = found.strategy
    numbers = (
        f"Of {count_of(strategy.replicas, 'replica')} at most {strategy.surge} more may be there "
        f"(maxSurge, rounded up) and {strategy.unavailable} fewer (maxUnavailable, rounded down)."
    )
    if strategy.unavailable:
        return numbers
    return f"{numbers} So the first new pod has to run before an old one may go."


def _ideas(subject: Subject, workload: CheckedWorkload) -> Iterator[Idea]:
    def ending(changed: Subject) -> str:
        return _ending(changed, workload)

    yield Idea("maxUnavailable: 1", _rolling(workload, max_unavailable=1), ending)
    yield Idea(
        "maxSurge: 0, maxUnavailable: 1",
        _rolling(workload, max_surge=0, max_unavailable=1),
        ending,
    )
    for zone, node in more_nodes(subject, workload):
        yield Idea("one more node", node, ending, where=zone)
    apart = subject.spec(workload).affinity.pod_anti_affinity
    if apart.required:
        soft = tuple(
            WeightedPodAffinityTerm(weight=100, pod_affinity_term=term) for term in apart.required
        )
        keyed = tuple(
            term.replace(match_label_keys=tuple({*term.match_label_keys, HASH_LABEL}))
            if term.label_selector is not None
            else term
            for term in apart.required
        )
        changed = {
            "anti-affinity as preferred": apart.replace(
                required=(), preferred=(*apart.preferred, *soft)
            ),
            f"matchLabelKeys: [{HASH_LABEL}]": apart.replace(required=keyed),
        }
        for text, terms in changed.items():
            affinity = subject.spec(workload).affinity.replace(pod_anti_affinity=terms)
            yield Idea(
                text,
                in_spec(workload, affinity=affinity),
                ending,
                restarts=workload.replicas,
                naming_in_vain=True,
            )


def _rolling(workload: CheckedWorkload, **fields: int) -> Change:
    def edited(found: Deployment) -> Deployment:
        strategy = found.spec.strategy
        rolling = strategy.rolling_update.replace(**fields)
        strategy = strategy.replace(type="RollingUpdate", rolling_update=rolling)
        return found.replace(spec=found.spec.replace(strategy=strategy))

    return in_object(workload, edited)


def _ending(subject: Subject, workload: CheckedWorkload) -> str:
    found = rollouts_of(subject, workload)
    if found is None:
        return ""
    down = max(run.most_down for run in found.runs)
    told = f"{workload.replicas} of {workload.replicas} replaced"
    return f"{told}, {down} down" if down else told
