"""Rollouts of a DaemonSet, node by node."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from planner.cluster import GONE, Cluster
from planner.replay.trial import Manner
from planner.scenario.controller_run import ControllerRun
from planner.scenario.daemon_set import DaemonNode, DaemonPod, Update, look, update_of
from planner.scenario.daemon_set_stage import NodePods, daemon_set_stage
from planner.scenario.new_revision import restarted
from planner.scenario.rollout_run import RolloutRun, Work, rollout_run
from planner.scheduler.profile import Profile
from planner_models.pod import PodTemplate
from planner_models.workload import DaemonSet


class DaemonSetRollout:
    """Rollouts of one DaemonSet from one snapshot; without a template it is restarted."""

    def __init__(
        self,
        cluster: Cluster,
        profile: Profile,
        daemon_set: DaemonSet,
        template: PodTemplate | None = None,
    ) -> None:
        wanted = restarted(daemon_set.spec.template) if template is None else template
        after = daemon_set.replace(spec=daemon_set.spec.replace(template=wanted))
        self._stage, self._nodes, self._updated = daemon_set_stage(
            cluster, profile, daemon_set, after
        )
        self._running = sum(each.runs for each in self._nodes.values())
        self.update = update_of(after, self._running)

    def run(self, manner: Manner, cordoned: Sequence[int] = ()) -> RolloutRun:
        """One rollout to its end: complete, or nothing changes any more."""
        run = ControllerRun(self._stage, manner, cordoned)
        controller = _DaemonSetController(self.update, self._nodes, self._updated)
        run.until_quiet(controller)
        on_delete = "OnDelete: pods are replaced when somebody deletes them"
        work = Work(
            pods=self._stage.pods,
            updated=sorted(self._updated),
            wanted=self._running,
            most_down=controller.most_down,
            held_up=on_delete if self.update.on_delete else "",
        )
        return rollout_run(run, run.ended(), work)


class _DaemonSetController:
    """A DaemonSet acting on a run.

    Most nodes have one old pod that is ready, or one new pod that is: these are looked at only when
    their turn comes, or when somebody drives a pod off.
    """

    def __init__(
        self, update: Update, nodes: Mapping[int, NodePods], updated: frozenset[int]
    ) -> None:
        self._update = update
        self._nodes = nodes
        self._updated = updated
        self._node_of = {pod: node for node, each in nodes.items() for pod in each.pods}
        self._busy = dict.fromkeys(nodes)
        self._old: deque[int] = deque()
        """Nodes that wait for their turn."""
        self._began = False
        self._seen = 0
        self.most_down = 0

    def act(self, run: ControllerRun) -> bool:
        """The controller looks once."""
        self._note_preempted(run)
        busy = [self._look_at(run, node) for node in self._busy]
        resting = [each for each in busy if _rests(each)]
        for each in resting:
            del self._busy[each.node]
        self._queue(run, [each.node for each in resting if each.old])
        busy = [each for each in busy if each.node in self._busy]
        down = sum(each.runs and not any(pod.ready for pod in each.pods) for each in busy)
        self.most_down = max(self.most_down, down)
        turn = [self._old.popleft() for _ in range(min(len(self._old), self._at_once))]
        acts = look(self._update, [*busy, *(self._look_at(run, node) for node in turn)])
        for node in acts.made:
            self._make(run, node)
        for pod in acts.deleted:
            run.delete(pod)
        touched = {*acts.made, *(self._node_of[pod] for pod in acts.deleted)}
        self._busy.update(dict.fromkeys(node for node in turn if node in touched))
        self._old.extendleft(node for node in reversed(turn) if node not in touched)
        return bool(touched)

    @property
    def _at_once(self) -> int:
        return max(self._update.unavailable, self._update.surge)

    def _queue(self, run: ControllerRun, nodes: list[int]) -> None:
        """In any order: the controller keeps nodes in a map."""
        if run.random is not None and not self._began:
            run.random.shuffle(nodes)
        self._began = True
        self._old.extend(nodes)

    def _note_preempted(self, run: ControllerRun) -> None:
        """A pod that was driven off is made anew, as the present template has it."""
        driven, self._seen = run.preempted[self._seen :], len(run.preempted)
        for pod in driven:
            node = self._node_of.get(pod)
            if node is None:
                continue
            self._busy[node] = None
            if node in self._old:
                self._old.remove(node)
            if pod != self._nodes[node].new and run.node(pod) != GONE:
                run.delete(pod)

    def _make(self, run: ControllerRun, node: int) -> None:
        """A pod that is updated already and went is made once more."""
        new = self._nodes[node].new
        if new is not None:
            run.make(new)

    def _look_at(self, run: ControllerRun, node: int) -> DaemonNode:
        found = self._nodes[node]
        pods = tuple(
            DaemonPod(pod, run.ready(pod), pod in self._updated) for pod in run.there(found.pods)
        )
        leaving = run.leaving(found.pods) > 0
        return DaemonNode(node, pods, found.runs, found.stays, leaving)


def _rests(each: DaemonNode) -> bool:
    """One pod that is ready where it should be, none where not: nothing to do, or not yet."""
    if each.terminating or len(each.pods) != each.runs:
        return False
    return all(pod.ready for pod in each.pods)
