"""Why pods wait after a failure: spread constraints that count the lost nodes, or other rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster.owners import WorkloadRef
from planner.explain.one_sentence import sentence
from planner.explain.repairs.proposal import MOST_BESIDE, Case
from planner.explain.rules import rules_of
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.subject import Subject, subject_of
from planner.scheduler.profile import Profile
from planner.whatif.course import Course

MOST_WORKLOADS = 50
"""So many workloads with pods that wait are looked at one by one."""


@dataclass(frozen=True)
class Held:
    """A hard constraint for which silent nodes are domains without a pod.

    `domains` are the lost ones: with them in the minimum, others may have `max_skew` pods at most.
    """

    workload: WorkloadRef
    topology_key: str
    constraint: int
    max_skew: int
    min_domains: int | None
    domains: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Why:
    """The pods that wait in a course, one of each workload before the rules against it."""

    course: Course
    profile: Profile

    @cached_property
    def subjects(self) -> Mapping[WorkloadRef, Subject]:
        """One pod for each workload with pods that wait."""
        waiting = list(self.course.waiting_pods().items())[:MOST_WORKLOADS]
        if not waiting:
            return {}
        first = subject_of(self.course.settled.cluster, self.profile, waiting[0][1][0])
        return {ref: replace(first, pod=pods[0]) for ref, pods in waiting}

    @cached_property
    def cases(self) -> Mapping[WorkloadRef, Case]:
        """The same with all rules against it, and with others that wait beside it."""
        waiting = self.course.waiting_pods()
        return {
            ref: Case(subject, rules_of(subject), beside=tuple(waiting[ref][1 : MOST_BESIDE + 1]))
            for ref, subject in self.subjects.items()
        }

    @cached_property
    def reasons(self) -> Mapping[WorkloadRef, str]:
        """In one sentence each."""
        return {ref: sentence(subject) for ref, subject in self.subjects.items()}

    @cached_property
    def held(self) -> tuple[Held, ...]:
        """Constraints that refuse nodes only because silent ones count."""
        return tuple(each for ref, case in self.cases.items() for each in self._held(ref, case))

    def _held(self, ref: WorkloadRef, case: Case) -> Iterator[Held]:
        down = np.zeros(case.subject.nodes.total, np.bool_)
        down[sorted(self.course.settled.changed.down)] = True
        for rule in of_type(case.rules, SpreadRule):
            lost = rule.domains_of(down) & ~rule.domains_of(~down) & rule.eligible
            others = rule.eligible & ~lost
            if not (lost & (rule.counts == rule.minimum)).any() or not others.any():
                continue
            if rule.minimum < int(rule.counts[others].min()) and rule.blocked.any():
                constraint = rule.constraint
                yield Held(
                    ref,
                    constraint.topology_key,
                    rule.index,
                    constraint.max_skew,
                    constraint.min_domains,
                    tuple(rule.names_of(lost)),
                )
