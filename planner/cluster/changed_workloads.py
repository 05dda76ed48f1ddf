"""A snapshot after workloads were changed in the input, made from the one before.

Pods that controllers would make are made anew from changed templates, behind all others; nodes,
running pods and everything about them stay. Grouping a large input again would find the same.
"""

from __future__ import annotations

from operator import is_

from planner.cluster.build import controllers_of
from planner.cluster.new_pods import with_new_pods
from planner.cluster.owners import Owners
from planner.cluster.snapshot import ELSEWHERE, PENDING, Cluster
from planner.sources.inventory import Inventory
from planner_models.pod_status import FINISHED


def with_changed_workloads(cluster: Cluster, before: Inventory, after: Inventory) -> Cluster | None:
    """The snapshot of `after`, which differs from `before`, that of `cluster`, in workloads alone.

    Pods that are no longer there are GONE, and those that came stand behind all others. None where
    pods changed in another way: the order in which they wait would not be the same.
    """
    there = {id(pod) for pod in after.pods}
    kept = [pod for pod in before.pods if id(pod) in there]
    come = after.pods[len(kept) :]
    in_order = all(map(is_, kept, after.pods))
    if not in_order or any(pod.phase in FINISHED for pod in come):
        return None
    gone = [i for i, pod in enumerate(cluster.pods) if id(pod) not in there]
    first, known = len(cluster.pods), cluster.node_index
    owners = Owners(controllers_of(after))
    found = with_new_pods(cluster.without(gone), come, owners)
    return found.with_placement(
        {
            first + i: known.get(pod.node_name, ELSEWHERE) if pod.node_name else PENDING
            for i, pod in enumerate(come)
        }
    )
