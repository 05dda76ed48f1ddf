"""Typos and traps: what is odd about the pod or the nodes, said where it matters to the case."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planner.explain.repairs.label_node import usual_keys
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule, matching_groups
from planner.explain.rules.rule import Rule
from planner.explain.rules.volumes import VolumeRule
from planner.explain.situation.lookalikes import lookalike
from planner.explain.situation.subject import Subject
from planner.words import (
    NAMED,
    amount,
    conjoined,
    count_of,
    resource_word,
    short_key,
)
from planner_models.notice import Notice
from planner_models.resources import CPU, MEMORY

_MILLION = 1_000_000
"""More cores than any node has: `100M` where `100m` was meant."""
_TINY = 1024 * 1024
"""Less memory than any container needs: `100m` where `100M` was meant."""

Rules = tuple[Rule, ...]


def misleading(subject: Subject, rules: Rules, conflict: Rules) -> tuple[Notice, ...]:
    """kube-scheduler names one reason per node; room that would not help is named all the same."""
    room = next((rule for rule in rules if isinstance(rule, CapacityRule)), None)
    if room is None or room in conflict or not conflict:
        return ()
    what = conjoined([resource_word(room.names[i]) for i in room.lacking(room.blocked)])
    where = subject.places.describe(room.blocked)
    names = conjoined([rule.name for rule in conflict])
    verb = "excludes" if len(conflict) == 1 else "exclude"
    return (
        Notice(
            code="moreRoomWouldNotHelp",
            text=f"{what} is short on {where}, but more of it would not help: {names} {verb} every "
            "node",
        ),
    )


def hints(subject: Subject, rules: Rules) -> tuple[Notice, ...]:
    """Everything odd, in the order of this module."""
    return tuple(notice for look in _LOOKS for notice in look(subject, rules))


def bypassed(rule: SpreadRule) -> str:
    """`2 of 4 nodes are bypassed, because they lack the label zone: ...`."""
    nodes, missing = rule.subject.cluster.nodes, np.flatnonzero(rule.missing).tolist()
    usual = usual_keys(rule)
    key = rule.constraint.topology_key
    typos = [(i, t) for i in missing if (t := lookalike(nodes[i].labels, key, usual)) is not None]
    plain = [i for i in missing if i not in {i for i, _ in typos}]
    parts = []
    if plain:
        names = [nodes[i].name for i in plain]
        parts.append(conjoined(names) if len(names) <= NAMED else count_of(len(names), "node"))
    question = ""
    if typos:
        index, typo = typos[0]
        value = nodes[index].labels[typo]
        more = f" and {len(typos) - 1} more like it" if len(typos) > 1 else ""
        parts.append(f"{nodes[index].name}{more}, which has {typo}={value}")
        question = f" Did you mean {key}={value}?"
    verb = "is" if len(missing) == 1 else "are"
    they = "it lacks" if len(missing) == 1 else "they lack"
    listed = ", and ".join(parts)
    return (
        f"{len(missing)} of {len(nodes)} nodes {verb} bypassed, because {they} the label {key}: "
        f"{listed}.{question}"
    )


def _missing_labels(subject: Subject, rules: Rules) -> Iterator[Notice]:
    for rule in rules:
        if isinstance(rule, SpreadRule) and rule.missing.any():
            names = subject.places.names(rule.missing)
            yield Notice(code="bypassedNodes", text=bypassed(rule), objects=tuple(names[:NAMED]))


def _selectors(subject: Subject, rules: Rules) -> Iterator[Notice]:
    """Selectors that don't match the pod itself, or nothing at all."""
    for index, constraint in enumerate(subject.group.spec.topology_spread_constraints):
        field = f"spec.topologySpreadConstraints[{index}]"
        selector = constraint.label_selector
        if selector is None:
            text = f"{field} has no labelSelector, so it matches no pod and does nothing"
            yield Notice(code="nullSelector", text=text)
        elif selector.is_empty:
            text = f"{field} has an empty labelSelector, which counts no running pod"
            yield Notice(code="emptySelector", text=text)
        elif not selector.matches(subject.record.labels):
            text = (
                f"the labelSelector of {field} does not match {subject.name}'s own labels, so its "
                "own pods are not spread"
            )
            yield Notice(code="selectorMissesPod", text=text)


def _match_label_keys(subject: Subject, rules: Rules) -> Iterator[Notice]:
    """Each revision counts alone: pods of an older one are not seen."""
    for rule in rules:
        if not isinstance(rule, SpreadRule) or not rule.constraint.match_label_keys:
            continue
        seen = set(matching_groups(subject, rule.constraint).tolist())
        plain = rule.constraint.replace(match_label_keys=())
        everybody = set(matching_groups(subject, plain).tolist())
        if everybody - seen:
            keys = conjoined(list(rule.constraint.match_label_keys))
            text = f"matchLabelKeys {keys} makes {rule.name} count each revision alone"
            yield Notice(code="matchLabelKeys", text=text)


