"""PodLifeTime: pods that are too old, or have been in a given state, the oldest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from planner.descheduler.strategies.framework import Evictor, View, selecting, states_of
from planner.descheduler.strategies.go_sort import go_sorted
from planner.descheduler.strategies.limits import EvictionResult
from planner_models.descheduler_args import PodConditionFilter, PodLifeTimeArgs
from planner_models.pod import Pod, PodCondition

Criterion = Callable[[Pod], str | None]
"""What the pod meets of a criterion, or None."""


def deschedule(view: View, args: PodLifeTimeArgs, evictor: Evictor) -> None:
    """All criteria that are given must be met; finished pods are looked at as well."""
    selected = selecting(args.namespaces, args.label_selector)
    criteria = tuple(_criteria(view, args))
    found: dict[Pod, str] = {}
    for node in view.nodes:
        for pod in view.all_pods_on(node):
            if selected(pod) and evictor.evictable(pod):
                met = [criterion(pod) for criterion in criteria]
                if None not in met:
                    found[pod] = ", ".join(text for text in met if text)
    for pod in go_sorted(found, lambda one, other: _created(one) < _created(other)):
        if evictor.evict(pod, found[pod]) is EvictionResult.TOTAL_LIMIT:
            return


def _created(pod: Pod) -> float:
    """Absent times are Go's zero time, older than any."""
    return float("-inf") if pod.created is None else pod.created


def _criteria(view: View, args: PodLifeTimeArgs) -> Iterable[Criterion]:
    if args.max_pod_life_time_seconds is not None:
        yield _older(view.now, args.max_pod_life_time_seconds)
    if args.states:
        yield lambda pod: _in_state(pod, args)
    if args.owner_kinds is not None:
        yield lambda pod: _owned(pod, args)
    if args.conditions:
        yield lambda pod: _in_condition(pod, view.now, args.conditions)
    if args.exit_codes:
        yield lambda pod: _exited(pod, args)


def _older(now: int, limit: int) -> Criterion:
    def check(pod: Pod) -> str | None:
        age = float("inf") if pod.created is None else now - pod.created
        return f"it is older than {limit} s" if age > limit else None

    return check


def _in_state(pod: Pod, args: PodLifeTimeArgs) -> str | None:
    states: set[str] = set(args.states)
    seen = [pod.phase, pod.reason]
    init, ephemeral = args.including_init_containers, args.including_ephemeral_containers
    for container in states_of(pod, init=init, ephemeral=ephemeral):
        seen += [container.waiting or "", container.terminated or ""]
    return next((f"it is {state}" for state in seen if state in states), None)


def _owned(pod: Pod, args: PodLifeTimeArgs) -> str | None:
    """An empty text: it is no reason, but does not speak against it either."""
    kinds = {owner.kind for owner in pod.owners}
    rules = args.owner_kinds
    if rules is None:
        return ""
    if rules.include:
        return "" if kinds & set(rules.include) else None
    return None if kinds & set(rules.exclude) else ""


def _in_condition(pod: Pod, now: int, wanted: Iterable[PodConditionFilter]) -> str | None:
    for each in wanted:
        for condition in pod.conditions:
            if _matches(condition, each, now):
                return f"its condition {condition.type} is {condition.status}"
    return None


def _matches(condition: PodCondition, wanted: PodConditionFilter, now: int) -> bool:
    asked = (
        (wanted.type, condition.type),
        (wanted.status, condition.status),
        (wanted.reason, condition.reason),
    )
    if any(want and want != got for want, got in asked):
        return False
    minimum = wanted.min_time_since_last_transition_seconds
    if minimum is None:
        return True
    return condition.since is not None and now - condition.since >= minimum


def _exited(pod: Pod, args: PodLifeTimeArgs) -> str | None:
    """Ephemeral containers are not looked at here, whatever the arguments say."""
    for state in states_of(pod, init=args.including_init_containers):
        if state.exit_code in args.exit_codes:
            return f"a container ended with {state.exit_code}"
    return None
