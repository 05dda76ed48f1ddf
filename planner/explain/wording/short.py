"""Why a pod has no node, in one sentence: what `planner simulate` and `planner solve` say of it.

The same rules and the same minimal conflict as the long explanation. The first rules of the
conflict say what they leave, the last one why that does not take the pod either. Interchangeable
pods share a sentence; of very many different ones only the first are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.conflict import minimal_conflicts
from planner.explain.conflicts.derive import derive
from planner.explain.rules import rules_of
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule, NearRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject, subject_of
from planner.scheduler.profile import Profile
from planner.words import amount_of, conjoined, named_or_counted
from planner_models.diagnosis import RuleKind
from planner_models.resources import PODS

MOST_GROUPS = 200
"""So many different pods get a sentence of their own."""
BEYOND = "more than {0} different pods have no node; planner explain {1} says why"

_LEAVES: Mapping[RuleKind, str] = {
    "volumes": "its volumes leave {}",
    "nodeAffinity": "node affinity leaves {}",
    "nodeName": "nodeName leaves {}",
    "taints": "taints leave {}",
    "unschedulable": "cordons leave {}",
    "podAffinity": "pod affinity leaves {}",
    "podAntiAffinity": "anti-affinity leaves {}",
    "podAntiAffinityOfOthers": "anti-affinity of others leaves {}",
    "ports": "free host ports leave {}",
    "declaredFeatures": "the features it needs leave {}",
    "capacity": "capacity leaves {}",
}
_EXCLUDES: Mapping[RuleKind, str] = {
    "volumes": "its volumes can't be used on {}",
    "nodeAffinity": "node affinity excludes {}",
    "nodeName": "its nodeName is none of them",
    "taints": "it does not tolerate the taints of {}",
    "unschedulable": "{} is cordoned",
    "podAntiAffinity": "anti-affinity excludes {}",
    "podAntiAffinityOfOthers": "anti-affinity of others excludes {}",
    "ports": "its host port is taken on {}",
    "declaredFeatures": "it needs a feature that {} lacks",
}


class ShortExplainer:
    """Sentences about pods that have no node in a snapshot."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        self._profile = profile
        self._known: dict[int, str] = {}

    @cached_property
    def _first(self) -> Subject:
        return subject_of(self._cluster, self._profile, 0)

    def sentence(self, pod: int) -> str:
        """Why no node takes the pod."""
        group = int(self._cluster.group_of[pod])
        if group not in self._known:
            if len(self._known) >= MOST_GROUPS:
                return BEYOND.format(MOST_GROUPS, self._cluster.workloads[group].short)
            self._known[group] = sentence(replace(self._first, pod=pod))
        return self._known[group]


def sentence(subject: Subject) -> str:
    """One sentence about one pod."""
    evaluation = subject.scheduler.evaluate(subject.pod)
    if evaluation.rejection is not None:
        return "; ".join(evaluation.rejection.reasons)
    if len(evaluation.feasible):
        node = subject.cluster.nodes[int(evaluation.feasible[0])].name
        return f"not placed within the limit, although {node} would take it"
    rules = rules_of(subject)
    conflicts = minimal_conflicts(rules, subject.places.total).sets
    if not conflicts:
        return evaluation.message().rstrip(".")
    return _of_conflict(subject, conflicts[0])


def _of_conflict(subject: Subject, conflict: Sequence[Rule]) -> str:
    steps = derive(subject, conflict).steps
    spreads = [step.rule for step in steps if isinstance(step.rule, SpreadRule)]
    if len(spreads) == len(steps):
        names = conjoined(list(dict.fromkeys(rule.key for rule in spreads)))
        verb = "leaves" if len({rule.key for rule in spreads}) == 1 else "together leave"
        return f"{names} spread {verb} no node"
    parts = [_leaves(step.rule, step.after) for step in steps[:-1]]
    last = _excludes(steps[-1].rule, steps[-1].before, narrowed=bool(parts))
    return f"{', '.join(parts)}, and {last}" if parts else last


def _leaves(rule: Rule, left: BoolArray) -> str:
    if isinstance(rule, SpreadRule):
        names = rule.open_names(left)
        verb = "is" if len(names) == 1 else "are"
        return f"only {named_or_counted(names, 'domain')} {verb} allowed"
    return _LEAVES[rule.kind].format(rule.subject.places.describe(left))


def _excludes(rule: Rule, left: BoolArray, *, narrowed: bool) -> str:
    there = " there" if narrowed else ""
    if isinstance(rule, CapacityRule):
        return _no_room(rule, left, there)
    if isinstance(rule, NearRule):
        return f"no pod that it has to be near runs{there or ' where it may go'}"
    if isinstance(rule, AntiAffinityRule) and not there and rule.to_itself and rule.every_domain:
        name = rule.subject.workload.name
        return f"at most 1 {name} per {rule.keys}, and every {rule.keys} has one"
    if isinstance(rule, SpreadRule):
        return f"{rule.name} leaves no node{there}"
    return _EXCLUDES[rule.kind].format(f"every node{there}")


def _no_room(rule: CapacityRule, left: BoolArray, there: str) -> str:
    """What every node lacks; of several that are short in turns all are named."""
    short = rule.short[left]
    always = np.flatnonzero(short.all(axis=0)).tolist()
    for column in always:
        name, wanted = rule.names[column], int(rule.request[column])
        largest = int(rule.offered[left, column].max())
        if wanted > largest and name != PODS:
            most = amount_of(name, largest).split(" ")[0]
            return f"needs {amount_of(name, wanted)}; the largest node{there} has {most}"
    if always == [rule.names.index(PODS)]:
        return f"every node{there} has as many pods as it may have"
    chosen = [i for i in always if rule.names[i] != PODS][:1] or rule.lacking(left)
    parts = [
        amount_of(rule.names[i], int(rule.request[i])) for i in chosen if rule.names[i] != PODS
    ]
    return f"no node{there} has {' and '.join(parts)} free"
