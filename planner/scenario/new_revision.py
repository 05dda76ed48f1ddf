"""The pods that a workload would make from a template, as the API server would store them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from planner.cluster import Cluster
from planner.disruption.rollouts import same_template
from planner.disruption.templates import another_pod
from planner.errors import PlannerError
from planner.sources.defaulting import default_spec, label_keys, with_priority
from planner.sources.names import generated_name, suffix
from planner.sources.replicas import Mould, mould
from planner.sources.synthesise import template_text
from planner_models.meta import OwnerReference
from planner_models.pod import Pod, PodTemplate

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


def restarted(template: PodTemplate) -> PodTemplate:
    """The template after `kubectl rollout restart`: another annotation, and so another hash."""
    metadata = template.metadata
    annotations = {**metadata.annotations, RESTARTED_AT: "now"}
    return template.replace(metadata=metadata.replace(annotations=annotations))


def same_revision(one: PodTemplate, other: PodTemplate) -> bool:
    """Whether a controller sees no change between both templates."""
    return same_template(one, other) and one.metadata.annotations == other.metadata.annotations


def template_hash(template: PodTemplate, collisions: int = 0) -> str:
    """What tells the revisions of a template apart."""
    annotations = sorted(template.metadata.annotations.items())
    return suffix(f"{template_text(template)}{annotations}{collisions or ''}", 9)


def labelled(template: PodTemplate, key: str, value: str) -> PodTemplate:
    """The template with one more label, as controllers mark the pods of a revision."""
    labels = {**template.metadata.labels, key: value}
    return template.replace(metadata=template.metadata.replace(labels=labels))


def replica_mould(
    cluster: Cluster,
    template: PodTemplate,
    namespace: str,
    owner: OwnerReference,
    sibling: Pod | None,
) -> Mould:
    """What new replicas have in common; `sibling` was made from a template with the same spec.

    It shows what admission makes of the spec, unless that depends on a label in which both differ
    (`matchLabelKeys` become part of the selector), or the sibling was changed since.
    """
    if template.spec.node_name:
        raise PlannerError(
            "a rollout of pods that name their node is not simulated",
            object=f"{owner.kind} {namespace}/{owner.name}",
            field="spec.template.spec.nodeName",
        )
    if sibling is not None and not _shows(template, sibling):
        sibling = None
    made = mould(template, namespace, owner, sibling)
    spec = made.spec
    if sibling is None:
        spec = with_priority(default_spec(spec, made.labels), cluster.priority_classes)
    return replace(made, spec=spec, owner=owner)


def _shows(template: PodTemplate, sibling: Pod) -> bool:
    labels: Mapping[str, str] = template.metadata.labels
    return not another_pod(template, sibling, same_template=True) and all(
        labels.get(key) == sibling.labels.get(key) for key in label_keys(template.spec)
    )


def new_names(namespace: str, base: str, count: int, taken: Iterable[str]) -> list[str]:
    """Names that look like generated ones; `taken` are names that exist."""
    names, made = set(taken), list[str]()
    numbers = itertools.count()
    while len(made) < count:
        name = generated_name(f"{base}-", f"{namespace}/{base}#{next(numbers)}")
        if name not in names:
            names.add(name)
            made.append(name)
    return made
