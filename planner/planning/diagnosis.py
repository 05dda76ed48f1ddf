"""Why a pod has no node, in one sentence, out of the scheduler's own verdicts.

All filters are asked about every node. The fewest of them that together refuse every node make the
sentence: the first ones say what they leave, the last one why that does not take the pod either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from models.quantity import format_resource
from models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.scheduler.cycle import Evaluation, Scheduler
from planner.scheduler.plugins.inter_pod_affinity import REASON_AFFINITY, InterPodAffinity
from planner.scheduler.plugins.node_affinity import NodeAffinity
from planner.scheduler.plugins.node_ports import NodePorts
from planner.scheduler.plugins.node_resources_fit import INSUFFICIENT, NodeResourcesFit
from planner.scheduler.plugins.node_unschedulable import NodeUnschedulable
from planner.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from planner.scheduler.plugins.pod_topology_spread import PodTopologySpread
from planner.scheduler.plugins.taint_toleration import TaintToleration
from planner.scheduler.plugins.volume_binding import VolumeBinding
from planner.scheduler.plugins.volume_restrictions import VolumeRestrictions
from planner.scheduler.plugins.volume_zone import VolumeZone
from planner.scheduler.profile import Profile
from planner.scheduler.state import SchedulingState

NAMED = 6
"""Names come one by one up to here, then they are counted."""

_ORDER = (
    VolumeZone.name,
    VolumeBinding.name,
    VolumeRestrictions.name,
    NodeVolumeLimits.name,
    NodeAffinity.name,
    TaintToleration.name,
    NodeUnschedulable.name,
    PodTopologySpread.name,
    InterPodAffinity.name,
    NodePorts.name,
    NodeResourcesFit.name,
)
"""What narrows comes before what counts; capacity is the last word."""

_RULES: Mapping[str, tuple[str, str]] = {
    VolumeZone.name: ("its volume's zone leaves {}", "its volume's zone excludes {}"),
    VolumeBinding.name: ("its volumes leave {}", "its volumes can't be used on {}"),
    VolumeRestrictions.name: ("its volumes leave {}", "its volumes are in use elsewhere for {}"),
    NodeVolumeLimits.name: ("volume limits leave {}", "{} can't attach more volumes"),
    NodeAffinity.name: ("node affinity leaves {}", "node affinity excludes {}"),
    TaintToleration.name: ("taints leave {}", "it does not tolerate the taints of {}"),
    NodeUnschedulable.name: ("cordons leave {}", "{} is cordoned"),
    InterPodAffinity.name: ("rules about other pods leave {}", ""),
    NodePorts.name: ("free host ports leave {}", "its host port is taken on {}"),
}
"""(what a filter leaves, that it refuses), unless a method of _Sentence says it better."""


class Diagnoser:
    """Sentences about pods that have no node in a snapshot; equal for interchangeable pods."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        self._scheduler = Scheduler(SchedulingState(cluster), profile)
        self._known: dict[int, str] = {}

    def sentence(self, pod: int) -> str:
        """Why no node takes the pod."""
        group = int(self._cluster.group_of[pod])
        if group not in self._known:
            self._known[group] = self._diagnose(pod)
        return self._known[group]

    def _diagnose(self, pod: int) -> str:
        evaluation = self._scheduler.evaluate(pod)
        group = self._cluster.groups[self._cluster.group_of[pod]]
        if evaluation.rejection is not None:
            return "; ".join(evaluation.rejection.reasons)
        if len(evaluation.feasible):
            node = self._cluster.nodes[int(evaluation.feasible[0])].name
            return f"not placed within the limit, although {node} would take it"
        return _too_big(self._cluster, group) or _Sentence(self._cluster, group, evaluation).text()


def _too_big(cluster: Cluster, group: PodGroup) -> str | None:
    """A request above what any node has in all."""
    for name, amount in sorted(group.spec.requests.items()):
        largest = int(cluster.resources.allocatable[:, cluster.resources.column(name)].max())
        if amount > largest:
            had = format_resource(name, largest)
            return f"needs {_amount(name, amount)}; the largest node has {had}"
    return None


def _amount(resource: str, amount: int) -> str:
    """`1 CPU`, `2Gi memory`."""
    unit = {CPU: "CPU", EPHEMERAL_STORAGE: "ephemeral storage"}.get(resource, resource)
    return f"{format_resource(resource, amount)} {unit}"


