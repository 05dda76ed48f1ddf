"""Asks every rule, tries what the findings propose, and leaves out what is silenced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from planner.checks.finding import Finding, Fix, Idea
from planner.checks.registry import RULES
from planner.checks.rule import Rule
from planner.checks.subject import Subject
from planner.sources.locations import ObjectName
from planner.words import conjoined
from planner_models.check import Severity

_WEIGHT: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Checked:
    """The findings, worst first; `silenced` counts those that somebody asked not to see."""

    findings: tuple[Finding, ...]
    silenced: int
    skipped: tuple[tuple[str, str], ...]
    """Rules that were not asked, with the reason."""
    undecided: tuple[tuple[str, str], ...] = ()
    """Rules that could not find something out within their limits, and what."""


def check(subject: Subject, accepted: frozenset[str] = frozenset()) -> Checked:
    """Ask all rules; `accepted` are fingerprints of findings that are known."""
    found: list[Finding] = []
    silenced = 0
    skipped: list[tuple[str, str]] = []
    proven: set[tuple[str, ObjectName]] = set()
    for rule in _asked(subject):
        if rule.needs_nodes and not subject.has_nodes:
            skipped.append((rule.id, "without nodes to try it on"))
            continue
        known = frozenset(each for other, each in proven if other in rule.unless)
        every = list(rule.find(subject.without(known)))
        before = frozenset(each.fingerprint for each in every)
        for finding in every:
            if finding.objects[0] in known:
                continue
            if finding.severity == "error":
                proven |= {(rule.id, each) for each in finding.objects}
            if finding.fingerprint in accepted or _silent(subject, finding):
                silenced += 1
            else:
                found.append(_tried(subject, rule, finding, before))
    found.sort(key=lambda each: _WEIGHT[each.severity])
    return Checked(tuple(found), silenced, tuple(skipped), tuple(subject.undecided.items()))


def _asked(subject: Subject) -> Iterator[Rule]:
    options = subject.options
    for rule in RULES:
        if rule.id not in options.skip and (not options.only or rule.id in options.only):
            yield rule


def _silent(subject: Subject, finding: Finding) -> bool:
    """Whether all of its objects that can say so ask for silence."""
    told = {each.object: each.silent for each in subject.workloads}
    mine = [told[each] for each in finding.objects if each in told]
    return bool(mine) and all(finding.rule in each for each in mine)


def _tried(subject: Subject, rule: Rule, finding: Finding, before: frozenset[str]) -> Finding:
    """Each idea is applied to a copy of the input; those after which the finding is gone stay.

    Gone means that nothing has come in its place either: about some of the objects, or by another
    field of them. `before` are the fingerprints of all that the rule has found.
    """
    fixes = list(finding.fixes)
    about = frozenset(finding.objects)
    for idea in finding.ideas:
        if idea.if_nothing_else and any(each.helps for each in fixes):
            continue
        changed = subject.changed(idea.change).about(about)
        if _helps(rule, idea, changed, before - {finding.fingerprint}):
            then = idea.then if isinstance(idea.then, str) else idea.then(changed)
            fixes.append(Fix(idea.text, then, idea.restarts, where=idea.where))
        elif idea.naming_in_vain:
            fixes.append(Fix(idea.text, helps=False))
    return replace(finding, fixes=tuple(_united(fixes)), ideas=())


def _helps(rule: Rule, idea: Idea, changed: Subject, known: frozenset[str]) -> bool:
    if idea.works is not None:
        return idea.works(changed)
    left = {each.fingerprint for each in rule.find(changed)}
    return left <= known and rule.id not in changed.undecided


def _united(fixes: list[Fix]) -> Iterator[Fix]:
    """What does the same wherever it is done, as one fix that names all places."""
    for same, places in groupby(fixes, key=lambda each: replace(each, where="")):
        where = [each.where for each in places if each.where]
        yield replace(same, text=f"{same.text} in {conjoined(where, 'or')}") if where else same
