"""Rollouts of a Deployment: pods of its old and its new template side by side.

Old pods keep the rules and labels of the old template. That is why the first rollout after a change
of rules may get stuck although the new rules alone would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from planner.cluster import Cluster
from planner.cluster.owners import Owners, WorkloadRef
from planner.replay.trial import Manner
from planner.scenario.controller_run import ControllerRun
from planner.scenario.deployment import Revision, Strategy, look, strategy_of
from planner.scenario.deployment_pods import Ages, DeploymentPods
from planner.scenario.deployment_stage import (
    DESIRED,
    MOST,
    Replicas,
    deployment_stage,
    replica_sets_of,
)
from planner.scenario.new_revision import restarted
from planner.scenario.replica_set import BURST
from planner.scenario.rollout_run import RolloutRun, Work, rollout_run
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
        pods_of = {name: each.pods for name, each in self._sets.items()}
        pods = DeploymentPods(pods_of, self._ages, run)
        controller = _DeploymentController(self.strategy, self._sets, self._new, pods)
        run.until_quiet(controller)
        owners = _scaled(self._stage.cluster.owners, controller.revisions, self._sets)
        work = Work(
            pods=self._stage.pods,
            updated=self._sets[self._new].pods,
            wanted=self.strategy.replicas,
            most_down=controller.most_down,
            held_up="the Deployment is paused" if self.strategy.paused else "",
        )
        return rollout_run(run, run.ended().with_owners(owners), work)


class _DeploymentController:
    """A Deployment and its ReplicaSets, acting on a run."""

    def __init__(
        self,
        strategy: Strategy,
        sets: Mapping[str, Replicas],
        new: str,
        pods: DeploymentPods,
    ) -> None:
        self._strategy = strategy
        self._new = new
        self._pods = pods
        self.revisions = {name: each.start for name, each in sets.items()}
        self.most_down = 0

    def act(self, run: ControllerRun) -> bool:
        """The Deployment looks once, then each of its ReplicaSets."""
        self._pods.catch_up(run)
        seen = {name: self._seen(each) for name, each in self.revisions.items()}
        old = [each for name, each in seen.items() if name != self._new]
        new, scaled = look(self._strategy, seen[self._new], old)
        self.revisions = {each.name: each for each in (*scaled, new)}
        changed = any(seen[each.name] != each for each in (*scaled, new))
        for each in self.revisions.values():
            changed |= self._replicas(run, each)
        self._pods.catch_up(run)
        ready = self._pods.available.total()
        self.most_down = max(self.most_down, self._strategy.replicas - ready)
        return changed

    def _seen(self, each: Revision) -> Revision:
        return replace(
            each,
            available=self._pods.available[each.name],
            pods=self._pods.there[each.name],
            leaving=self._pods.leaving[each.name],
        )

    def _replicas(self, run: ControllerRun, each: Revision) -> bool:
        """The ReplicaSet makes pods that are missing, and deletes those that are too many."""
        missing = each.size - self._pods.there[each.name]
        made = list(islice(self._pods.free[each.name], max(0, min(missing, BURST))))
        for pod in made:
            run.make(pod)
        surplus = max(0, min(-missing, BURST))
        ranking = self._pods.rankings[each.name]
        going = ranking.deleted_first(surplus, run.random) if surplus else []
        for candidate in going:
            run.delete(candidate.pod)
        return bool(made or going)


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
