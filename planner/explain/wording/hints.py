"""Typos and traps: what is odd about the pod or the nodes, said where it matters to the case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import Rule, of_type
from planner.explain.situation.subject import Subject
from planner.words import conjoined, resource_word
from planner_models.notice import Notice
from planner_models.resources import CPU, MEMORY, PODS

_MILLION = 1_000_000
"""More cores than any node has: `100M` where `100m` was meant."""
_TINY = 1024 * 1024
"""Less memory than any container needs: `100m` where `100M` was meant."""
_ORDER: Sequence[tuple[str, ...]] = (
    ("bypassedNodes",),
    ("nullSelector", "emptySelector", "selectorMissesPod"),
    ("matchLabelKeys",),
    ("terminatingNotCounted",),
    ("minDomains",),
    ("partlyTainted",),
    ("cpuUnit", "memoryUnit"),
    ("aboveAnyNode",),
    ("volumeAgainstSpread",),
)
_RANK = {code: rank for rank, codes in enumerate(_ORDER) for code in codes}


def hints(subject: Subject, rules: Sequence[Rule]) -> tuple[Notice, ...]:
    """Everything odd, by kind and then in the order of the rules."""
    found = [notice for rule in rules for notice in rule.hints(rules)]
    found += [*_selectors(subject), *_quantities(subject)]
    return tuple(sorted(found, key=lambda notice: _RANK[notice.code]))


def misleading(
    subject: Subject, rules: Sequence[Rule], conflict: Sequence[Rule]
) -> tuple[Notice, ...]:
    """kube-scheduler names one reason per node; room that would not help is named all the same."""
    rooms = of_type(rules, CapacityRule)
    if not rooms or rooms[0] in conflict or not conflict:
        return ()
    room = rooms[0]
    short = [room.names[i] for i in room.lacking(room.blocked)]
    what = conjoined([resource_word(name) for name in short])
    are, them = ("is", "it") if len(short) == 1 and PODS not in short else ("are", "them")
    where = subject.nodes.describe(room.blocked)
    names = conjoined([rule.name for rule in conflict])
    verb = "excludes" if len(conflict) == 1 else "exclude"
    text = (
        f"{what} {are} short on {where}, but more of {them} would not help: {names} {verb} every "
        "node"
    )
    return (Notice(code="moreRoomWouldNotHelp", text=text),)


def _selectors(subject: Subject) -> Iterator[Notice]:
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


def _quantities(subject: Subject) -> Iterator[Notice]:
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
