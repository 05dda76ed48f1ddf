"""Changes about room: what has to go from which node, or how much less the pod may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal, unit_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner.words import amount, amount_of, conjoined, resource_word
from planner_models.pod import PodSpec
from planner_models.resources import PODS

ContainerList = Literal["containers", "init_containers"]
_FIELDS: dict[ContainerList, str] = {
    "containers": "containers",
    "init_containers": "initContainers",
}
Path = tuple[ContainerList, int] | tuple[()]
"""A container, or the pod itself."""


def free_capacity(case: Case, rule: CapacityRule, nodes: BoolArray) -> Iterator[Proposal]:
    """The node that lacks least, by the share of what it offers, with the next best beside it."""
    usable = np.flatnonzero(nodes & ~rule.hopeless).tolist()
    if not usable:
        return
    ranked = sorted(usable, key=lambda node: (_share(rule, node), node))
    names = [case.subject.cluster.nodes[node].name for node in ranked[:2]]
    missing = _missing(rule, ranked[0])
    lacking = conjoined([amount_of(name, number) for name, number in missing.items()])
    text = f"free {lacking} on {names[0]}"
    second = _missing(rule, ranked[1]) if len(ranked) > 1 else {}
    if set(second) == set(missing) and len(missing) == 1:
        name, number = next(iter(second.items()))
        text += f" (or {amount(name, number)} on {names[1]})"
    yield Proposal(
        kind="freeCapacity",
        object=f"node/{names[0]}",
        field="requests",
        after=dict(missing),
        text=text,
        cost=case.costs["freeCapacity"],
        overlay=Overlay(freed={(ranked[0], name): number for name, number in missing.items()}),
        notes=_until(case, ranked[0]),
    )


def _until(case: Case, node: int) -> tuple[str, ...]:
    """A controller brings a deleted pod back, and that one then waits in the place of this one."""
    cluster, state = case.subject.cluster, case.subject.state
    here = np.flatnonzero((state.node_of == node) & ~state.terminating)
    owned = any(cluster.groups[int(g)].owner is not None for g in set(cluster.group_of[here]))
    return ("not by deleting pods that come back",) if owned else ()


def _missing(rule: CapacityRule, node: int) -> dict[str, int]:
    lacking = np.flatnonzero(rule.short[node]).tolist()
    return {rule.names[i]: int(rule.request[i] - rule.free[node, i]) for i in lacking}


def _share(rule: CapacityRule, node: int) -> float:
    lacking = np.flatnonzero(rule.short[node])
    offered = np.maximum(rule.offered[node, lacking], 1)
    return float(((rule.request[lacking] - rule.free[node, lacking]) / offered).sum())


def lower_request(case: Case, rule: CapacityRule, nodes: BoolArray) -> Iterator[Proposal]:
    """For each resource that alone is short somewhere: what the roomiest of the nodes has left."""
    for column, name in enumerate(rule.names):
        only = np.zeros(len(rule.names), np.bool_)
        only[column] = True
        here = nodes & (rule.short == only).all(axis=1)
        if name == PODS or not here.any():
            continue
        fits = int(rule.free[here, column].max())
        if fits > 0:
            yield from _lowered(case, name, int(rule.request[column]), fits)


def _lowered(case: Case, name: str, have: int, fits: int) -> Iterator[Proposal]:
    """The one container, or the pod's own request, that can give all of it; the largest first."""
    spec, unit = case.subject.group.spec, unit_of(name)
    less = (have - fits) * unit
    for path, held in _requests(spec, name):
        edit = _with_request(path, name, held - less)
        if held <= less or edit(spec).requests.get(name, 0) > fits:
            continue
        old, new = amount(name, held // unit), amount(name, (held - less) // unit)
        which = f" of {_name(spec, path)}" if len(spec.containers) > 1 and path else ""
        place = f"{_FIELDS[path[0]]}[{path[1]}]." if path else ""
        yield case.spec_change(
            "lowerRequest",
            f"spec.{place}resources.requests.{name}",
            f"{case.subject.short}: {resource_word(name)} request{which} {old} -> {new}",
            [edit],
            _request_ops(case.template, path, name, new, old),
            before=old,
            after=new,
        )
        return


def _request_ops(template: PodSpec, path: Path, name: str, new: str, old: str) -> list[Op]:
    """Of a template that has limits alone, the requests are made first.

    What can't be overcommitted, such as a GPU, has to have the same limit.
    """
    holders = (template,) if not path else getattr(template, path[0])[path[1] : path[1] + 1]
    if not holders:
        return []
    resources = holders[0].resources
    at: tuple[str | int, ...] = (*((_FIELDS[path[0]], path[1]) if path else ()), "resources")
    ops = [Op("add", (*at, "requests", name), new, old)]
    if not resources.requests:
        ops = [Op("add", (*at, "requests"), {name: new})]
    if name in resources.limits and ("/" in name or name.startswith("hugepages-")):
        ops.append(Op("add", (*at, "limits", name), new, old))
    return ops


def _requests(spec: PodSpec, name: str) -> list[tuple[Path, int]]:
    """Who asks for how much, the pod's own request before those of containers."""
    if name in spec.resources.requests:
        return [((), spec.resources.requests[name])]
    found: list[tuple[Path, int]] = [
        ((each, i), container.resources.requests.get(name, 0))
        for each in _FIELDS
        for i, container in enumerate(getattr(spec, each))
    ]
    return sorted(found, key=lambda pair: -pair[1])


def _name(spec: PodSpec, path: Path) -> str:
    return str(getattr(spec, path[0])[path[1]].name) if path else ""


def _with_request(path: Path, name: str, value: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        if not path:
            own = {**spec.resources.requests, name: value}
            return spec.replace(resources=spec.resources.replace(requests=own))
        containers = list(getattr(spec, path[0]))
        resources = containers[path[1]].resources
        requests = {**resources.requests, name: value}
        containers[path[1]] = containers[path[1]].replace(
            resources=resources.replace(requests=requests)
        )
        return spec.replace(**{path[0]: tuple(containers)})

    return edit
