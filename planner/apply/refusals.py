"""Plans that are not carried out, whatever the cluster looks like now."""

from __future__ import annotations

from collections.abc import Iterable

from planner.documents.plan_id import plan_id
from planner.errors import RefusedError
from planner.words import count_of
from planner_models.drain import DrainPlan
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan

Reviewed = EvictionPlan | DrainPlan | Plan


def refuse(document: Reviewed, file: str, *, replan: bool) -> None:
    """Raise RefusedError unless the plan could be carried out in its own cluster."""
    if document.source is None or document.source.cluster is None or document.plan_id is None:
        raise RefusedError(
            f"{file} doesn't say which cluster it is for",
            help="a plan for a running cluster does: planner evict -o json > plan.json",
        )
    _refuse_parts(document, file)
    if plan_id(document) != document.plan_id:
        raise RefusedError(
            f"{file} was changed after it was made (it is no longer plan {document.plan_id})",
            help="what is carried out is what planner has checked: make the plan anew",
        )
    if isinstance(document, Plan):
        _refuse_rebalance(document, file)
    elif not document.converges and not replan:
        held = document.convergence
        seeds = "" if held is None else f" ({held.terminating} of {held.seeds} seeds)"
        raise RefusedError(
            f"{file} does not always end as planned{seeds}",
            help="`replan` plans again after each wave, within the approved evictions",
        )
    _refuse_without_uid(document, file)


def _refuse_parts(document: Reviewed, file: str) -> None:
    if isinstance(document, EvictionPlan) and document.way == "descheduler":
        raise RefusedError(
            f"{file} shows the descheduler's way, which planner does not carry out",
            help="planner evict without --like-descheduler is planner's own",
        )
    if not isinstance(document, Plan) and document.part is not None:
        raise RefusedError(
            f"{file} is one wave of a plan",
            help="apply takes whole plans; `wave=N` stops after a wave",
        )
    if isinstance(document, DrainPlan):
        _refuse_drain(document, file)


def _refuse_drain(document: DrainPlan, file: str) -> None:
    if document.status != "possible":
        raise RefusedError(f"{file} is a drain that is {document.status}")
    extra = any(each.extra_nodes for each in document.rounds)
    if document.options.rolling or len(document.rounds) != 1 or extra:
        nodes = " ".join(document.rounds[0].nodes) if document.rounds else "NODE..."
        raise RefusedError(
            f"{file} is a rolling drain of {count_of(len(document.rounds), 'round')}: nodes come "
            "back between them, which apply neither does nor sees",
            help=f"round by round: planner drain {nodes} -o json > round.json && "
            "planner apply round.json; uncordon the nodes when they are back, and plan the next",
        )


def _refuse_rebalance(document: Plan, file: str) -> None:
    asked = document.options
    if asked.relax or asked.preempt:
        word = "--relax" if asked.relax else "--preempt"
        raise RefusedError(f"{file} was made with {word}, which kube-scheduler would not follow")
    steps = [step for wave in document.waves for step in wave.steps]
    if any(step.surge for step in steps):
        raise RefusedError(
            f"{file} has surge steps, which are rollouts and no evictions",
            help="planner solve --rebalance without --surge",
        )
    if any(step.temporary for step in steps):
        raise RefusedError(
            f"{file} moves pods by way of other nodes, under names that nobody knows yet",
            help="planner evict --for spread looks for evictions that end well by themselves",
        )


def _refuse_without_uid(document: Reviewed, file: str) -> None:
    lacking = [pod for pod, uid in _evicted(document) if not uid]
    if lacking:
        raise RefusedError(
            f"{file} has {count_of(len(lacking), 'pod')} without a uid: {lacking[0]}",
            help="a plan for a running cluster has them",
        )


def _evicted(document: Reviewed) -> Iterable[tuple[str, str | None]]:
    if isinstance(document, Plan):
        steps = (step for wave in document.waves for step in wave.steps)
        return [(s.pod or "", s.uid) for s in steps if s.action in ("evict", "move")]
    return [(each.pod, each.uid) for each in document.evictions]


def refuse_other_cluster(document: Reviewed, file: str, now: str | None, place: str) -> None:
    """Raise RefusedError if this is not the cluster that the plan is for."""
    source = document.source
    if source is None or source.cluster == now:
        return
    made = f"it was made in context {source.context}; this is {place}" if source.context else None
    raise RefusedError(
        f"{file} is for another cluster (kube-system {_short(source.cluster)}, "
        f"this is {_short(now)})",
        help=made,
    )


def _short(uid: str | None) -> str:
    return f"{(uid or '?')[:4]}..."
