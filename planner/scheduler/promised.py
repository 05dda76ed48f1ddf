"""Nodes that kube-scheduler has promised to pods which preempted others (`nominatedNodeName`).

Such a pod waits until its victims, which are terminating, are gone. Other pods of lower or equal
priority can't take the room meanwhile, so plans see the cluster as it is a little later: the
victims gone, and the pod in their place.
"""

from __future__ import annotations

import numpy as np

from planner.cluster import GONE, Cluster
from planner.scheduler.cycle import Scheduler, Search
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner_models.pod import DEFAULT_SCHEDULER, Pod


def nominated(cluster: Cluster) -> list[int]:
    """Waiting pods that have a promise, the most important first."""
    pods = cluster.pods
    found = (pod for pod in cluster.pending.tolist() if _waits_for_its_node(cluster, pods[pod]))
    return sorted(found, key=lambda pod: -pods[pod].priority)


def _waits_for_its_node(cluster: Cluster, pod: Pod) -> bool:
    return (
        pod.nominated_node_name in cluster.node_index
        and not pod.terminating
        and not pod.spec.scheduling_gates
        and pod.spec.scheduler_name == DEFAULT_SCHEDULER
    )


def with_promised(cluster: Cluster, profile: Profile) -> Cluster:
    """The cluster in which pods have the nodes that they only wait for others to leave."""
    waiting = nominated(cluster)
    if not waiting:
        return cluster
    state = SchedulingState(cluster)
    scheduler = Scheduler(state, profile)
    for pod in waiting:
        _fulfil(state, scheduler, pod)
    return state.snapshot()


def _fulfil(state: SchedulingState, scheduler: Scheduler, pod: int) -> None:
    """A pod that some node takes at once is the queue's matter."""
    if len(scheduler.evaluate(pod).feasible):
        return
    record = state.pod(pod)
    node = state.cluster.node_index[record.nominated_node_name]
    here = np.flatnonzero((state.node_of == node) & state.terminating).tolist()
    victims = [other for other in here if state.pod(other).priority < record.priority]
    for victim in victims:
        state.remove(victim, to=GONE)
    alone = Search(state.all_nodes[node : node + 1], 1)
    if victims and len(scheduler.evaluate(pod, alone).feasible):
        state.place(pod, node)
        return
    for victim in victims:
        state.place(victim, node)
