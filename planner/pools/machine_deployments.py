"""Pools as MachineDeployments of cluster-api, read as cluster-autoscaler reads them.

Annotations say what a node has (`capacity.cluster-autoscaler.kubernetes.io/*`) and how many there
may be in all (`cluster.x-k8s.io/cluster-api-autoscaler-node-group-{min,max}-size`). Machines pass
labels of three domains on to their nodes, and their taints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.pools.allocatable import with_allocatable
from planner.pools.node_templates import check_annotations, check_room, count_of, price_in
from planner.pools.place import Place, annotation_field
from planner.pools.pool import Pool
from planner.sources.prices import PRICE
from planner.words import conjoined
from planner_models.labels import check_label_key, check_label_value
from planner_models.machine_deployment import MachineDeployment
from planner_models.meta import ObjectMeta
from planner_models.node import ZONE, Node, NodeSpec, NodeStatus
from planner_models.quantity import parse_quantity
from planner_models.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from planner_models.taints import Taint

CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
PAUSED = "cluster.x-k8s.io/paused"
AMOUNTS = {"cpu": CPU, "memory": MEMORY, "ephemeral-disk": EPHEMERAL_STORAGE, "maxPods": PODS}
UNUSED = ("csi-driver", "dra-driver")
OTHERS = ("gpu-type", "gpu-count", "labels", "taints")
MAX_PODS = "110"
PROPAGATED = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
DEFAULT_LABELS = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def machine_deployment_pool(
    machines: MachineDeployment, file: str | None, nodes: Sequence[Node]
) -> Pool:
    """The pool that a MachineDeployment describes: machines beyond those that it has."""
    place = Place("MachineDeployment", machines.name, file)
    annotations = machines.metadata.annotations
    check_annotations(place, annotations, (PRICE,))
    told = {k.removeprefix(CAPACITY): v for k, v in annotations.items() if k.startswith(CAPACITY)}
    known = (*AMOUNTS, *OTHERS, *UNUSED)
    if unknown := next((name for name in told if name not in known), None):
        raise place.error(
            f"has an annotation that planner does not know: {CAPACITY}{unknown}",
            f"{CAPACITY}{unknown}",
            advice=f"after {CAPACITY} it knows {conjoined(known)}",
        )
    labels = {**DEFAULT_LABELS, **_propagated(machines), **_labels(place, told)}
    domain = machines.spec.template.spec.failure_domain
    zone = labels.setdefault(ZONE, domain) if domain else labels.get(ZONE, "")
    if domain and zone != domain:
        raise place.error(
            f"is in failure domain {domain}, and its nodes are labelled with zone {zone}",
            f"{CAPACITY}labels",
            advice="the label that its nodes really have",
        )
    template, remarks = with_allocatable(
        Node(
            metadata=ObjectMeta(name=machines.name, labels=labels),
            spec=NodeSpec(taints=_taints(place, machines, told)),
            status=NodeStatus.defaults().replace(capacity=_capacity(place, told)),
        ),
        nodes,
    )
    check_room(place, template, annotation_field(f"{CAPACITY}cpu"))
    least, most, full = _sizes(place, machines)
    return Pool(
        machines.name,
        template,
        (zone,) if zone else (),
        price_in(place, annotations),
        least,
        most,
        remarks=(*remarks, *full, *_unused(told)),
        place=place,
    )


def _sizes(place: Place, machines: MachineDeployment) -> tuple[int, int | None, tuple[str, ...]]:
    """Nodes to add at least and at most; the annotations count those that are there."""
    annotations, there = machines.metadata.annotations, machines.replicas
    least = count_of(place, annotations, f"{SIZE}min-size") or 0
    most = count_of(place, annotations, f"{SIZE}max-size")
    if most == 0:
        raise place.error(
            "may have no nodes", f"{SIZE}max-size", advice="raise it, or leave the pool out"
        )
    if most is not None and least > most:
        raise place.error(f"needs at least {least} nodes and at most {most}", f"{SIZE}min-size")
    if PAUSED in annotations:
        return 0, 0, (f"{machines.name} is paused, and gets no nodes",)
    if most is not None and there >= most:
        return 0, 0, (f"{machines.name} has {there} of at most {most} machines, and gets no more",)
    return max(0, least - there), None if most is None else most - there, ()


def _unused(told: Mapping[str, str]) -> Iterator[str]:
    for name in UNUSED:
        if name in told:
            yield f"{CAPACITY}{name} is not used"


def _capacity(place: Place, told: Mapping[str, str]) -> dict[str, int]:
    texts = {AMOUNTS[name]: (name, text) for name, text in told.items() if name in AMOUNTS}
    for name in (CPU, MEMORY):
        if name not in texts:
            raise place.error(
                f"does not say what a node has of {name}",
                f"{CAPACITY}{name}",
                advice='such as "4" for cpu and "16Gi" for memory',
            )
    texts.setdefault(PODS, ("maxPods", MAX_PODS))
    gpus, kind = told.get("gpu-count"), told.get("gpu-type")
    if gpus is not None and kind is None and "dra-driver" not in told:
        raise place.error(
            "has GPUs, and not of which type",
            f"{CAPACITY}gpu-type",
            advice="such as nvidia.com/gpu",
        )
    if gpus is not None and kind is not None:
        texts[kind] = ("gpu-count", gpus)
    return {resource: _amount(place, name, text) for resource, (name, text) in texts.items()}


def _amount(place: Place, name: str, text: str) -> int:
    try:
        amount = parse_quantity(text)
    except ValueError:
        amount = -1
    if amount < 0:
        raise place.error(f'has {name} "{text}"', f"{CAPACITY}{name}", advice="such as 4, 16Gi")
    return amount


def _propagated(machines: MachineDeployment) -> dict[str, str]:
    """The labels of machines that cluster-api gives to their nodes as well."""
    labels = machines.spec.template.metadata.labels
    return {key: value for key, value in labels.items() if _is_propagated(key.partition("/")[0])}


def _is_propagated(domain: str) -> bool:
    return domain in PROPAGATED or domain.endswith(tuple(f".{each}" for each in PROPAGATED[1:]))


def _labels(place: Place, told: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for part in filter(None, told.get("labels", "").split(",")):
        key, equals, value = part.strip().partition("=")
        try:
            found[check_label_key(key)] = check_label_value(value)
        except ValueError:
            equals = ""
        if not equals:
            raise place.error(
                f'has the label "{part}"', f"{CAPACITY}labels", advice="such as disk=ssd,team=web"
            )
    return found


def _taints(
    place: Place, machines: MachineDeployment, told: Mapping[str, str]
) -> tuple[Taint, ...]:
    """Those of the machines and of the annotation, which wins for the same key and effect."""
    found = {(taint.key, taint.effect): taint for taint in machines.spec.template.spec.taints}
    for part in filter(None, told.get("taints", "").split(",")):
        mark, _, effect = part.strip().rpartition(":")
        key, _, value = mark.partition("=")
        try:
            taint = Taint.model_validate({"key": key, "value": value, "effect": effect})
        except ValueError:
            raise place.error(
                f'has the taint "{part}"',
                f"{CAPACITY}taints",
                advice=f"such as gpu=true:NoSchedule; effects are {conjoined(EFFECTS)}",
            ) from None
        found[key, taint.effect] = taint
    return tuple(found.values())
