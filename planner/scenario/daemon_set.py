"""What a DaemonSet does with the pods of its nodes: one look of its controller at a time.

As in Kubernetes v1.36 (`pkg/controller/daemon`). First every node gets the pods that it should
have; in an update only if that changes nothing, old pods go. Without `maxSurge` old pods that are
not available go at once, others as long as no more than `maxUnavailable` nodes are without an
available pod; a new one comes when the old one is gone. With `maxSurge` a new pod comes beside the
old one, on so many nodes at once, and the old one goes when the new one is available. Both numbers
round up. `OnDelete` leaves it to others to delete pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.sources.daemons import runs_on
from planner_models.node import Node
from planner_models.pod import TemplatePodSpec
from planner_models.policy import scaled
from planner_models.workload import DaemonSet


@dataclass(frozen=True)
class Update:
    """How far an update may go, in nodes."""

    unavailable: int = 1
    surge: int = 0
    on_delete: bool = False


@dataclass(frozen=True)
class DaemonPod:
    """A pod that is not terminating; `updated` if it is of the new template."""

    pod: int
    ready: bool = True
    updated: bool = False


@dataclass(frozen=True)
class DaemonNode:
    """A node and the DaemonSet's pods there, oldest first.

    It `runs` a pod, or at least keeps (`stays`) one that is there. `terminating` pods hold the
    place of new ones.
    """

    node: int
    pods: tuple[DaemonPod, ...] = ()
    runs: bool = True
    stays: bool = True
    terminating: bool = False

    @property
    def old(self) -> tuple[DaemonPod, ...]:
        """Pods of another template."""
        return tuple(each for each in self.pods if not each.updated)

    @property
    def new(self) -> tuple[DaemonPod, ...]:
        """Pods of the present template."""
        return tuple(each for each in self.pods if each.updated)


@dataclass(frozen=True)
class Acts:
    """Nodes that get a new pod, and pods that are deleted."""

    made: tuple[int, ...] = ()
    deleted: tuple[int, ...] = ()


def wants(spec: TemplatePodSpec, node: Node) -> tuple[bool, bool]:
    """Whether a pod should run on the node, and whether one that is there may stay.

    A taint of effect NoSchedule keeps new pods away and leaves old ones alone.
    """
    if runs_on(spec, node):
        return True, True
    stopping = tuple(each for each in node.spec.taints if each.effect == "NoExecute")
    return False, runs_on(spec, node.replace(spec=node.spec.replace(taints=stopping)))


def update_of(daemon_set: DaemonSet, wanted: int) -> Update:
    """The strategy, for so many nodes that should have a pod; where both are 0, one may be down."""
    strategy = daemon_set.spec.update_strategy
    if strategy.type == "OnDelete":
        return Update(on_delete=True)
    rolling = strategy.rolling_update
    surge, unavailable = (scaled(n, wanted) for n in (rolling.max_surge, rolling.max_unavailable))
    return Update(unavailable or int(not surge), surge)


def look(update: Update, nodes: Sequence[DaemonNode]) -> Acts:
    """What the controller does when it sees these nodes, in their order."""
    acts = _managed(update, nodes)
    if acts != Acts() or update.on_delete:
        return acts
    return _surged(update, nodes) if update.surge else _replaced(update, nodes)


def _managed(update: Update, nodes: Sequence[DaemonNode]) -> Acts:
    """Every node as it should be, whatever the template."""
    made: list[int] = []
    deleted: list[int] = []
    for each in nodes:
        there = bool(each.pods) or (each.terminating and not update.surge)
        if each.runs and not there:
            made.append(each.node)
        elif not each.stays:
            deleted += [pod.pod for pod in each.pods]
        elif not update.surge:
            deleted += [pod.pod for pod in each.pods[1:]]
        else:
            deleted += _beside(each)
    return Acts(tuple(made), tuple(deleted))


def _beside(node: DaemonNode) -> list[int]:
    """With a surge one old and one new pod may be there, until the one fails or the other runs."""
    surplus = [*node.old[1:], *node.new[1:]]
    if node.old and node.new and (not node.old[0].ready or node.new[0].ready):
        surplus.append(node.old[0])
    return [each.pod for each in surplus]


def _replaced(update: Update, nodes: Sequence[DaemonNode]) -> Acts:
    watched = [each for each in nodes if each.runs or each.pods or each.terminating]
    down = sum(not any(pod.ready for pod in each.pods) for each in watched)
    old = [pod for each in nodes for pod in each.old]
    failed = [pod.pod for pod in old if not pod.ready]
    others = [pod.pod for pod in old if pod.ready]
    return Acts(deleted=(*failed, *others[: max(0, update.unavailable - down)]))


def _surged(update: Update, nodes: Sequence[DaemonNode]) -> Acts:
    alone = [each for each in nodes if each.old and not each.new]
    failed = [each for each in alone if not each.old[0].ready]
    leaving = [each.old[0].pod for each in failed if not each.runs]
    made = [each.node for each in failed if each.runs]
    beside = sum(bool(each.old and each.new) for each in nodes)
    healthy = [each for each in alone if each.old[0].ready]
    made += [each.node for each in healthy if each.runs][: max(0, update.surge - beside)]
    ready = sum((each.old or each.new)[0].ready for each in nodes if each.pods)
    spare = max(0, ready - sum(each.runs for each in nodes))
    leaving += [each.old[0].pod for each in healthy if not each.runs][:spare]
    return Acts(tuple(made), tuple(leaving))
