"""The ReplicaSets of a Deployment in a snapshot, and the pods that they may make.

All of these pods are put into one snapshot before a rollout begins, so that its runs differ in
placement alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.cluster import Cluster
from planner.cluster.new_pods import with_new_pods
from planner.cluster.owners import WorkloadRef
from planner.scenario.controller_run import Stage
from planner.scenario.deployment import Revision, Strategy, strategy_of
from planner.scenario.new_revision import (
    labelled,
    new_names,
    replica_mould,
    same_revision,
    template_hash,
)
from planner.scenario.workload_pods import lasting_pods
from planner.scheduler.profile import Profile
from planner.sources.replicas import owner_of
from planner.sources.synthesise import replica_set_of, revision_key
from planner_models.pod import Pod, PodTemplate
from planner_models.selectors import LabelSelector
from planner_models.workload import HASH_LABEL, Deployment, ReplicaSet

DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"


@dataclass(frozen=True, eq=False)
class Replicas:
    """A ReplicaSet at the beginning of a rollout, with the pods that it has or may make."""

    owner: ReplicaSet
    start: Revision
    pods: tuple[int, ...]


def replica_sets_of(cluster: Cluster, deployment: Deployment) -> list[Replicas]:
    """The ReplicaSets of a Deployment, oldest first, with their pods that are not leaving.

    Where the input lacks them, they are known by the names of their pods' owners; that of most pods
    is then taken for the present one.
    """
    ref = WorkloadRef(deployment.namespace, "Deployment", deployment.name)
    pods_of: dict[str, list[int]] = {}
    for pod in lasting_pods(cluster, ref):
        owner = cluster.pods[pod].owner
        if owner is not None:
            pods_of.setdefault(owner.name, []).append(pod)
    known = {each.name: each for each in cluster.owners.replica_sets_of(ref)}
    found = [
        Replicas(each, _start(cluster, each, pods_of.get(name, ()), each.spec.replicas), ())
        for name, each in known.items()
    ]
    for name in sorted(pods_of.keys() - known.keys(), key=lambda name: (len(pods_of[name]), name)):
        guessed = replica_set_of(deployment, name.removeprefix(f"{deployment.name}-"))
        found.append(Replicas(guessed, _start(cluster, guessed, pods_of[name], None), ()))
    found = [replace(each, pods=tuple(pods_of.get(each.owner.name, ()))) for each in found]
    return sorted(found, key=lambda each: (each.start.created, each.start.name))


def _start(cluster: Cluster, owner: ReplicaSet, pods: Sequence[int], size: int | None) -> Revision:
    """Pods that were made up for the snapshot are there because the Deployment wants them."""
    made_up = any(cluster.pods[pod].synthesised for pod in pods)
    annotations = owner.metadata.annotations
    return Revision(
        name=owner.name,
        size=len(pods) if made_up or size is None else size,
        created=owner.metadata.creation_timestamp or 0,
        desired=_number(annotations.get(DESIRED)),
        most=_number(annotations.get(MOST)),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


@dataclass(frozen=True, eq=False)
class Planned:
    """A Deployment with the template that it gets, and its ReplicaSets by name, `new` of it."""

    deployment: Deployment
    strategy: Strategy
    sets: dict[str, Replicas]
    new: str

    @property
    def pods(self) -> tuple[int, ...]:
        """Those that it has or may make."""
        return tuple(pod for each in self.sets.values() for pod in each.pods)


def deployment_stage(
    cluster: Cluster, profile: Profile, changes: Sequence[tuple[Deployment, Deployment]]
) -> tuple[Stage, tuple[Planned, ...]]:
    """One stage for rollouts of any of these Deployments: as they are, and as they come to be."""
    made: list[Pod] = []
    namespaces = {each.namespace for each, _ in changes}
    taken: dict[str, list[str]] = {name: [] for name in namespaces}
    for pod in cluster.pods:
        if pod.namespace in namespaces:
            taken[pod.namespace].append(pod.name)
    planned = tuple(
        _planned(cluster, after, replica_sets_of(cluster, before), made, taken[after.namespace])
        for before, after in changes
    )
    sets = (each.owner for plan in planned for each in plan.sets.values())
    owners = cluster.owners.with_controllers((*(after for _, after in changes), *sets))
    staged = with_new_pods(cluster, made, owners)
    return Stage(staged, profile, [pod for each in planned for pod in each.pods]), planned


def _planned(
    cluster: Cluster,
    deployment: Deployment,
    found: Sequence[Replicas],
    made: list[Pod],
    taken: Sequence[str],
) -> Planned:
    """Pods that its ReplicaSets may make are added to those that were `made` so far."""
    strategy = strategy_of(deployment)
    current = _with_template(found, deployment.spec.template)
    sets = list(found) if current is not None else [*found, _fresh(deployment, found)]
    new = (current or sets[-1]).owner.name
    for i, each in enumerate(sets):
        missing = _most_pods(each, strategy, new=each.owner.name == new) - len(each.pods)
        first = len(cluster.pods) + len(made)
        made += _more(cluster, deployment, each, sets, max(0, missing), taken)
        more = range(first, len(cluster.pods) + len(made))
        sets[i] = replace(each, pods=(*each.pods, *more))
    return Planned(deployment, strategy, {each.owner.name: each for each in sets}, new)


def _with_template(found: Sequence[Replicas], template: PodTemplate) -> Replicas | None:
    """The ReplicaSet of this very template; of several that look alike the newest."""
    alike = [each for each in found if same_revision(each.owner.spec.template, template)]
    return max(alike, key=lambda each: revision_key(each.owner), default=None)


def _fresh(deployment: Deployment, found: Sequence[Replicas]) -> Replicas:
    """The ReplicaSet that the controller makes for a new template; it is the youngest."""
    names = {each.owner.name for each in found}
    hashed = next(
        text
        for i in range(len(found) + 1)
        if f"{deployment.name}-{(text := template_hash(deployment.spec.template, i))}" not in names
    )
    owner = replica_set_of(deployment, hashed)
    selector = deployment.spec.selector or LabelSelector()
    labels = {**selector.match_labels, HASH_LABEL: hashed}
    spec = owner.spec.replace(replicas=0, selector=selector.replace(match_labels=labels))
    created = max((each.start.created for each in found), default=0) + 1
    owner = owner.replace(spec=spec, metadata=owner.metadata.replace(creation_timestamp=created))
    return Replicas(owner, Revision(owner.name, created=created, exists=False), ())


def _most_pods(each: Replicas, strategy: Strategy, *, new: bool) -> int:
    """More pods than these the ReplicaSet never has at once; only scaling lets old ones grow."""
    if new:
        return strategy.replicas
    scaled = strategy.paused or each.start.desired not in (None, strategy.replicas)
    return strategy.most if scaled and each.start.size else each.start.size


def _more(
    cluster: Cluster,
    deployment: Deployment,
    each: Replicas,
    sets: Sequence[Replicas],
    count: int,
    taken: Sequence[str],
) -> list[Pod]:
    if not count:
        return []
    template, owner = each.owner.spec.template, each.owner
    hashed = owner.metadata.labels.get(HASH_LABEL)
    template = labelled(template, HASH_LABEL, hashed) if hashed else template
    alike = (
        other.pods[0]
        for other in (each, *sets)
        if other.pods
        and other.pods[0] < len(cluster.pods)
        and other.owner.spec.template.spec == template.spec
    )
    sibling = next(alike, None)
    reference = owner_of("ReplicaSet", owner.metadata)
    made = replica_mould(
        cluster,
        template,
        deployment.namespace,
        reference,
        None if sibling is None else cluster.pods[sibling],
    )
    names = new_names(deployment.namespace, owner.name, count, taken)
    return [made.pod(name) for name in names]
