"""Rollouts of a Deployment: pods of its old and its new template side by side.

Old pods keep the rules and labels of the old template. That is why the first rollout after a change
of rules may get stuck although the new rules alone would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from planner.cluster import Cluster
from planner.cluster.owners import Owners
from planner.replay.trial import Manner
from planner.scenario.controller_run import ControllerRun, Stage
from planner.scenario.deployment import Revision, Strategy, look
from planner.scenario.deployment_pods import Ages, DeploymentPods
from planner.scenario.deployment_stage import (
    DESIRED,
    MOST,
    Planned,
    Replicas,
    deployment_stage,
)
from planner.scenario.new_revision import restarted
from planner.scenario.replica_set import BURST, acted_at
from planner.scenario.rollout_run import RolloutEnd, RolloutRun, Work, rollout_end, rollout_run
from planner.scheduler.profile import Profile
from planner_models.pod import PodTemplate
from planner_models.workload import Deployment, ReplicaSet


def deployment_rollouts(
    cluster: Cluster,
    profile: Profile,
    wanted: Sequence[tuple[Deployment, PodTemplate | None]],
) -> tuple[DeploymentRollout, ...]:
    """Rollouts of Deployments, each alone, from one snapshot; what they need of it is made once.

    A Deployment without a template is restarted. A template that some ReplicaSet has already is
    rolled back to, or rolled out further.
    """
    stage, planned = deployment_stage(
        cluster, profile, [(each, _with(each, template)) for each, template in wanted]
    )
    now = acted_at(cluster)
    return tuple(DeploymentRollout(cluster, stage, each, now) for each in planned)


def _with(deployment: Deployment, template: PodTemplate | None) -> Deployment:
    wanted = restarted(deployment.spec.template) if template is None else template
    return deployment.replace(spec=deployment.spec.replace(template=wanted))


class DeploymentRollout:
    """Rollouts of one Deployment from the snapshot of a stage."""

    def __init__(self, cluster: Cluster, stage: Stage, planned: Planned, now: int) -> None:
        self.deployment = planned.deployment
        self.strategy = planned.strategy
        self._planned = planned
        there = len(cluster.pods)
        self._ages = Ages(cluster, [pod for pod in planned.pods if pod < there], now)
        self._stage, self._sets, self._new = stage, planned.sets, planned.new

    def run(self, manner: Manner, cordoned: Sequence[int] = ()) -> RolloutRun:
        """One rollout to its end: complete, or nothing changes any more."""
        run, work, revisions = self._come_to_rest(manner, cordoned)
        owners = _scaled(self._stage.cluster.owners, revisions, self._sets)
        return rollout_run(run, run.ended().with_owners(owners), work)

    def end(self, manner: Manner) -> RolloutEnd:
        """The same for those who don't go on from where it ends."""
        run, work, _ = self._come_to_rest(manner, ())
        return rollout_end(run, run.placed(), work)

    def _come_to_rest(
        self, manner: Manner, cordoned: Sequence[int]
    ) -> tuple[ControllerRun, Work, dict[str, Revision]]:
        mine = self._planned.pods
        run = ControllerRun(self._stage, manner, cordoned, mine)
        pods_of = {name: each.pods for name, each in self._sets.items()}
        pods = DeploymentPods(pods_of, self._ages, run)
        controller = _DeploymentController(self.strategy, self._sets, self._new, pods)
        run.until_quiet(controller)
        work = Work(
            pods=mine,
            updated=self._sets[self._new].pods,
            wanted=self.strategy.replicas,
            most_down=controller.most_down,
            held_up="the Deployment is paused" if self.strategy.paused else "",
        )
        return run, work, controller.revisions


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
    scaled: list[ReplicaSet] = []
    for name, revision in revisions.items():
        owner = sets[name].owner
        metadata = owner.metadata
        if revision.desired is not None and revision.most is not None:
            numbers = {DESIRED: str(revision.desired), MOST: str(revision.most)}
            metadata = metadata.replace(annotations={**metadata.annotations, **numbers})
        spec = owner.spec.replace(replicas=revision.size)
        scaled.append(owner.replace(metadata=metadata, spec=spec))
    return owners.with_controllers(scaled)
