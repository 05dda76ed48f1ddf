"""lowerRequest: the largest request that still fits somewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.pod import Container, PodSpec
from models.quantity import NANO
from models.resources import CPU, PODS
from planner.cluster.node_rules import BoolArray
from planner.explain.overlay import Overlay, SpecEdit
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import Rule
from planner.explain.words import amount, resource_word

_NANO_PER_MILLI = 10**6


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
        have = int(rule.request[column])
        where = _largest_container(case.subject.group.spec, name, have - fits)
        if fits <= 0 or where is None:
            continue
        value = amount(name, fits)
        path = f"containers/{where}/resources/requests/{name.replace('/', '~1')}"
        yield Proposal(
            kind="lowerRequest",
            object=case.owner,
            field=f"spec.containers[{where}].resources.requests.{name}",
            before=amount(name, have),
            after=value,
            text=(
                f"{case.subject.short}: {resource_word(name)} request "
                f"{amount(name, have)} -> {value}"
            ),
            cost=case.costs["lowerRequest"],
            overlay=Overlay(edits=(_edit(where, name, have - fits),)),
            restarts=case.restarts,
            notes=(case.rollout,),
            command=case.patch(path, value)
            if len(case.subject.group.spec.containers) == 1
            else None,
        )


def _largest_container(spec: PodSpec, name: str, less: int) -> int | None:
    """The container that asks for most of it, if it asks for more than has to go."""
    if spec.resources.requests.get(name) or spec.init_containers or spec.overhead.get(name):
        return None
    asked = [container.resources.requests.get(name, 0) for container in spec.containers]
    if not asked or max(asked) <= less * _unit(name):
        return None
    return asked.index(max(asked))


def _unit(name: str) -> int:
    return _NANO_PER_MILLI if name == CPU else NANO


def _edit(index: int, name: str, less: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        containers: list[Container] = list(spec.containers)
        resources = containers[index].resources
        requests = {**resources.requests}
        requests[name] -= less * _unit(name)
        containers[index] = containers[index].replace(
            resources=resources.replace(requests=requests)
        )
        return spec.replace(containers=tuple(containers))

    return edit
