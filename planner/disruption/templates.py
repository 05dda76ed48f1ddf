"""Whether a controller's template makes the pod that runs now.

The API server adds to what a template says: tolerations, a priority, defaults of requests; webhooks
add containers. What is new in the pod is therefore no sign of another template, but what the
template says and the pod lacks is. Where the pod carries the hash of the very template, only what
changed since it was created counts: its scheduling gates are gone, it has a node, and it may have
been resized in place.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner_models.pod import Container, Pod, PodSpec, PodTemplate

STRICT = (
    "node_selector",
    "affinity",
    "topology_spread_constraints",
    "scheduler_name",
    "priority_class_name",
    "runtime_class_name",
    "resources",
)
"""Fields that nobody adds to on the way."""


def another_pod(template: PodTemplate, pod: Pod, *, same_template: bool) -> str:
    """Why a pod from the template would not do as this one; empty if it would."""
    spec = template.spec
    if spec.scheduling_gates:
        names = ", ".join(gate.name for gate in spec.scheduling_gates)
        return f"a new pod would wait for its scheduling gates ({names})"
    if spec.node_name:
        return f"its template names the node {spec.node_name}"
    if same_template:
        return _resized(template, pod)
    field = _changed(template, pod)
    return f"its template has changed since ({field})" if field else ""


def _resized(template: PodTemplate, pod: Pod) -> str:
    running = {container.name: container for container in pod.spec.containers}
    for container in template.spec.containers:
        found = running.get(container.name, container)
        if not container.resources.requests.items() <= found.resources.requests.items():
            return "its requests are not its template's (resized in place, or by a webhook)"
    return ""


def _changed(template: PodTemplate, pod: Pod) -> str:
    wanted, has = template.spec, pod.spec
    for name in STRICT:
        if getattr(wanted, name) != getattr(has, name):
            return PodSpec.model_fields[name].alias or name
    if not set(wanted.tolerations) <= set(has.tolerations):
        return "tolerations"
    if not template.metadata.labels.items() <= pod.labels.items():
        return "labels"
    for name in ("containers", "init_containers"):
        running = {container.name: container for container in getattr(has, name)}
        if not all(_there(container, running) for container in getattr(wanted, name)):
            return PodSpec.model_fields[name].alias or name
    return ""


def _there(container: Container, running: Mapping[str, Container]) -> bool:
    """Whether the pod has this container, with the requests and ports that the template names."""
    found = running.get(container.name)
    return (
        found is not None
        and container.resources.requests.items() <= found.resources.requests.items()
        and set(container.ports) <= set(found.ports)
    )
