"""Pods that were not there before: in a snapshot that shares what they leave alone.

Nodes, topologies and the old pods' indexes stay; groups get more, at the end. Only where a new rule
looks at a label that nobody looked at before (`matchLabelKeys`, a new selector) do all pods have to
be grouped anew, for now it tells some of them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from planner.cluster.groups import GroupKeys, group_pods, keys_of, other_selectors, visible_keys
from planner.cluster.matching import GroupIndex
from planner.cluster.owners import Owners
from planner.cluster.resources import with_groups
from planner.cluster.snapshot import EACH_GROUP, GONE, Cluster
from planner_models.pod import Pod


def with_new_pods(cluster: Cluster, pods: Sequence[Pod], owners: Owners) -> Cluster:
    """The snapshot with these pods behind all others, none of them there yet (GONE).

    `owners` are the controllers from now on; they may have other templates than before.
    """
    known = _keys(cluster)
    new_specs = {id(pod.spec): pod.spec for pod in pods}
    selectors = other_selectors((), _others(cluster, owners), ())
    keys = known | visible_keys(new_specs.values(), selectors)
    everybody = (*cluster.pods, *pods)
    if keys <= known:
        groups, new = group_pods(pods, known, cluster.groups, _group_keys(cluster))
        group_of = np.append(cluster.group_of, new)
    else:
        groups, group_of = group_pods(everybody, keys)
    node_of = np.append(cluster.node_of, np.full(len(pods), GONE))
    node_of.flags.writeable = group_of.flags.writeable = False
    changed = replace(
        cluster,
        pods=everybody,
        node_of=node_of,
        groups=groups,
        group_of=group_of,
        resources=with_groups(cluster.resources, groups, appended=keys <= known),
        owners=owners,
    )
    for shared in ("node_index", "_topologies", "node_images"):
        changed.__dict__[shared] = getattr(cluster, shared)
    if keys <= known:
        changed.group_memo.update(_still_known(cluster, changed))
    return changed


def _still_known(cluster: Cluster, changed: Cluster) -> Iterator[tuple[str, Any]]:
    """What was found out about groups and holds where others stand behind them."""
    first = len(cluster.groups)
    yield "index", GroupIndex(changed.groups, cluster.group_index)
    yield "visible_keys", _keys(cluster)
    yield "group_keys", {**_group_keys(cluster), **keys_of(changed.groups[first:])}
    yield EACH_GROUP, dict(cluster.group_memo.get(EACH_GROUP, {}))
    find, others = changed.owners.workload_of, _other_chains(cluster.owners, changed.owners)
    yield (
        "workloads",
        tuple(
            find(group.example) if group.index >= first or group.namespace in others else known
            for group, known in zip_longest(changed.groups, cluster.workloads)
        ),
    )


def _other_chains(before: Owners, after: Owners) -> Set[str]:
    """Namespaces where controllers came, went, or belong to others than before."""
    one, other = before.controllers, after.controllers
    if one is other:
        return frozenset()
    return {ref.namespace for ref in one.keys() ^ other.keys()} | {
        ref.namespace
        for ref, each in other.items()
        if (known := one.get(ref, each)) is not each
        and known.metadata.controller != each.metadata.controller
    }


def _keys(cluster: Cluster) -> frozenset[str]:
    """The labels that anything in the cluster looks at; found once for its groups."""
    memo = cluster.group_memo
    if "visible_keys" not in memo:
        specs = {id(group.spec): group.spec for group in cluster.groups}
        outside = other_selectors(cluster.services, cluster.owners, cluster.budgets)
        memo["visible_keys"] = visible_keys(specs.values(), outside)
    found: frozenset[str] = memo["visible_keys"]
    return found


def _group_keys(cluster: Cluster) -> GroupKeys:
    memo = cluster.group_memo
    if "group_keys" not in memo:
        memo["group_keys"] = keys_of(cluster.groups)
    found: GroupKeys = memo["group_keys"]
    return found


def _others(cluster: Cluster, owners: Owners) -> Owners:
    """Controllers that the cluster does not have as they are."""
    before = cluster.owners.controllers
    return Owners(c for ref, c in owners.controllers.items() if before.get(ref) is not c)
