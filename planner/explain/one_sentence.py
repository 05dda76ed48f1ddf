"""Why a pod has no node, in one sentence: what `planner simulate` and `planner solve` say of it.

The same rules and the same minimal conflict as the long explanation. The first rules of the
conflict say what they leave, the last one why that does not take the pod either. Interchangeable
pods share a sentence; of very many different ones only the first are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from planner.cluster import Cluster
from planner.cluster.missing_storage import missing_for
from planner.explain.conflicts.conflict import minimal_conflicts
from planner.explain.conflicts.derive import derive
from planner.explain.room.ending import ending_first, leaving_soon, named
from planner.explain.rules import rules_of
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule, of_type
from planner.explain.situation.subject import Subject, subject_of
from planner.explain.wording.not_in_input import listed
from planner.scheduler.profile import Profile
from planner.scheduler.promised import nominated, with_promised
from planner.scheduler.simulate import simulate
from planner.words import conjoined

MOST_GROUPS = 200
"""So many different pods get a sentence of their own."""
BEYOND = "more than {0} different pods have no node; planner explain {1} says why"


class ShortExplainer:
    """Sentences about pods that have no node in a snapshot."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        self._profile = profile
        self._known: dict[int, str] = {}

    @cached_property
    def _first(self) -> Subject:
        return subject_of(self._cluster, self._profile, 0)

    @cached_property
    def _promised(self) -> frozenset[int]:
        """Pods that wait for a node which kube-scheduler has promised them."""
        return frozenset(nominated(self._cluster))

    @cached_property
    def _beside_promised(self) -> Subject:
        """For all others these pods have their nodes."""
        later = with_promised(self._cluster, self._profile)
        return self._first if later is self._cluster else subject_of(later, self._profile, 0)

    def sentence(self, pod: int) -> str:
        """Why no node takes the pod."""
        if self.finds_room_soon(pod):
            return self._waits(pod)
        group = int(self._cluster.group_of[pod])
        if group not in self._known:
            if len(self._known) >= MOST_GROUPS:
                return BEYOND.format(MOST_GROUPS, self._cluster.workloads[group].short)
            first = self._first if pod in self._promised else self._beside_promised
            self._known[group] = sentence(replace(first, pod=pod))
        return self._known[group]

    def finds_room_soon(self, pod: int) -> bool:
        """Whether the end of terminating pods makes room for it, without any other step."""
        return pod in self._soon

    @cached_property
    def _soon(self) -> frozenset[int]:
        """Pods that find a node once others have ended which are terminating already."""
        ending = leaving_soon(self._first) if self._cluster.pods else ()
        if not ending:
            return frozenset()
        later = simulate(self._cluster.without(ending), (self._profile,))
        return frozenset(each.pod for each in later.results if each.node is not None)

    def _waits(self, pod: int) -> str:
        subject = replace(self._first, pod=pod)
        ending = leaving_soon(subject)
        return f"waits for {named(subject, ending_first(subject, (pod,), ending) or ending)} to end"


def sentence(subject: Subject) -> str:
    """One sentence about one pod."""
    evaluation = subject.scheduler.evaluate(subject.pod)
    missing = missing_for(subject.cluster.storage, subject.record)
    if missing and not len(evaluation.feasible):
        return f"needs {listed(missing)}, not in the input"
    if evaluation.rejection is not None:
        return "; ".join(evaluation.rejection.reasons)
    if len(evaluation.feasible):
        node = subject.cluster.nodes[int(evaluation.feasible[0])].name
        return f"not placed within the limit, although {node} would take it"
    rules = rules_of(subject)
    conflicts = minimal_conflicts(rules, subject.nodes.total).sets
    if not conflicts:
        return evaluation.message().rstrip(".")
    return _of_conflict(subject, conflicts[0])


def _of_conflict(subject: Subject, conflict: Sequence[Rule]) -> str:
    steps = derive(subject, conflict).steps
    rules = [step.rule for step in steps]
    if all(rule.kind == "topologySpread" for rule in rules):
        keys = list(dict.fromkeys(rule.key for rule in of_type(rules, SpreadRule)))
        verb = "leaves" if len(keys) == 1 else "together leave"
        return f"{conjoined(keys)} spread {verb} no node"
    parts = [step.rule.leaves(step.after) for step in steps[:-1]]
    last = rules[-1].excludes(steps[-1].before, " there" if parts else "")
    return f"{', '.join(parts)}, and {last}" if parts else last
