"""The pods of a DaemonSet by node, and one of the new template for each node that should have it.

All of these pods are put into one snapshot before a rollout begins, so that its runs differ in
placement alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from planner.cluster import Cluster
from planner.cluster.new_pods import with_new_pods
from planner.cluster.owners import WorkloadRef
from planner.disruption.templates import another_pod
from planner.scenario.controller_run import Stage
from planner.scenario.daemon_set import wants
from planner.scenario.new_revision import (
    labelled,
    new_names,
    replica_mould,
    same_revision,
    template_hash,
)
from planner.scenario.workload_pods import workload_pods
from planner.scheduler.profile import Profile
from planner.sources.daemons import daemon_spec, pinned_node, pinned_spec
from planner.sources.replicas import Mould, owner_of
from planner_models.pod import Pod, PodTemplate
from planner_models.workload import REVISION_LABEL, DaemonSet


@dataclass(frozen=True)
class NodePods:
    """A node's pods in the snapshot, oldest first, and the one that may be made.

    `new` is None where the node should not run any; `runs` and `stays` as in `DaemonNode`.
    """

    stored: tuple[int, ...]
    new: int | None
    runs: bool
    stays: bool

    @property
    def pods(self) -> tuple[int, ...]:
        """All that may be there, oldest first."""
        return self.stored if self.new is None else (*self.stored, self.new)


def daemon_set_stage(
    cluster: Cluster, profile: Profile, before: DaemonSet, after: DaemonSet
) -> tuple[Stage, dict[int, NodePods], frozenset[int]]:
    """The stage, the pods by node, and those of the new template."""
    stored = _stored(cluster, before)
    everybody = [pod for pods in stored.values() for pod in pods]
    updated = set[int]()
    if same_revision(before.spec.template, after.spec.template):
        updated = _of_newest(cluster, after, everybody)
    spec = daemon_spec(after.spec.template.spec)
    living = [n for n in range(len(cluster.nodes)) if n not in cluster.ghosts]
    wanted = {node: wants(spec, cluster.nodes[node]) for node in living}
    moulds = _Moulds(cluster, before, after, stored)
    running = [node for node, (runs, _) in wanted.items() if runs]
    taken = (pod.name for pod in cluster.pods if pod.namespace == after.namespace)
    names = new_names(after.namespace, after.name, len(running), taken)
    made = [moulds.of(node).pod(name) for node, name in zip(running, names, strict=True)]
    new = {node: len(cluster.pods) + i for i, node in enumerate(running)}
    found = {n: NodePods(stored.get(n, ()), new.get(n), *wanted[n]) for n in living}
    owners = cluster.owners.with_controllers((after,))
    staged = with_new_pods(cluster, made, owners)
    stage = Stage(staged, profile, [pod for each in found.values() for pod in each.pods])
    return stage, found, frozenset(updated.union(new.values()))


def _stored(cluster: Cluster, daemon_set: DaemonSet) -> dict[int, tuple[int, ...]]:
    """Pods by the node that they are on or wait for; those that wait come last."""
    ref = WorkloadRef(daemon_set.namespace, "DaemonSet", daemon_set.name)
    found: dict[int, list[int]] = defaultdict(list)
    for pod in workload_pods(cluster, ref):
        node: int | None = int(cluster.node_of[pod])
        if node is not None and node < 0:
            node = cluster.node_index.get(pinned_node(cluster.pods[pod]))
        if node is not None:
            found[node].append(pod)

    def age(pod: int) -> tuple[bool, int]:
        return bool(cluster.node_of[pod] < 0), cluster.pods[pod].created or 0

    return {node: tuple(sorted(pods, key=age)) for node, pods in found.items()}


def _of_newest(cluster: Cluster, daemon_set: DaemonSet, pods: Iterable[int]) -> set[int]:
    """Pods that the template makes; of several revisions that look alike, the youngest pod's."""
    alike = [pod for pod in pods if _fits(cluster.pods[pod], daemon_set.spec.template)]
    youngest = max(alike, key=lambda pod: (cluster.pods[pod].created or 0, pod), default=None)
    if youngest is None:
        return set()
    label = cluster.pods[youngest].labels.get(REVISION_LABEL)
    return {pod for pod in alike if cluster.pods[pod].labels.get(REVISION_LABEL) == label}


def _fits(pod: Pod, template: PodTemplate) -> bool:
    spec = pinned_spec(daemon_spec(template.spec), pod.node_name or pinned_node(pod))
    return not another_pod(template.replace(spec=spec), pod, same_template=False)


class _Moulds:
    """New pods by node; where the spec stays, pods that are there show what admission adds."""

    def __init__(
        self,
        cluster: Cluster,
        before: DaemonSet,
        after: DaemonSet,
        stored: Mapping[int, tuple[int, ...]],
    ) -> None:
        self._cluster = cluster
        self._owner = after
        same = before.spec.template.spec == after.spec.template.spec
        self._siblings = {node: pods[0] for node, pods in stored.items()} if same else {}
        template = after.spec.template.replace(spec=daemon_spec(after.spec.template.spec))
        self._template = labelled(template, REVISION_LABEL, template_hash(after.spec.template))
        self._any = self._made(next(iter(self._siblings.values()), None))

    def of(self, node: int) -> Mould:
        """What the DaemonSet makes for a node."""
        sibling = self._siblings.get(node)
        if sibling is not None:
            return self._made(sibling)
        spec = pinned_spec(self._any.spec, self._cluster.nodes[node].name)
        return replace(self._any, spec=spec)

    def _made(self, sibling: int | None) -> Mould:
        record = None if sibling is None else self._cluster.pods[sibling]
        owner = owner_of("DaemonSet", self._owner.metadata)
        namespace = self._owner.namespace
        return replica_mould(self._cluster, self._template, namespace, owner, record)