class _Sentence:
    """One diagnosis in the making: who refuses which nodes."""

    def __init__(self, cluster: Cluster, group: PodGroup, evaluation: Evaluation) -> None:
        self._cluster = cluster
        self._group = group
        self._refusals = evaluation.refusals()
        self._evaluation = evaluation
        self._refused: dict[str, BoolArray] = {}
        self._reasons: dict[str, dict[int, tuple[str, ...]]] = {}
        for node, statuses in self._refusals.items():
            for status in statuses:
                refused = self._refused.setdefault(
                    status.plugin, np.zeros(len(cluster.nodes), np.bool_)
                )
                refused[node] = True
                self._reasons.setdefault(status.plugin, {})[node] = status.reasons

    def text(self) -> str:
        """The sentence; kube-scheduler's own text where no few filters explain it."""
        cover = self._cover()
        if cover is None:
            return self._evaluation.message().rstrip(".")
        left = np.ones(len(self._cluster.nodes), np.bool_)
        parts: list[str] = []
        for plugin in cover[:-1]:
            left &= ~self._refused[plugin]
            parts.append(self._leaves(plugin, left))
        last = self._excludes(cover[-1], left, narrowed=bool(parts))
        return f"{', '.join(parts)}, and {last}" if parts else last

    def _cover(self) -> tuple[str, ...] | None:
        """The fewest filters that leave no node, at most three; earlier ones of _ORDER first."""
        known = [plugin for plugin in _ORDER if plugin in self._refused]
        for size in (1, 2, 3):
            for chosen in combinations(known, size):
                if np.logical_or.reduce([self._refused[plugin] for plugin in chosen]).all():
                    return chosen
        return None

    def _leaves(self, plugin: str, left: BoolArray) -> str:
        if plugin == PodTopologySpread.name:
            places = self._domains(left)
            verb = "is" if len(places) == 1 else "are"
            return f"only {_named(places, 'domains')} {verb} allowed"
        return _RULES[plugin][0].format(_named(self._names(left), "nodes"))

    def _excludes(self, plugin: str, left: BoolArray, *, narrowed: bool) -> str:
        there = " there" if narrowed else ""
        says: Mapping[str, Callable[[BoolArray, str], str]] = {
            NodeResourcesFit.name: self._no_room,
            PodTopologySpread.name: self._no_domain,
            InterPodAffinity.name: self._no_company,
        }
        if plugin in says:
            return says[plugin](left, there)
        return _RULES[plugin][1].format(f"every node{there}")

    def _no_room(self, left: BoolArray, there: str) -> str:
        """The resources that every node lacks; several that are short in turns are named all."""
        reasons = [self._reasons[NodeResourcesFit.name][n] for n in np.flatnonzero(left).tolist()]
        requests = self._group.spec.requests
        always = [r for r in requests if all(INSUFFICIENT.format(r) in each for each in reasons)]
        ever = [r for r in requests if any(INSUFFICIENT.format(r) in each for each in reasons)]
        short = sorted(always)[:1] or sorted(ever, key=_by_importance)
        if not short:
            return f"every node{there} has as many pods as it may have"
        amounts = " and ".join(_amount(name, requests[name]) for name in short)
        return f"no node{there} has {amounts} free"

    def _no_domain(self, left: BoolArray, there: str) -> str:
        keys = [
            _short(c.topology_key) for c in self._group.spec.topology_spread_constraints if c.hard
        ]
        joined = " and ".join(dict.fromkeys(keys))
        verb = "leaves" if len(set(keys)) == 1 else "together leave"
        return f"{joined} spread {verb} no node{there}"

    def _no_company(self, left: BoolArray, there: str) -> str:
        reasons = self._reasons[InterPodAffinity.name]
        said = {reason for n in np.flatnonzero(left).tolist() for reason in reasons[n]}
        if said == {REASON_AFFINITY}:
            return f"no pod that it has to be near runs{there or ' where it may go'}"
        own = self._group.spec.affinity.pod_anti_affinity.required
        if REASON_AFFINITY not in said and len(own) == 1 and not there:
            key, selector = own[0].topology_key, own[0].label_selector
            if selector is not None and selector.matches(self._group.example.labels):
                name = self._cluster.workloads[self._group.index].name
                return f"at most 1 {name} per {_short(key)}, and every {_short(key)} has one"
        return f"rules about other pods exclude every node{there}"

    def _domains(self, left: BoolArray) -> list[str]:
        """The domains of the first hard constraint that the nodes are in."""
        hard = [c for c in self._group.spec.topology_spread_constraints if c.hard]
        key = hard[0].topology_key
        values = {self._cluster.nodes[n].labels.get(key, "") for n in np.flatnonzero(left).tolist()}
        return sorted(values)

    def _names(self, left: BoolArray) -> list[str]:
        return [self._cluster.nodes[n].name for n in np.flatnonzero(left).tolist()]


def _by_importance(resource: str) -> tuple[int, str]:
    standard = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
    return (standard.index(resource) if resource in standard else len(standard), resource)


def _named(names: Sequence[str], plural: str) -> str:
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} {plural}"


def _short(key: str) -> str:
    return key.rpartition("/")[2]
