"""Manifests over a cluster: new workloads, more replicas, changed templates, other budgets.

Pods of a changed template are judged where they are, with the new template's rules, as if a rollout
had ended without moving any of them. What the rollout itself does is another question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

import msgspec
import numpy as np

from planner.cluster import ELSEWHERE, GONE, PENDING, Cluster, build_cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.templates import another_pod
from planner.scenario.scale_down import Scalable, with_fewer_pods
from planner.scenario.workload_pods import lasting_pods
from planner.sources.daemons import daemon_spec, pinned_spec
from planner.sources.defaulting import default_spec, with_priority
from planner.sources.inventory import Inventory
from planner.sources.synthesise import revision_key
from planner_models.pod import Pod, PodSpec, PodTemplate
from planner_models.taints import Toleration
from planner_models.workload import HASH_LABEL, DaemonSet, ReplicaSet, StatefulSet

ADMITTED = frozenset(("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"))
"""Tolerations of these taints come with admission: no template says them."""

_Owner = ReplicaSet | StatefulSet | DaemonSet


def applied(
    cluster: Cluster, inventory: Inventory, random: Random | None = None
) -> tuple[Cluster, tuple[str, ...]]:
    """The cluster with the inventory's objects in place of its own, and what is other than before.

    Its pods stay where they are, and new ones wait behind them. Where replicas are fewer than
    before, pods go; ties between them are drawn.
    """
    sets = tuple(_following(inventory))
    wanted = replace(inventory, replica_sets=sets)
    rollout = _Templates(wanted, cluster)
    stored = {pod.key: pod for pod in inventory.pods}
    pods = [rollout.followed(stored.get(pod.key, pod)) for pod in cluster.pods]
    pods += [pod for key, pod in stored.items() if key not in cluster.pod_index]
    known = cluster.node_index
    nodes = (*cluster.nodes, *(node for node in inventory.nodes if node.name not in known))
    after = build_cluster(replace(wanted, nodes=nodes, pods=tuple(pods)))
    placed = _placed_as(after, cluster)
    for workload in _lowered(cluster, placed):
        placed = with_fewer_pods(placed, workload, random)
    return placed, tuple(_names(cluster, after))


def changes_templates(cluster: Cluster, inventory: Inventory) -> bool:
    """Whether any pod of the cluster would be another one by the inventory's templates."""
    rollout = _Templates(replace(inventory, replica_sets=tuple(_following(inventory))), cluster)
    if rollout.rests:
        return False
    there = (cluster.node_of != GONE).tolist()
    return any(
        rollout.followed(pod) is not pod
        for pod, is_there in zip(cluster.pods, there, strict=True)
        if is_there
    )


def _lowered(cluster: Cluster, after: Cluster) -> list[Scalable]:
    """Workloads that want fewer replicas than before, and have more pods than that."""
    found: list[Scalable] = []
    for ref, now in sorted(after.owners.controllers.items()):
        before = cluster.owners.controllers.get(ref)
        if (
            isinstance(now, Scalable)
            and isinstance(before, Scalable)
            and now.metadata.controller is None
            and now.spec.replicas < before.spec.replicas
            and now.spec.replicas < len(lasting_pods(after, ref))
        ):
            found.append(now)
    return found


def _placed_as(after: Cluster, cluster: Cluster) -> Cluster:
    places = [after.node_index.get(node.name, ELSEWHERE) for node in cluster.nodes]
    now = np.append(np.array(places, np.int64), (GONE, ELSEWHERE, PENDING))
    there = now[cluster.node_of]
    return after.with_placement(dict(enumerate(there.tolist())))


def _names(cluster: Cluster, after: Cluster) -> Iterator[str]:
    """Workloads and budgets that are new or other than before; a manifest has no status."""
    before = cluster.owners.controllers
    for ref, found in sorted(after.owners.controllers.items()):
        owned = isinstance(found, ReplicaSet) and found.metadata.controller is not None
        if not owned and (ref not in before or found.spec != before[ref].spec):
            yield ref.short
    budgets = {budget.key: budget.spec for budget in cluster.budgets}
    for budget in sorted(after.budgets, key=lambda each: each.key):
        if budgets.get(budget.key) != budget.spec:
            yield f"pdb/{budget.name}"


