"""kube-scheduler's own word: the message that it left in the status of a waiting pod.

Where it contradicts planner on the same cluster, one of both is wrong, and users should know. A
message has no date, so it is compared only where nothing can have changed since it was written:

- it is about the present generation of the pod and about as many nodes as the input has;
- no pod is on its way out, and none is nominated for a node;
- every pod that has a node got it, and changed last, before the pod was first refused. Of pods
  that a manifest or planner itself put there, nobody says when. What goes away later leaves no
  trace, but lets kube-scheduler try again within seconds;
- the input names nothing that it lacks.

Cordons, taints and labels of nodes may have changed without another try. Where they are counted
otherwise, the counts of other reasons are not compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.rules import cards_of_plugin
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins import (
    node_resources_fit,
    pod_topology_spread,
    taint_toleration,
)
from planner.scheduler.profile import Profile, default_profile
from planner.words import named_or_counted
from planner_models.notice import Notice
from planner_models.pod import Pod

CODE = "schedulerDisagrees"

_TIME = "%Y-%m-%dT%H:%M:%SZ"
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_HEAD = re.compile(r"0/(\d+) nodes are available: (.*)", re.DOTALL)
_COUNTED = re.compile(r"(\d+) (.+)", re.DOTALL)
_TAINT = re.compile(r"node\(s\) had untolerated taint \{.*\}", re.DOTALL)
"""Older versions name the taint."""
_INSUFFICIENT = node_resources_fit.INSUFFICIENT.format("")

_INCOMPLETE = re.compile(r"unknown(?!PriorityClass|Kind)")
"""Codes of notices about what the input lacks."""


@cache
def _words() -> frozenset[str]:
    """Every reason that can be compared."""
    return frozenset(reason for plugin in default_profile().filters for reason in plugin.reasons)


@cache
def _of_nodes() -> frozenset[str]:
    """Reasons by which a node that changes refuses more pods, without another try of any."""
    static = (
        plugin
        for plugin in default_profile().filters
        if not any(card.counts_pods for card in cards_of_plugin(plugin.name))
    )
    own = frozenset(reason for plugin in static for reason in plugin.reasons)
    return own | {pod_topology_spread.REASON_LABEL}


def contradictions(
    cluster: Cluster, profiles: Sequence[Profile], pods: Iterable[int] | None = None
) -> Iterator[Notice]:
    """A notice for each message of these pods (all that wait, if None) that can't be right."""
    told = _Told(cluster, profiles)
    found: dict[tuple[str, str], list[str]] = {}
    for pod in cluster.pending.tolist() if pods is None else pods:
        if told.comparable(pod) and (ours := told.otherwise(pod)):
            record = cluster.pods[pod]
            found.setdefault((record.scheduler_message, ours), []).append(record.key)
    for (message, ours), keys in found.items():
        yield Notice(
            code=CODE,
            text=(
                f"kube-scheduler says of {named_or_counted(keys, 'pod')}: {_own(message)} "
                f"planner finds: {ours} If the input has the pods of all namespaces, and "
                "kube-scheduler's configuration if there is one, please report this with the input"
            ),
            objects=tuple(keys),
        )


class _Told:
    """What the messages say beside what planner finds, over one state of the cluster."""

    def __init__(self, cluster: Cluster, profiles: Sequence[Profile]) -> None:
        self._cluster = cluster
        self._profiles = {each.resolved.scheduler_name: each for each in profiles}
        self._known: dict[tuple[int, str], str] = {}

    def comparable(self, pod: int) -> bool:
        """Whether the pod has a message that can't be older than the rest of the input."""
        record = self._cluster.pods[pod]
        head = _HEAD.match(record.scheduler_message)
        if head is None or self._cluster.node_of[pod] != PENDING or not self._settled:
            return False
        return (
            int(head[1]) == len(self._cluster.nodes)
            and record.spec.scheduler_name in self._profiles
            and not record.spec.scheduling_gates
            and not record.terminating
            and self._last_change < _since(record)
        )

    @cached_property
    def _settled(self) -> bool:
        """Whether nothing is under way, nothing known to be missing, and all pods have a past."""
        lacking = any(_INCOMPLETE.match(notice.code) for notice in self._cluster.notices)
        moving = any(
            pod.terminating or pod.nominated_node_name or pod.spec.resource_claims
            for pod in self._cluster.pods
        )
        return not lacking and not moving and all(_since(pod) for pod in self._placed)

    @cached_property
    def _placed(self) -> list[Pod]:
        """The pods that have a node."""
        found = np.flatnonzero(self._cluster.node_of >= 0).tolist()
        return [self._cluster.pods[pod] for pod in found]

    @cached_property
    def _last_change(self) -> str:
        """When a pod that has a node was made, or changed, last.

        Times stay texts: those of the API server sort like the moments that they name.
        """
        made = max((pod.created or 0 for pod in self._placed), default=0)
        told = max((t for pod in self._placed for t in pod.condition_times.split(",")), default="")
        return max(told, datetime.fromtimestamp(made, UTC).strftime(_TIME))

    def otherwise(self, pod: int) -> str:
        """What planner finds, if that is something else; empty where both agree."""
        message = self._cluster.pods[pod].scheduler_message
        key = (int(self._cluster.group_of[pod]), message)
        if key not in self._known:
            self._known[key] = self._compared(pod, message)
        return self._known[key]

    def _compared(self, pod: int, message: str) -> str:
        profile = self._profiles[self._cluster.pods[pod].spec.scheduler_name]
        evaluation = Scheduler(self._state, profile).evaluate(pod)
        if len(evaluation.feasible):
            names = [self._cluster.nodes[node].name for node in evaluation.feasible.tolist()]
            return f"{named_or_counted(names, 'node')} would take it."
        ours = evaluation.message()
        return ours if _differ(_counts(message), _counts(ours)) else ""

    @cached_property
    def _state(self) -> SchedulingState:
        return SchedulingState(self._cluster)


def _since(pod: Pod) -> str:
    """When it was bound, or first refused, as the API server writes it; empty if nobody says."""
    times = pod.condition_times.split(",")
    for (kind, _, _), time in zip(pod.condition_kinds, times, strict=False):
        if kind == "PodScheduled" and _WRITTEN.fullmatch(time):
            return time
    return ""


def _own(message: str) -> str:
    """The message without what preemption and resource claims add to it."""
    return f"{message.partition('. ')[0].removesuffix('.')}."


def _counts(message: str) -> Counter[str] | None:
    """How many nodes have which reason; None where some reason is not in planner's words."""
    head = _HEAD.match(_own(message))
    counts: Counter[str] = Counter()
    for part in head[2].removesuffix(".").split(", ") if head is not None else ("",):
        counted = _COUNTED.fullmatch(part)
        reason = "" if counted is None else _TAINT.sub(taint_toleration.REASON, counted[2])
        if counted is None or not (reason in _words() or reason.startswith(_INSUFFICIENT)):
            return None
        counts[reason] += int(counted[1])
    return counts


def _differ(theirs: Counter[str] | None, ours: Counter[str] | None) -> bool:
    """Whether both count the same nodes by their own state, and then count pods otherwise."""
    if theirs is None or ours is None:
        return False
    return theirs != ours and all(theirs[reason] == ours[reason] for reason in _of_nodes())