def _terminating(subject: Subject, rules: Rules) -> Iterator[Notice]:
    for rule in rules:
        if isinstance(rule, SpreadRule):
            groups = matching_groups(subject, rule.constraint)
            chosen = np.isin(subject.cluster.group_of, groups) & (subject.state.node_of >= 0)
            number = int((chosen & subject.state.terminating).sum())
            if number:
                are = "is" if number == 1 else "are"
                text = f"{count_of(number, 'terminating pod')} {are} not counted for {rule.name}"
                yield Notice(code="terminatingNotCounted", text=text)


def _min_domains(subject: Subject, rules: Rules) -> Iterator[Notice]:
    for rule in rules:
        if isinstance(rule, SpreadRule) and rule.few_domains and rule.constraint.min_domains:
            text = (
                f"minDomains is {rule.constraint.min_domains} and {rule.key} has "
                f"{count_of(int(rule.eligible.sum()), 'domain')}: the minimum is taken as 0"
            )
            yield Notice(code="minDomains", text=text)


def _taints(subject: Subject, rules: Rules) -> Iterator[Notice]:
    """Only some nodes of a domain are tainted, so the domain counts although it is half closed."""
    tainted = ~subject.state.node_rules.taints(subject.group.spec.tolerations)
    for rule in rules:
        if not isinstance(rule, SpreadRule) or rule.constraint.node_taints_policy != "Honor":
            continue
        domains = rule.topology.domain_of
        mixed = [
            rule.topology.domains[d]
            for d in np.unique(domains[tainted & (domains >= 0)]).tolist()
            if (~tainted & (domains == d)).any()
        ]
        if mixed:
            text = (
                f"{conjoined(mixed[:NAMED])} counts for {rule.name} although some of its nodes "
                "have taints that the pod does not tolerate; pods on those nodes don't count"
            )
            yield Notice(code="partlyTainted", text=text)


def _quantities(subject: Subject, rules: Rules) -> Iterator[Notice]:
    """`100m` of memory is a tenth of a byte, `100M` of CPU a hundred million cores."""
    requests = subject.group.spec.requests
    if requests.get(CPU, 0) >= _MILLION * 1000:
        millions = requests[CPU] // (_MILLION * 1000)
        text = f"the CPU request is {millions}M cores. Did you mean {millions}m?"
        yield Notice(code="cpuUnit", text=text)
    for container in subject.group.spec.containers:
        nano = container.resources.requests.get(MEMORY, 0)
        if 0 < nano < _TINY * 10**9 and nano % 10**9:
            milli = nano // 10**6
            text = (
                f"the memory request of container {container.name} is {milli}m, in thousandths of "
                f"a byte. Did you mean {milli}M?"
            )
            yield Notice(code="memoryUnit", text=text)


def _too_large(subject: Subject, rules: Rules) -> Iterator[Notice]:
    for rule in rules:
        if not isinstance(rule, CapacityRule):
            continue
        for column, name in enumerate(rule.names):
            largest = int(rule.offered[:, column].max(initial=0))
            if int(rule.request[column]) > largest:
                text = (
                    f"the {name} request {amount(name, int(rule.request[column]))} is above any "
                    f"node's allocatable, at most {amount(name, largest)}"
                )
                yield Notice(code="aboveAnyNode", text=text)


def _volumes(subject: Subject, rules: Rules) -> Iterator[Notice]:
    """Volumes pin the pod, but spread counts zones that they can't reach."""
    volumes = [rule for rule in rules if isinstance(rule, VolumeRule) and rule.reaches_only]
    spreads = [rule for rule in rules if isinstance(rule, SpreadRule)]
    for volume in volumes:
        for spread in spreads:
            inside = spread.topology.domain_of[volume.allowed]
            reached = np.zeros(len(spread.topology.domains), np.bool_)
            reached[inside[inside >= 0]] = True
            away = spread.names_of(spread.eligible & ~reached)
            if away:
                text = (
                    f"the volume of {conjoined(volume.claims)} can't reach "
                    f"{conjoined(away[:NAMED])}, which {short_key(spread.key)} spread counts"
                )
                yield Notice(code="volumeAgainstSpread", text=text)


_LOOKS: tuple[Callable[[Subject, Rules], Iterator[Notice]], ...] = (
    _missing_labels,
    _selectors,
    _match_label_keys,
    _terminating,
    _min_domains,
    _taints,
    _quantities,
    _too_large,
    _volumes,
)
