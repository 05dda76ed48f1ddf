"""Nodes that fail, cordons and numbers of replicas, by the words that users give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from planner.api.arguments import meant
from planner.api.kinds import kind_of
from planner.api.names import find_node
from planner.cluster.owners import WorkloadRef
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.whatif import Loss
from planner.words import NAMED, conjoined, count_of, short_key
from planner_models.node import HOSTNAME, ZONE

if TYPE_CHECKING:
    from planner.cluster import Cluster

LOSE = "NODE, zone/NAME or KEY=VALUE, such as node-1, zone/eu-1a, pool=spot"
SCALE = "KIND/NAME=N, such as deploy/web=6"


def nodes_of(cluster: Cluster, word: str, act: str = "lose") -> Loss:
    """The nodes that a word names."""
    key, sign, value = word.partition("=")
    if word.startswith("zone/"):
        key, sign, value = ZONE, "=", word.removeprefix("zone/")
    if sign:
        return _labelled(cluster, key, value, act)
    if not word:
        raise UsageError(f"there is nothing to {act}", help=LOSE)
    node = find_node(cluster, word)
    return Loss(cluster.nodes[node].name, "node", (node,))


def _labelled(cluster: Cluster, key: str, value: str, act: str) -> Loss:
    topology = cluster.topology(key)
    what = short_key(key) if key in (ZONE, HOSTNAME) else key
    if value not in topology.domains:
        shown = conjoined(topology.domains[:NAMED])
        more = len(topology.domains) - NAMED
        listed = f"{key} has {shown}{f' and {more} more' if more > 0 else ''}"
        raise SourceError(
            f"there is no {what} {value} to {act}",
            help=listed if topology.domains else f"no node has the label {key}",
        )
    nodes = topology.nodes_of(topology.domains.index(value)).tolist()
    return Loss(
        value if key == ZONE else f"{what}={value}", "zone" if key == ZONE else key, tuple(nodes)
    )


def together(losses: Sequence[Loss]) -> Loss:
    """All of them at once."""
    if len(losses) == 1:
        return losses[0]
    nodes = tuple(dict.fromkeys(node for each in losses for node in each.nodes))
    kinds = {each.kind for each in losses}
    names = list(dict.fromkeys(each.name for each in losses))
    shown = conjoined(names) if len(names) <= NAMED else count_of(len(nodes), "node")
    return Loss(shown, kinds.pop() if len(kinds) == 1 else "nodes", nodes)


def every_loss(cluster: Cluster, key: str) -> tuple[Loss, ...]:
    """Each domain of a key alone; `zone` and `node` are what people call theirs."""
    if key == "node":
        return tuple(
            Loss(cluster.nodes[node].name, "node", (node,))
            for node in sorted(cluster.node_index.values())
        )
    label = topology_key(cluster, key)
    domains = sorted(cluster.topology(label).domains)
    return tuple(_labelled(cluster, label, domain, "lose") for domain in domains)


POOLS = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-type",
)
"""Labels that tell pools of nodes apart, the most telling first."""


def topology_key(cluster: Cluster, word: str) -> str:
    """The label key that is meant by `zone`, `node` or `pool`, or the key itself."""
    known = {name for node in cluster.nodes for name in node.labels}
    if word == "pool":
        found = next((key for key in POOLS if key in known), None)
        if found is None:
            raise SourceError("no node has a label of its pool", help="give the label's own key")
        return found
    label = {"zone": ZONE, "node": HOSTNAME}.get(word, word)
    if label not in known:
        raise SourceError(f"no node has the label {label}", help=meant(label, known))
    return label


def replicas_of(
    cluster: Cluster, words: Iterable[str], namespace: str
) -> Iterator[tuple[WorkloadRef, int]]:
    """Workloads and the replicas that they shall have."""
    for word in words:
        target, sign, number = word.rpartition("=")
        kind, slash, name = target.partition("/")
        found = kind_of(kind)
        if not sign or not slash or not number.isdigit() or found is None:
            raise UsageError(f"can't scale {word!r}", help=SCALE)
        ref = WorkloadRef(namespace, found, name)
        controllers = cluster.owners.controllers
        if ref not in controllers:
            known = [each.short for each in controllers if each.namespace == namespace]
            raise SourceError(
                f"there is no {found} {name} in namespace {namespace} to scale",
                help=meant(ref.short, known) or None,
            )
        yield ref, int(number)


def node_indexes(losses: Iterable[Loss]) -> tuple[int, ...]:
    """All their nodes, once each."""
    found = np.unique([node for each in losses for node in each.nodes])
    return tuple(found.tolist())
