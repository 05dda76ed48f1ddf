"""Changes to the manifests that rules propose, as functions from one input to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from planner.checks.finding import Change
from planner.checks.subject import CheckedWorkload, Subject
from planner.sources.inventory import Inventory
from planner_models.policy import PodDisruptionBudget

FIELD_OF_KIND: Mapping[str, str] = {
    "Deployment": "deployments",
    "StatefulSet": "stateful_sets",
    "DaemonSet": "daemon_sets",
    "ReplicaSet": "replica_sets",
    "ReplicationController": "replication_controllers",
    "Job": "jobs",
    "CronJob": "cron_jobs",
    "Pod": "pods",
}
"""Where an inventory keeps the objects of a kind."""


def in_object(workload: CheckedWorkload, edit: Callable[[Any], Any]) -> Change:
    """The workload's own object changed."""
    ref = workload.ref
    name = FIELD_OF_KIND[ref.kind]

    def change(inventory: Inventory) -> Inventory:
        objects = tuple(
            edit(each) if (each.namespace, each.name) == (ref.namespace, ref.name) else each
            for each in getattr(inventory, name)
        )
        changes: Any = {name: objects}
        return replace(inventory, **changes)

    return change


def in_spec(workload: CheckedWorkload, **fields: Any) -> Change:
    """Fields of the spec of the workload's pods changed, in its template."""

    def in_template(template: Any) -> Any:
        return template.replace(spec=template.spec.replace(**fields))

    def edited(found: Any) -> Any:
        match workload.ref.kind:
            case "Pod":
                return msgspec.structs.replace(found, spec=found.spec.replace(**fields))
            case "CronJob":
                job = found.spec.job_template
                spec = job.spec.replace(template=in_template(job.spec.template))
                return found.replace(spec=found.spec.replace(job_template=job.replace(spec=spec)))
            case _:
                template = in_template(found.spec.template)
                return found.replace(spec=found.spec.replace(template=template))

    return in_object(workload, edited)


def in_constraint(subject: Subject, workload: CheckedWorkload, index: int, **fields: Any) -> Change:
    """Fields of one of the workload's spread constraints changed."""
    constraints = list(subject.spec(workload).topology_spread_constraints)
    constraints[index] = constraints[index].replace(**fields)
    return in_spec(workload, topology_spread_constraints=tuple(constraints))


def with_replicas(workload: CheckedWorkload, replicas: int) -> Change:
    """Another number of replicas, as a person would write it."""

    def edited(found: Any) -> Any:
        return found.replace(spec=found.spec.replace(replicas=replicas))

    return in_object(workload, edited)


def in_budget(budget: PodDisruptionBudget, **fields: Any) -> Change:
    """Fields of a budget changed; what its controller has counted is counted anew."""

    def change(inventory: Inventory) -> Inventory:
        status = type(budget.status).defaults()
        budgets = tuple(
            each.replace(spec=each.spec.replace(**fields), status=status)
            if each.key == budget.key
            else each
            for each in inventory.budgets
        )
        return replace(inventory, budgets=budgets)

    return change
