"""RemoveDuplicates: pods of the same owner, with the same images, that share a node.

The first of them on each node stays; of the others as many go as are above the even share of the
nodes that the owner's pods could use.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner.descheduler.strategies.limits import EvictionResult
from planner.descheduler.strategies.node_fit import NodeFit
from planner_models.descheduler_args import RemoveDuplicatesArgs
from planner_models.pod import Pod


@dataclass(frozen=True)
class _Owner:
    """What makes pods duplicates: the owner and all container images."""

    namespace: str
    kind: str
    name: str
    images: tuple[str, ...]


def balance(view: View, args: RemoveDuplicatesArgs, evictor: Evictor) -> None:
    """Owner by owner, node by node."""
    fit = NodeFit(view)
    duplicates, occurrences = _count(view, args, evictor)
    for owner in view.in_any_order(duplicates):
        on_nodes = duplicates[owner]
        targets = _target_nodes(view, fit, (pod for pods in on_nodes.values() for pod in pods))
        if targets < 2:
            continue
        share = -(-occurrences[owner] // targets)
        for node in view.in_any_order(on_nodes):
            pods = on_nodes[node]
            name = f"{owner.kind}/{owner.name}"
            reason = f"{len(pods) + 1} of {name} on its node; an even share is {share}"
            surplus = ((pod, reason) for pod in pods[share - 1 :])
            if evictor.evict_each(surplus) is EvictionResult.TOTAL_LIMIT:
                return


def _count(
    view: View, args: RemoveDuplicatesArgs, evictor: Evictor
) -> tuple[dict[_Owner, dict[int, list[Pod]]], Counter[_Owner]]:
    """Pods beyond the first one on each node, and how many pods an owner has in all."""
    selected = selecting(args.namespaces)
    duplicates: dict[_Owner, dict[int, list[Pod]]] = defaultdict(lambda: defaultdict(list))
    occurrences: Counter[_Owner] = Counter()
    for node in view.nodes:
        first: set[tuple[_Owner, ...]] = set()
        for pod in view.pods_on(node):
            owners = tuple(_owners(pod, args))
            if not owners or not selected(pod) or not evictor.evictable(pod):
                continue
            occurrences.update(owners)
            if owners not in first:
                first.add(owners)
                continue
            for owner in owners:
                duplicates[owner][node].append(pod)
    return duplicates, occurrences


def _owners(pod: Pod, args: RemoveDuplicatesArgs) -> Iterator[_Owner]:
    """The owners of a pod in a fixed order; none if one of them is excluded."""
    images = tuple(sorted(container.image for container in pod.spec.containers))
    excluded = any(owner.kind in args.exclude_owner_kinds for owner in pod.owners)
    if not images or excluded:
        return
    for owner in sorted(pod.owners, key=lambda each: (each.kind, each.name)):
        yield _Owner(pod.namespace, owner.kind, owner.name, images)


def _target_nodes(view: View, fit: NodeFit, pods: Iterable[Pod]) -> int:
    """Nodes that node affinity and taints leave to the duplicates.

    A pod that only one node would take adds none. Cordons and room are not looked at.
    """
    targets = np.zeros(len(view.cluster.nodes), np.bool_)
    here = np.zeros(len(view.cluster.nodes), np.bool_)
    here[view.node_array] = True
    for pod in {id(pod.spec): pod for pod in pods}.values():
        matching = here & fit.tolerated(pod) & fit.matches_affinity(pod)
        if matching.sum() > 1:
            targets |= matching
    return int(targets.sum())