def _following(inventory: Inventory) -> Iterator[ReplicaSet]:
    """The newest ReplicaSet of each Deployment takes over its template."""
    deployments = {each.key: each for each in inventory.deployments}
    newest: dict[str, ReplicaSet] = {}
    for each in sorted(inventory.replica_sets, key=revision_key):
        owner = each.metadata.controller
        if owner is not None and owner.kind == "Deployment":
            newest[f"{each.namespace}/{owner.name}"] = each
    current = {id(each): deployments.get(key) for key, each in newest.items()}
    for each in inventory.replica_sets:
        deployment = current.get(id(each))
        if deployment is None:
            yield each
            continue
        template = deployment.spec.template
        hashed = each.spec.template.metadata.labels.get(HASH_LABEL)
        if hashed is not None:
            labels = {**template.metadata.labels, HASH_LABEL: hashed}
            template = template.replace(metadata=template.metadata.replace(labels=labels))
        spec = each.spec.replace(template=template, replicas=deployment.spec.replicas)
        yield each.replace(spec=spec)


class _Templates:
    """What pods look like that follow their controllers' templates; equal ones share a spec."""

    def __init__(self, inventory: Inventory, cluster: Cluster) -> None:
        owners: tuple[_Owner, ...] = (
            *inventory.replica_sets,
            *inventory.stateful_sets,
            *inventory.daemon_sets,
        )
        self._owners = {
            ref: each for each in owners if not _rests(each, ref := _ref(each), cluster)
        }
        self._classes = {each.name: each for each in inventory.priority_classes}
        self._specs: dict[tuple[object, ...], tuple[PodSpec, PodSpec]] = {}
        """With the old spec beside the new one, whose identity is in the key."""

    @property
    def rests(self) -> bool:
        """Whether all templates are those that controllers had before."""
        return not self._owners

    def followed(self, pod: Pod) -> Pod:
        """The pod with its template's rules and labels; itself if it has them already."""
        if pod.owner is None or pod.terminating or not self._owners:
            return pod
        ref = WorkloadRef(pod.namespace, pod.owner.kind, pod.owner.name)
        owner = self._owners.get(ref)
        if owner is None:
            return pod
        template = _for_node(owner, pod)
        if not another_pod(template, pod, same_template=False):
            return pod
        labels = {**pod.labels, **template.metadata.labels}
        key = (ref, id(pod.spec), tuple(sorted(labels.items())), pod.node_name)
        if key not in self._specs:
            self._specs[key] = (pod.spec, self._spec(template, pod, labels))
        return msgspec.structs.replace(pod, spec=self._specs[key][1], labels=labels)

    def _spec(self, template: PodTemplate, pod: Pod, labels: Mapping[str, str]) -> PodSpec:
        fields = {name: getattr(template.spec, name) for name in PodSpec.model_fields}
        spec = with_priority(default_spec(PodSpec().replace(**fields), labels), self._classes)
        return spec.replace(tolerations=(*spec.tolerations, *_admitted(spec, pod)))


def _admitted(spec: PodSpec, pod: Pod) -> Iterator[Toleration]:
    named = {each.key for each in spec.tolerations}
    for each in pod.spec.tolerations:
        if each.key in ADMITTED - named and each.effect == "NoExecute":
            yield each


def _ref(owner: _Owner) -> WorkloadRef:
    return WorkloadRef(owner.namespace, type(owner).__name__, owner.name)


def _rests(owner: _Owner, ref: WorkloadRef, cluster: Cluster) -> bool:
    """Whether the controller's template is the one that it had before; most are."""
    before = cluster.owners.controllers.get(ref)
    return before is not None and before.spec.template == owner.spec.template


def _for_node(owner: _Owner, pod: Pod) -> PodTemplate:
    template = owner.spec.template
    if not isinstance(owner, DaemonSet):
        return template
    return template.replace(spec=pinned_spec(daemon_spec(template.spec), pod.node_name))
