"""Pods that were not there before: in a snapshot that shares what they leave alone.

Nodes, topologies and the old pods' indexes stay; groups get more, at the end. Only where a new rule
looks at a label that nobody looked at before (`matchLabelKeys`, a new selector) do all pods have to
be grouped anew, for now it tells some of them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster.groups import group_pods, other_selectors, visible_keys
from planner.cluster.owners import Owners
from planner.cluster.resources import with_groups
from planner.cluster.snapshot import GONE, Cluster
from planner_models.pod import Pod, PodSpec


def with_new_pods(cluster: Cluster, pods: Sequence[Pod], owners: Owners) -> Cluster:
    """The snapshot with these pods behind all others, none of them there yet (GONE).

    `owners` are the controllers from now on; they may have other templates than before.
    """
    specs = {id(group.spec): group.spec for group in cluster.groups}
    new_specs = {id(pod.spec): pod.spec for pod in pods}
    known = _keys(cluster, specs, cluster.owners)
    keys = known | _keys(cluster, specs | new_specs, owners)
    everybody = (*cluster.pods, *pods)
    if keys <= known:
        groups, new = group_pods(pods, known, cluster.groups)
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
        resources=with_groups(cluster.resources, groups),
        owners=owners,
    )
    for shared in ("node_index", "_topologies"):
        if shared in cluster.__dict__:
            changed.__dict__[shared] = cluster.__dict__[shared]
    return changed


def _keys(cluster: Cluster, specs: Mapping[int, PodSpec], owners: Owners) -> frozenset[str]:
    """The labels that anything in the cluster looks at."""
    outside = other_selectors(cluster.services, owners, cluster.budgets)
    return visible_keys(specs.values(), outside)
