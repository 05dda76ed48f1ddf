"""The names of pods that planner makes from templates, noted on the controllers that want them.

Such names are made from the controller's. With another name of that they would be other ones, in
another order; so that an anonymous dump is answered alike, it says how they go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.dump.prune import Item
from planner.sources.raw_objects import ObjectKey, key_of
from planner.sources.synthesise import MADE_PODS, MADE_REPLICA_SET
from planner_models.pod import Pod
from planner_models.workload import HASH_LABEL


def with_made_names(items: Iterable[Item], cluster: Cluster) -> list[Item]:
    """The objects, with the names of the pods that were made for them."""
    made: dict[ObjectKey, list[Pod]] = defaultdict(list)
    for pod in cluster.pods:
        if pod.synthesised:
            made[_maker(pod, cluster)].append(pod)
    return [_noted(item, made) for item in items] if made else list(items)


def _maker(pod: Pod, cluster: Cluster) -> ObjectKey:
    """The controller that wants the pod: a ReplicaSet's Deployment, if the input has it."""
    assert pod.owner is not None
    own = WorkloadRef(pod.namespace, pod.owner.kind, pod.owner.name)
    top = cluster.owners.workload_of(pod)
    ref = top if top in cluster.owners.controllers else own
    return ref.kind, ref.namespace, ref.name


def _noted(item: Item, made: dict[ObjectKey, list[Pod]]) -> Item:
    raw = msgspec.json.decode(item.text)
    pods = made.get(key_of(raw))
    if not pods:
        return item
    metadata = raw["metadata"]
    notes = {MADE_PODS: ",".join(pod.name for pod in pods)}
    if item.kind == "Deployment" and HASH_LABEL in pods[0].labels:
        notes[MADE_REPLICA_SET] = pods[0].labels[HASH_LABEL]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **notes}
    return Item(item.kind, msgspec.json.encode(raw))
