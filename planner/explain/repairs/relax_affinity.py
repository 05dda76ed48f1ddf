"""relaxAffinity: give up what the pod asks of its node, or of the pods around it."""

from __future__ import annotations

from collections.abc import Iterator

from models.affinity import REQUIRED, NodeAffinity, PodAffinity
from models.pod import PodSpec
from planner.explain.overlay import Overlay, SpecEdit
from planner.explain.repairs.proposal import Case, Proposal


def propose(case: Case) -> Iterator[Proposal]:
    """Each nodeSelector entry, all of them, required node affinity, required pod affinity."""
    spec = case.subject.group.spec
    kinds = {rule.kind for rule in case.rules}
    if "nodeAffinity" in kinds:
        selector = sorted(spec.node_selector.items())
        for key, value in selector:
            yield _drop_entry(case, key, value)
        if spec.affinity.node_affinity.required is not None:
            field = f"affinity.nodeAffinity.{REQUIRED}"
            yield _drop(case, f"spec.{field}", "drop required node affinity", _no_node_affinity)
        if len(selector) > 1:
            yield _drop(case, "spec.nodeSelector", "drop nodeSelector", _no_selector, extra=5)
    if "podAffinity" in kinds:
        field = f"affinity.podAffinity.{REQUIRED}"
        yield _drop(case, f"spec.{field}", "drop required pod affinity", _no_pod_affinity)


def _drop_entry(case: Case, key: str, value: str) -> Proposal:
    path = f"nodeSelector/{key.replace('~', '~0').replace('/', '~1')}"
    return Proposal(
        kind="relaxAffinity",
        object=case.owner,
        field=f"spec.nodeSelector[{key}]",
        before=value,
        after=None,
        text=f"nodeSelector: drop {key}={value}",
        cost=case.costs["relaxAffinity"],
        overlay=Overlay(edits=(_without_entry(key),)),
        restarts=case.restarts,
        notes=(case.rollout,),
        command=case.patch(path, None, "remove"),
    )


def _drop(case: Case, field: str, text: str, edit: SpecEdit, extra: int = 0) -> Proposal:
    path = field.removeprefix("spec.").replace(".", "/")
    return Proposal(
        kind="relaxAffinity",
        object=case.owner,
        field=field,
        before="required",
        after=None,
        text=text,
        cost=case.costs["relaxAffinity"] + extra,
        overlay=Overlay(edits=(edit,)),
        restarts=case.restarts,
        notes=(case.rollout,),
        command=case.patch(path, None, "remove"),
    )


def _without_entry(key: str) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        return spec.replace(node_selector={k: v for k, v in spec.node_selector.items() if k != key})

    return edit


def _no_selector(spec: PodSpec) -> PodSpec:
    return spec.replace(node_selector={})


def _no_node_affinity(spec: PodSpec) -> PodSpec:
    kept = NodeAffinity(preferred=spec.affinity.node_affinity.preferred)
    return spec.replace(affinity=spec.affinity.replace(node_affinity=kept))


def _no_pod_affinity(spec: PodSpec) -> PodSpec:
    kept = PodAffinity(preferred=spec.affinity.pod_affinity.preferred)
    return spec.replace(affinity=spec.affinity.replace(pod_affinity=kept))
