"""`Check`: findings with their places, as a document."""

from __future__ import annotations

from collections import Counter

from planner.checks import Checked, Finding, Subject
from planner.cluster.snapshot import GONE
from planner.sources.locations import Location, Locations, ObjectName
from planner_models.check import (
    Check,
    CheckedObjects,
    CheckFinding,
    CheckFix,
    CheckProof,
    CheckSummary,
    SkippedRule,
)

COUNTED_WITH = frozenset(("autoscaler", "cronJob", "quota", "duplicate", "synthesised"))
"""Notices about what a check counts with: manifests stand for objects and pods of the cluster."""


def check_document(subject: Subject, checked: Checked, locations: Locations) -> Check:
    """The document of a check; places are looked up in the files that were checked."""
    levels = Counter(finding.severity for finding in checked.findings)
    kinds = Counter(workload.ref.kind for workload in subject.workloads)
    there = (subject.cluster.node_of != GONE) & (subject.cluster.node_of >= 0)
    return Check(
        checked=CheckedObjects(
            workloads=dict(sorted(kinds.items())),
            budgets=len(subject.budgets),
            nodes=len(subject.cluster.nodes),
            pods=int(there.sum()),
        ),
        summary=CheckSummary(
            errors=levels["error"],
            warnings=levels["warning"],
            notes=levels["note"],
            silenced=checked.silenced,
        ),
        findings=tuple(_finding(each, locations) for each in checked.findings),
        skipped=(
            *(SkippedRule(rule=rule, why=why) for rule, why in checked.skipped),
            *(SkippedRule(rule=rule, why=w, undecided=True) for rule, w in checked.undecided),
        ),
        notices=tuple(n for n in subject.cluster.notices if n.code not in COUNTED_WITH),
    )


def _finding(finding: Finding, locations: Locations) -> CheckFinding:
    place = _place(finding, locations)
    proof = finding.proof
    return CheckFinding(
        rule=finding.rule,
        severity=finding.severity,
        objects=tuple(map(_name, finding.objects)),
        field=finding.field,
        file="" if place is None else place.file,
        line=None if place is None else place.line,
        title=finding.title,
        text=finding.text,
        table=finding.table,
        facts=dict(finding.facts),
        proof=CheckProof(
            kind=proof.kind,
            seeds=proof.seeds,
            seen=proof.seen,
            reached=proof.reached,
            states=proof.states,
        ),
        fixes=tuple(
            CheckFix(text=each.text, then=each.then, restarts=each.restarts, helps=each.helps)
            for each in finding.fixes
        ),
        fingerprint=finding.fingerprint,
    )


def _place(finding: Finding, locations: Locations) -> Location | None:
    """Where the field stands in the first of the objects that is in a file."""
    return locations.find([(each, finding.field) for each in finding.objects])


def _name(each: ObjectName) -> str:
    key = "/".join(part for part in (each.namespace, each.name) if part)
    return f"{each.kind} {key}".rstrip()
