"""lowerRequest: the largest request that still fits somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner.words import amount, resource_word
from planner_models.pod import PodSpec
from planner_models.quantity import NANO
from planner_models.resources import CPU, PODS

_NANO_PER_MILLI = 10**6

List = Literal["containers", "init_containers"]
_FIELDS: dict[List, str] = {"containers": "containers", "init_containers": "initContainers"}


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """For each resource that alone is short somewhere: what the roomiest of the nodes has left."""
    if not isinstance(rule, CapacityRule):
        return
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
    spec = case.subject.group.spec
    less = (have - fits) * _unit(name)
    for path, held in _requests(spec, name):
        edit = _edit(path, name, held - less)
        if held <= less or edit(spec).requests.get(name, 0) > fits:
            continue
        old, new = _written(name, held), _written(name, held - less)
        several = len(spec.containers) > 1 and path
        which = f" of {_name(spec, path)}" if several else ""
        place = f"{_FIELDS[path[0]]}[{path[1]}]." if path else ""
        steps = (_FIELDS[path[0]], path[1]) if path else ()
        yield Proposal(
            kind="lowerRequest",
            object=case.owner,
            field=f"spec.{place}resources.requests.{name}",
            before=old,
            after=new,
            text=f"{case.subject.short}: {resource_word(name)} request{which} {old} -> {new}",
            cost=case.costs["lowerRequest"],
            overlay=Overlay(edits=(edit,)),
            restarts=case.restarts,
            notes=(case.rollout,),
            ops=case.ops(Op("add", (*steps, "resources", "requests", name), new, old)),
        )
        return


Path = tuple[List, int] | tuple[()]


def _requests(spec: PodSpec, name: str) -> list[tuple[Path, int]]:
    """Who asks for how much, the pod's own request before those of containers."""
    if name in spec.resources.requests:
        return [((), spec.resources.requests[name])]
    lists: tuple[List, ...] = ("containers", "init_containers")
    found: list[tuple[Path, int]] = [
        ((each, i), container.resources.requests.get(name, 0))
        for each in lists
        for i, container in enumerate(getattr(spec, each))
    ]
    return sorted(found, key=lambda pair: -pair[1])


def _name(spec: PodSpec, path: Path) -> str:
    return str(getattr(spec, path[0])[path[1]].name) if path else ""


def _unit(name: str) -> int:
    return _NANO_PER_MILLI if name == CPU else NANO


def _written(name: str, nano: int) -> str:
    return amount(name, nano // _unit(name))


def _edit(path: Path, name: str, value: int) -> SpecEdit:
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
