"""Rollouts of the checked Deployments, simulated once and asked about by several rules."""

from __future__ import annotations

from dataclasses import dataclass

from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import PENDING
from planner.disruption.rollouts import rollout_of as rollout_under_way
from planner.scenario.controller_run import manners
from planner.scenario.deployment import Strategy, strategy_of
from planner.scenario.rollout import rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner_models.workload import Deployment


@dataclass(frozen=True)
class Rollouts:
    """One rollout under several seeds; `changes` says that the manifest brings a new template."""

    strategy: Strategy
    changes: bool
    runs: tuple[RolloutRun, ...]

    @property
    def stuck(self) -> tuple[RolloutRun, ...]:
        """Those that end incomplete."""
        return tuple(run for run in self.runs if not run.complete)

    @property
    def uneven(self) -> tuple[RolloutRun, ...]:
        """Those that complete with pods over the limit of their spread."""
        return tuple(run for run in self.runs if run.complete and run.excess)


def rollouts_of(subject: Subject, workload: CheckedWorkload) -> Rollouts | None:
    """None for what is no Deployment, has no pods, or has pods that find no node anyway.

    A manifest that changes the template of a running Deployment is rolled out; otherwise the next
    restart is tried.
    """
    key = ("rollouts", workload.ref)
    memo = subject.memo
    if key not in memo:
        memo[key] = _rollouts(subject, workload)
    found: Rollouts | None = memo[key]
    return found


def _rollouts(subject: Subject, workload: CheckedWorkload) -> Rollouts | None:
    cluster = subject.before_rollout
    deployment = cluster.owners.controllers.get(workload.ref)
    if not isinstance(deployment, Deployment) or not workload.replicas:
        return None
    if deployment.spec.paused or deployment.spec.template.spec.node_name:
        return None
    groups = [i for i, ref in enumerate(cluster.workloads) if ref == workload.ref]
    mine = [p for g in groups for p in (cluster.group_of == g).nonzero()[0].tolist()]
    if not mine or any(cluster.node_of[pod] == PENDING for pod in mine):
        return None
    changes = _changes(subject, deployment)
    template = deployment.spec.template if changes else None
    rollout = rollout_of(cluster, subject.profile, workload.ref, template)
    seeds = subject.seeds(2 * workload.replicas)
    runs = tuple(rollout.run(manner) for manner in manners(seeds))
    return Rollouts(strategy_of(deployment), changes, runs)


def _changes(subject: Subject, deployment: Deployment) -> bool:
    """Whether no ReplicaSet has the template of the manifest."""
    sets = [
        (each, each.spec.replicas)
        for each in subject.inventory.replica_sets
        if each.namespace == deployment.namespace
        and each.metadata.controller is not None
        and each.metadata.controller.name == deployment.name
    ]
    same_scale = deployment.replace(
        spec=deployment.spec.replace(replicas=sum(replicas for _, replicas in sets))
    )
    return bool(sets) and "rollout" in rollout_under_way("", same_scale, sets)
