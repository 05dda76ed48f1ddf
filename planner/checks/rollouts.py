"""Rollouts of the checked Deployments, simulated once and asked about by several rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.checks.own_pods import alone, own_pods
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster import PENDING, Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.rollouts import rollout_of as rollout_under_way
from planner.scenario.controller_run import manners
from planner.scenario.deployment import Strategy, strategy_of
from planner.scenario.deployment_rollout import deployment_rollouts
from planner.scenario.rollout_run import RolloutEnd
from planner_models.workload import Deployment


@dataclass(frozen=True)
class Rollouts:
    """One rollout under several seeds; `changes` says that the manifest brings a new template."""

    strategy: Strategy
    changes: bool
    runs: tuple[RolloutEnd, ...]

    @property
    def stuck(self) -> tuple[RolloutEnd, ...]:
        """Those that end incomplete."""
        return tuple(run for run in self.runs if not run.complete)

    @property
    def uneven(self) -> tuple[RolloutEnd, ...]:
        """Those that complete with pods over the limit of their spread."""
        return tuple(run for run in self.runs if run.complete and run.excess)


def rollouts_of(subject: Subject, workload: CheckedWorkload) -> Rollouts | None:
    """None for what is no Deployment, has no pods, or has pods that find no node anyway.

    A manifest that changes the template of a running Deployment is rolled out; otherwise the next
    restart is tried. Pods of others that wait are left out: what they wait for is their own matter.
    """
    if "rollouts" not in subject.memo:
        subject.memo["rollouts"] = dict(_rollouts(subject))
    found: Rollouts | None = subject.memo["rollouts"].get(workload.ref)
    return found


def _rollouts(subject: Subject) -> Iterator[tuple[WorkloadRef, Rollouts]]:
    """Of all checked workloads that have one; they share a stage."""
    if not any(each.ref.kind == "Deployment" for each in subject.workloads):
        return
    cluster = alone(subject.before_rollout, [])
    chosen = [
        (workload, deployment, _changes(subject, deployment))
        for workload in subject.workloads
        if (deployment := _rolled_out(cluster, workload)) is not None
        and all(subject.before_rollout.node_of[own_pods(subject.cluster, workload)] != PENDING)
    ]
    rollouts = deployment_rollouts(
        cluster,
        subject.profile,
        [(each, each.spec.template if changes else None) for _, each, changes in chosen],
    )
    for (workload, deployment, changes), rollout in zip(chosen, rollouts, strict=True):
        seeds = subject.seeds(2 * workload.replicas)
        runs = tuple(rollout.end(manner) for manner in manners(seeds))
        yield workload.ref, Rollouts(strategy_of(deployment), changes, runs)


def _rolled_out(cluster: Cluster, workload: CheckedWorkload) -> Deployment | None:
    """The Deployment, if it has pods that a rollout would replace."""
    deployment = cluster.owners.controllers.get(workload.ref)
    if (
        not isinstance(deployment, Deployment)
        or not workload.replicas
        or deployment.spec.paused
        or deployment.spec.template.spec.node_name
        or not own_pods(cluster, workload)
    ):
        return None
    return deployment


def _changes(subject: Subject, deployment: Deployment) -> bool:
    """Whether no ReplicaSet has the template of the manifest."""
    ref = WorkloadRef(deployment.namespace, "Deployment", deployment.name)
    sets = [(each, each.spec.replicas) for each in subject.cluster.owners.replica_sets_of(ref)]
    same_scale = deployment.replace(
        spec=deployment.spec.replace(replicas=sum(replicas for _, replicas in sets))
    )
    return bool(sets) and "rollout" in rollout_under_way("", same_scale, sets)
