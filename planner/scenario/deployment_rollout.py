"""Rollouts of a Deployment: pods of its old and its new template side by side.

Old pods keep the rules and labels of the old template. That is why the first rollout after a change
of rules may get stuck although the new rules alone would not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from planner.cluster import GONE, Cluster
from planner.cluster.owners import Owners, WorkloadRef
from planner.replay.trial import Manner
from planner.scenario.controller_run import ControllerRun
from planner.scenario.deployment import Revision, Strategy, look, strategy_of
from planner.scenario.deployment_stage import (
    DESIRED,
    MOST,
    Replicas,
    deployment_stage,
    replica_sets_of,
)
from planner.scenario.new_revision import restarted
from planner.scenario.replica_set import BURST, Candidate, acted_at, as_stored, deleted_first
from planner.scenario.rollout_run import RolloutRun, rollout_run
from planner.scheduler.profile import Profile
from planner_models.pod import PodTemplate
from planner_models.workload import Deployment


class DeploymentRollout:
    """Rollouts of one Deployment from one snapshot; without a template it is restarted.

    A template that some ReplicaSet has already is rolled back to, or rolled out further.
    """

    def __init__(
        self,
        cluster: Cluster,
        profile: Profile,
        deployment: Deployment,
        template: PodTemplate | None = None,
    ) -> None:
        wanted = restarted(deployment.spec.template) if template is None else template
        self.deployment = deployment.replace(spec=deployment.spec.replace(template=wanted))
        self.strategy = strategy_of(self.deployment)
        found = replica_sets_of(cluster, deployment)
        self._ages = Ages(cluster, [pod for each in found for pod in each.pods])
        self._stage, self._sets, self._new = deployment_stage(
            cluster, profile, self.deployment, found, self.strategy
        )

    def run(self, manner: Manner, cordoned: Sequence[int] = ()) -> RolloutRun:
        """One rollout to its end: complete, or nothing changes any more."""
        run = ControllerRun(self._stage, manner, cordoned)
        controller = _DeploymentController(self.strategy, self._sets, self._new, self._ages)
        run.until_quiet(controller)
        owners = _scaled(self._stage.cluster.owners, controller.revisions, self._sets)
        return rollout_run(
            run,
            run.ended().with_owners(owners),
            pods=self._stage.pods,
            updated=self._sets[self._new].pods,
            wanted=self.strategy.replicas,
            most_down=controller.most_down,
        )


class Ages:
    """What a ReplicaSet compares of its pods: as the snapshot has them, or as the run has."""

    def __init__(self, cluster: Cluster, pods: Sequence[int]) -> None:
        self.now = acted_at(cluster)
        self._stored = {pod: as_stored(pod, cluster.pods[pod]) for pod in pods}

    def candidate(self, run: ControllerRun, pod: int, together: int) -> Candidate:
        """The pod now; those of this run are as young as can be."""
        assigned, ready = run.node(pod) >= 0, run.ready(pod)
        stored = self._stored.get(pod)
        if stored is not None and not run.started(pod):
            return replace(stored, assigned=assigned, ready=ready, together=together)
        return Candidate(
            pod=pod,
            uid=str(pod),
            assigned=assigned,
            phase="Running" if ready else "Pending",
            ready=ready,
            cost=0 if stored is None else stored.cost,
            together=together,
            ready_since=self.now,
            created=self.now,
        )


class _DeploymentController:
    """A Deployment and its ReplicaSets, acting on a run."""

    def __init__(self, strategy: Strategy, sets: dict[str, Replicas], new: str, ages: Ages) -> None:
        self._strategy = strategy
        self._sets = sets
        self._new = new
        self._ages = ages
        self.revisions = {name: each.start for name, each in sets.items()}
        self.most_down = 0

    def act(self, run: ControllerRun) -> bool:
        """The Deployment looks once, then each of its ReplicaSets."""
        seen = {name: self._seen(run, each) for name, each in self.revisions.items()}
        old = [each for name, each in seen.items() if name != self._new]
        new, scaled = look(self._strategy, seen[self._new], old)
        self.revisions = {each.name: each for each in (*scaled, new)}
        changed = any(seen[each.name] != each for each in (*scaled, new))
        for each in self.revisions.values():
            changed |= self._replicas(run, each)
        ready = sum(run.ready(pod) for each in self._sets.values() for pod in each.pods)
        self.most_down = max(self.most_down, self._strategy.replicas - ready)
        return changed

    def _seen(self, run: ControllerRun, each: Revision) -> Revision:
        pods = self._sets[each.name].pods
        return replace(
            each,
            available=sum(run.ready(pod) for pod in pods),
            pods=len(run.there(pods)),
            leaving=run.leaving(pods),
        )

    def _replicas(self, run: ControllerRun, each: Revision) -> bool:
        """The ReplicaSet makes pods that are missing, and deletes those that are too many."""
        pods = self._sets[each.name].pods
        there = run.there(pods)
        if len(there) < each.size:
            free = (pod for pod in pods if run.node(pod) == GONE)
            for pod in [next(free) for _ in range(min(each.size - len(there), BURST))]:
                run.make(pod)
        elif len(there) > each.size:
            candidates = self._candidates(run, there)
            count = min(len(there) - each.size, BURST)
            for goes in deleted_first(candidates, count, self._ages.now, run.random):
                run.delete(goes.pod)
        return len(there) != each.size

    def _candidates(self, run: ControllerRun, pods: Sequence[int]) -> list[Candidate]:
        related = (pod for each in self._sets.values() for pod in each.pods)
        together = Counter(run.node(pod) for pod in run.there(related))
        return [self._ages.candidate(run, pod, together[run.node(pod)]) for pod in pods]


def _scaled(owners: Owners, revisions: dict[str, Revision], sets: dict[str, Replicas]) -> Owners:
    """The ReplicaSets with the numbers that the rollout left them with."""
    controllers = dict(owners.controllers)
    for name, revision in revisions.items():
        owner = sets[name].owner
        metadata = owner.metadata
        if revision.desired is not None and revision.most is not None:
            numbers = {DESIRED: str(revision.desired), MOST: str(revision.most)}
            metadata = metadata.replace(annotations={**metadata.annotations, **numbers})
        ref = WorkloadRef(owner.namespace, "ReplicaSet", name)
        controllers[ref] = owner.replace(
            metadata=metadata, spec=owner.spec.replace(replicas=revision.size)
        )
    return Owners(controllers.values())
