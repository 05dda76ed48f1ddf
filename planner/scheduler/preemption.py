"""What happens to a pod that no node takes: PostFilter, and the text of its event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from planner.scheduler.cycle import Evaluation, Scheduler, fit_error
from planner.scheduler.framework.plugin import UNRESOLVABLE, Status
from planner.scheduler.plugins.default_preemption import (
    DefaultPreemption,
    DryRun,
    Victims,
    least_missed,
)

NO_CLAIMS = "no new claims to deallocate"
"""DynamicResources, of a pod without resource claims."""
NOT_FOUND = "not found"
"""DynamicResources, if an earlier plugin's PreFilter kept its own from running."""
NEVER = "not eligible due to preemptionPolicy=Never."
STILL_TERMINATING = "not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL = Status("", UNRESOLVABLE, ("Preemption is not helpful for scheduling",))

_DYNAMIC_RESOURCES = "DynamicResources"

Offset = int | np.random.Generator
"""Where the search begins among the nodes that preemption might help, or what draws it."""


@dataclass(frozen=True)
class Preemption:
    """What PostFilter decides about an unschedulable pod; nothing is evicted by it.

    kube-scheduler nominates any of `nominated_any_of`; `nominated` is the first by name, and
    `victims` are those on it. `message` is empty if a node is nominated.
    """

    code: Literal["Success", "Unschedulable", "Error"]
    message: str = ""
    candidates: Mapping[int, Victims] = field(default_factory=dict)
    nominated_any_of: tuple[int, ...] = ()
    nominated: int | None = None
    victims: tuple[int, ...] = ()


def preempt(
    scheduler: Scheduler,
    evaluation: Evaluation,
    offset: Offset = 0,
    nominated: Mapping[int, Sequence[int]] | None = None,
) -> Preemption:
    """Ask the profile's PostFilter plugins in order, until one nominates a node or fails.

    Without any node kube-scheduler doesn't come to PostFilter. `nominated` are, by node, pods that
    wait for it and that this one can't push aside.
    """
    reasons: list[str] = []
    any_node = len(scheduler.state.all_nodes) > 0
    for plugin in scheduler.profile.resolved.post_filter if any_node else ():
        if plugin == _DYNAMIC_RESOURCES:
            if evaluation.rejection is not None:
                return Preemption("Error", NOT_FOUND)
            reasons.append(NO_CLAIMS)
        elif plugin == DefaultPreemption.name:
            found = _default_preemption(scheduler, evaluation, offset, nominated)
            if isinstance(found, Preemption):
                return found
            reasons.append(f"preemption: {found}")
    return Preemption("Unschedulable", ", ".join(reasons))


def event_message(evaluation: Evaluation, preemption: Preemption) -> str:
    """The text of the FailedScheduling event: why no node takes the pod, then PostFilter's word."""
    message = evaluation.message()
    return f"{message} {preemption.message}" if preemption.message else message


def _default_preemption(
    scheduler: Scheduler,
    evaluation: Evaluation,
    offset: Offset,
    nominated: Mapping[int, Sequence[int]] | None,
) -> Preemption | str:
    """The nomination, or why there is none."""
    state, pod = scheduler.state, evaluation.pod
    ineligible = _ineligible(scheduler, evaluation)
    if ineligible is not None:
        return ineligible
    nodes: list[int] = np.flatnonzero(evaluation.resolvable).tolist()
    plugin = DefaultPreemption(scheduler.profile.resolved.args.default_preemption)
    filters = [each for _, each in scheduler.cycle(pod).filters]
    dry_run = DryRun(state, filters, pod, nominated)
    candidates, refusals = plugin.candidates(dry_run, _from(nodes, offset))
    if not candidates:
        counts = Counter(refusals.values())
        return fit_error(len(state.all_nodes), None, counts, NOT_HELPFUL)
    best = least_missed(state, candidates)
    return Preemption("Success", "", candidates, best, best[0], candidates[best[0]].pods)


def _ineligible(scheduler: Scheduler, evaluation: Evaluation) -> str | None:
    """Why the pod may not preempt others at all.

    A pod that already has, and waits for its victims to be gone from the nominated node, preempts
    no more, unless nothing can make that node fit any longer.
    """
    state = scheduler.state
    preemptor = state.pod(evaluation.pod)
    if preemptor.spec.preemption_policy == "Never":
        return NEVER
    node = state.cluster.node_index.get(preemptor.nominated_node_name)
    if node is None or not evaluation.resolvable[node]:
        return None
    others = (state.pod(other) for other in np.flatnonzero(state.node_of == node).tolist())
    leaving = any(o.preempted and o.priority < preemptor.priority for o in others)
    return STILL_TERMINATING if leaving else None


def _from(nodes: Sequence[int], offset: Offset) -> list[int]:
    """The nodes in order, beginning at the offset."""
    if not nodes:
        return []
    start = offset if isinstance(offset, int) else int(offset.integers(len(nodes)))
    start %= len(nodes)
    return [*nodes[start:], *nodes[:start]]
