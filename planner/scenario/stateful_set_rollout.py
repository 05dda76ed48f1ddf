"""Rollouts of a StatefulSet: a pod goes, and one of the new template comes under its name.

The new pod keeps the claims of the old one, and comes only when that is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.cluster import GONE, Cluster
from planner.cluster.owners import Owners
from planner.replay.trial import Manner
from planner.scenario.controller_run import ControllerRun
from planner.scenario.new_revision import restarted, same_revision, template_hash
from planner.scenario.rollout_run import RolloutRun, Work, rollout_run
from planner.scenario.stateful_set import Policy, Replica, look, policy_of
from planner.scenario.stateful_set_stage import Revisions, Slot, named_apart, stateful_set_stage
from planner.scheduler.profile import Profile
from planner_models.pod import PodTemplate
from planner_models.workload import StatefulSet


class StatefulSetRollout:
    """Rollouts of one StatefulSet from one snapshot; without a template it is restarted."""

    def __init__(
        self,
        cluster: Cluster,
        profile: Profile,
        stateful_set: StatefulSet,
        template: PodTemplate | None = None,
    ) -> None:
        before = stateful_set.spec.template
        wanted = restarted(before) if template is None else template
        known = stateful_set.status.update_revision if same_revision(before, wanted) else ""
        self.revisions = Revisions(
            stateful_set,
            stateful_set.replace(spec=stateful_set.spec.replace(template=wanted)),
            known or f"{stateful_set.name}-{template_hash(wanted)}",
        )
        self.policy = policy_of(stateful_set)
        self._stage, self._slots = stateful_set_stage(cluster, profile, self.revisions, self.policy)

    def run(self, manner: Manner, cordoned: Sequence[int] = ()) -> RolloutRun:
        """One rollout to its end: complete, or nothing changes any more."""
        run = ControllerRun(self._stage, manner, cordoned)
        controller = _StatefulSetController(self.policy, self._slots)
        run.until_quiet(controller)
        due = [self._slots[each] for each in self.policy.updated]
        below = self.policy.ordinals[: self.policy.partition]
        work = Work(
            pods=self._stage.pods,
            updated=[each.again for each in due if each.again is not None],
            wanted=len(due),
            most_down=controller.most_down,
            kept=frozenset(pod for each in below for pod in self._slots[each].pods),
            held_up=controller.held_up(),
        )
        found = rollout_run(run, named_apart(run.ended(), self._slots), work)
        return replace(found, ended=found.ended.with_owners(self._owners(found)))

    def _owners(self, found: RolloutRun) -> Owners:
        """The StatefulSet with the revisions that the rollout left it with."""
        after, there = self.revisions.after, len(found.updated)
        whole = found.complete and not self.policy.partition
        changes = {"update_revision": self.revisions.name}
        if whole:
            changes["current_revision"] = self.revisions.name
        current = self.policy.replicas if whole else self.policy.replicas - there
        status = after.status.replace(**changes, current_replicas=current)
        return self._stage.cluster.owners.with_controllers((after.replace(status=status),))


class _StatefulSetController:
    """A StatefulSet acting on a run."""

    def __init__(self, policy: Policy, slots: Mapping[int, Slot]) -> None:
        self._policy = policy
        self._slots = slots
        self._ordinal_of = {pod: number for number, each in slots.items() for pod in each.pods}
        self._seen: dict[int, Replica] = {}
        self._changing = set(slots)
        """Ordinals to look at again; pods of the others are ready, and stay so."""
        self._preempted = 0
        self.most_down = 0

    def act(self, run: ControllerRun) -> bool:
        """The controller looks once."""
        self._note_preempted(run)
        self._look(run)
        ready = sum(each not in self._changing for each in self._policy.ordinals)
        self.most_down = max(self.most_down, self._policy.replicas - ready)
        acts = look(self._policy, self._seen)
        for ordinal in acts.made:
            again = self._slots[ordinal].again
            if again is not None:
                run.make(again)
        for ordinal in acts.deleted:
            self._changing.add(ordinal)
            for pod in run.there(self._slots[ordinal].pods):
                run.delete(pod)
        return bool(acts.made or acts.deleted)

    def _note_preempted(self, run: ControllerRun) -> None:
        """A pod that was driven off is made anew, of the revision that is due by now."""
        driven, self._preempted = run.preempted[self._preempted :], len(run.preempted)
        for pod in driven:
            ordinal = self._ordinal_of.get(pod)
            if ordinal is not None:
                self._changing.add(ordinal)
                if self._slots[ordinal].again != pod and run.node(pod) != GONE:
                    run.delete(pod)

    def _look(self, run: ControllerRun) -> None:
        for ordinal in sorted(self._changing):
            found = self._replica(run, self._slots[ordinal])
            if found is None:
                self._seen.pop(ordinal, None)
            else:
                self._seen[ordinal] = found
                if found.state == "ready":
                    self._changing.discard(ordinal)

    def _replica(self, run: ControllerRun, slot: Slot) -> Replica | None:
        for pod in slot.pods:
            updated = slot.stored_updated if pod == slot.stored else True
            if run.leaving((pod,)):
                return Replica("terminating", updated)
            if run.node(pod) != GONE:
                return Replica("ready" if run.ready(pod) else "unready", updated)
        return None

    def held_up(self) -> str:
        """What the controller waits for, if no pod waits for a node."""
        if self._policy.on_delete:
            return "OnDelete: pods are replaced when somebody deletes them"
        unready = sorted(self._changing & set(self._policy.ordinals))
        return f"the pod of ordinal {unready[0]} is not ready" if unready else ""
