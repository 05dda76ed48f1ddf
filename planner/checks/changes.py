"""Changes to the manifests that rules propose, as functions from one input to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from planner.checks.finding import Change
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.sources.inventory import Inventory
from planner_models.node import HOSTNAME, ZONE, Node
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
            edit(each) if each.name == ref.name and each.namespace == ref.namespace else each
            for each in getattr(inventory, name)
        )
        changes: Any = {name: objects}
        return replace(inventory, **changes)

    return change


def in_spec(workload: CheckedWorkload, **fields: Any) -> Change:
    """Fields of the spec of the workload's pods changed, in its template."""
    return _in_pods(workload, lambda spec: spec.replace(**fields))


def _in_pods(workload: CheckedWorkload, edit: Callable[[Any], Any]) -> Change:
    def in_template(template: Any) -> Any:
        return template.replace(spec=edit(template.spec))

    def edited(found: Any) -> Any:
        match workload.ref.kind:
            case "Pod":
                return msgspec.structs.replace(found, spec=edit(found.spec))
            case "CronJob":
                job = found.spec.job_template
                spec = job.spec.replace(template=in_template(job.spec.template))
                return found.replace(spec=found.spec.replace(job_template=job.replace(spec=spec)))
            case _:
                template = in_template(found.spec.template)
                return found.replace(spec=found.spec.replace(template=template))

    return in_object(workload, edited)


def in_constraint(workload: CheckedWorkload, index: int, **fields: Any) -> Change:
    """Fields of one of the workload's spread constraints changed."""

    def edited(spec: Any) -> Any:
        constraints = list(spec.topology_spread_constraints)
        constraints[index] = constraints[index].replace(**fields)
        return spec.replace(topology_spread_constraints=tuple(constraints))

    return _in_pods(workload, edited)


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


def all_of(changes: Iterable[Change]) -> Change:
    """Several changes, one after the other."""
    every = tuple(changes)

    def change(inventory: Inventory) -> Inventory:
        for each in every:
            inventory = each(inventory)
        return inventory

    return change


def more_nodes(subject: Subject, workload: CheckedWorkload) -> Iterator[tuple[str, Change]]:
    """Another node like one that the workload may use, in each zone in turn."""
    rules, spec = subject.node_rules, subject.spec(workload)
    usable = (rules.affinity(spec) & rules.taints(spec.tolerations)).nonzero()[0].tolist()
    zones = {subject.samples.nodes[each].labels.get(ZONE, ""): each for each in reversed(usable)}
    for zone, each in sorted(zones.items()):
        yield zone, _one_more(subject.samples.nodes[each])


def _one_more(like: Node) -> Change:
    name = f"{like.name}-more"
    labels = {**like.labels, HOSTNAME: name}
    node = like.replace(metadata=like.metadata.replace(name=name, uid="", labels=labels))
    return lambda inventory: replace(inventory, nodes=(*inventory.nodes, node))
