"""Documents as checks: one per pod, workload, constraint or placement, whatever is judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from planner.cluster.owners import SHORT
from planner.report.ci.findings import Check, Finding, Level, Spot, pod_spot
from planner.report.ci.rules import RuleId
from planner.report.tables import (
    capacity_table,
    check_table,
    drain_table,
    evict_table,
    explain_table,
    fleet_table,
    plan_proof,
    scale_up_table,
    whatif_table,
)
from planner.report.text.blocks import Paragraph, plain_text
from planner.report.text.left_alone import left_alone_blocks
from planner.report.text.wording import short_name
from planner.sources.locations import ObjectName
from planner.words import count_of, short_key
from planner_models.base import Document
from planner_models.capacity import Capacity
from planner_models.check import Check as CheckDocument
from planner_models.check import CheckFinding
from planner_models.diagnosis import ConflictFact, Diagnosis, Verdict
from planner_models.drain import BlockedPod, DrainPlan
from planner_models.evictions import EvictionPlan
from planner_models.fleet_decision import FleetDecision, FleetDecisionList, FleetVerdict
from planner_models.inspection import Inspection, SpreadViolation
from planner_models.node_plan import NodePlan
from planner_models.plan import Plan, PlanViolation, ProtectedPod
from planner_models.simulation import SimulatedPod, Simulation
from planner_models.whatif import WhatIf

_VERDICTS: Mapping[Verdict, tuple[RuleId, Level]] = {
    "impossible": ("pod-impossible", "error"),
    "stuck": ("pod-stuck", "error"),
    "undecided": ("pod-undecided", "warning"),
}
_FLEET: Mapping[FleetVerdict, tuple[RuleId, Level]] = {
    "deadlock": ("fleet-deadlock", "error"),
    "impossible": ("fleet-impossible", "error"),
    "undecided": ("fleet-undecided", "warning"),
}

_WORKLOAD = re.compile(r"(?P<kind>[A-Z]\w*) (?P<namespace>[^/\s]+)/(?P<name>\S+)")
"""`Deployment default/web`."""


# explain


def _explained(document: Diagnosis) -> Check:
    """A workload, or several that are judged together."""
    namespace = document.targets[0].partition("/")[0] if document.targets else ""
    name = " and ".join(dict.fromkeys(document.workloads))
    if document.verdict == "gated":
        return Check(namespace, name, skipped=document.headline)
    if document.verdict not in _VERDICTS:
        return Check(namespace, name)
    rule, level = _VERDICTS[document.verdict]
    title = f"{document.verdict}: {document.headline}"
    text = plain_text(explain_table.blocks(document, wide=False))
    return Check(namespace, name, (Finding(rule, level, title, text, _conflict_spots(document)),))


def _conflict_spots(document: Diagnosis) -> tuple[Spot, ...]:
    """The fields of the first conflict, rules before numbers of pods; else the pod itself."""
    facts = document.conflicts[0].constraints if document.conflicts else ()
    ordered = sorted(facts, key=lambda fact: fact.kind == "replicas")
    found = [spot for fact in ordered if (spot := _fact_spot(document, fact)) is not None]
    namespace, _, pod = document.targets[0].partition("/")
    return tuple(dict.fromkeys(found)) or (pod_spot(namespace, document.workloads[0], pod),)


def _fact_spot(document: Diagnosis, fact: ConflictFact) -> Spot | None:
    """A waiting pod's rule stands in its template; what nodes lack stands in no manifest."""
    if fact.object in document.targets:
        namespace, _, pod = fact.object.partition("/")
        return pod_spot(namespace, document.workloads[0], pod, fact.field)
    workload = _WORKLOAD.fullmatch(fact.object)
    if workload is None:
        return None
    name = ObjectName(workload["kind"], workload["namespace"], workload["name"])
    if fact.kind == "replicas":
        return Spot(name, fact.field)
    short = f"{SHORT.get(name.kind, name.kind)}/{name.name}"
    return pod_spot(name.namespace, short, "", fact.field)


# whatif


def _what_if(document: WhatIf) -> Iterator[Check]:
    """Every workload, in the manner that is worst for it; then every single failure."""
    down: dict[str, int] = {}
    for each in (each for manner in document.manners for each in manner.workloads):
        down[each.workload] = max(each.missing, down.get(each.workload, 0))
    told = plain_text(whatif_table.blocks(document, wide=False))
    for name, missing in down.items():
        namespace, _, workload = name.partition("/")
        title = f"{count_of(missing, 'pod')} of {workload} would not run: "
        title += whatif_table.headline(document)
        found = Finding("whatif-worse", "error", title, told, (pod_spot(namespace, workload, ""),))
        yield Check(namespace, workload, (found,) if missing else ())
    for single in document.singles:
        missing = max(single.waiting.values())
        title = f"{count_of(missing, 'pod')} would not run without {single.kind} {single.domain}"
        found = Finding("whatif-worse", "error", title, title, ())
        yield Check(single.kind, single.domain, (found,) if missing else ())


# simulate


def _simulated(pod: SimulatedPod) -> Check:
    namespace, _, name = pod.pod.partition("/")
    said = pod.event_message or pod.message or ""
    if pod.outcome == "gated":
        return Check(namespace, name, skipped=said)
    if pod.outcome == "scheduled":
        return Check(namespace, name)
    workload = pod.workload.partition("/")[2]
    title = f"kube-scheduler finds no node for {name} of {workload}"
    spot = pod_spot(namespace, workload, name)
    return Check(namespace, name, (Finding("pod-unschedulable", "error", title, said, (spot,)),))


# solve


def _planned(document: Plan) -> Iterator[Check]:
    """Every workload, then the proof."""
    found: dict[tuple[str, str], list[Finding]] = {
        (each.namespace, each.workload): [] for each in document.workloads
    }
    for pod in document.unplaced:
        namespace, _, name = pod.pod.partition("/")
        title = f"{name} of {pod.workload} can't be placed"
        spot = pod_spot(namespace, pod.workload, name)
        finding = Finding("pod-unplaced", "error", title, pod.diagnosis, (spot,))
        found.setdefault((namespace, pod.workload), []).append(finding)
    for violation in document.broken or document.violations:
        key = (_namespace(violation), violation.workload)
        found.setdefault(key, []).append(_broken(violation, document.protected))
    for (namespace, workload), findings in found.items():
        yield Check(namespace, workload, tuple(findings))
    yield Check("plan", "is proven", tuple(_unproven(document)))


def _unproven(document: Plan) -> Iterator[Finding]:
    if document.status == "optimal":
        return
    level: Level = "error" if document.status == "infeasible" else "warning"
    text = plan_proof.proof(document).text
    yield Finding("plan-not-proven", level, f"The plan is {document.status}", text, ())


def _namespace(violation: PlanViolation) -> str:
    return violation.pods[0].partition("/")[0] if violation.pods else "default"


def _broken(violation: PlanViolation, protected: Sequence[ProtectedPod]) -> Finding:
    domain = f" in {violation.domain}" if violation.domain else ""
    title = f"{violation.constraint} is broken{domain}"
    counts = f"{count_of(violation.count, 'pod')}, allowed {violation.allowed}"
    if violation.minimum is not None:
        counts += f" (minimum {violation.minimum})"
    remedy = f" {violation.remedy} would make it legal." if violation.remedy else ""
    pod = violation.pods[0].partition("/")[2] if violation.pods else ""
    spot = pod_spot(_namespace(violation), violation.workload, pod, violation.field)
    mine = frozenset(violation.pods)
    stay = left_alone_blocks(
        [each for each in protected if each.pod in mine], (), waiting=0, wide=False
    )
    told = (f"{title}: {counts}.{remedy}", *(b.text for b in stay if isinstance(b, Paragraph)))
    return Finding("rule-broken", "error", title, " ".join(told), (spot,))


# evict


def _evicted(document: EvictionPlan) -> Iterator[Check]:
    """Every rule that is broken before or after, then whether ties matter."""
    left: dict[tuple[str, str], list[Finding]] = {}
    for violation in (*document.before.violations, *document.after.violations):
        left.setdefault((_namespace(violation), violation.constraint), [])
    for violation in document.after.violations:
        finding = _broken(violation, document.protected)
        left[_namespace(violation), violation.constraint].append(finding)
    for (namespace, constraint), findings in left.items():
        yield Check(namespace, constraint, tuple(findings))
    yield Check("evictions", "converge", tuple(_diverging(document)))


def _diverging(document: EvictionPlan) -> Iterator[Finding]:
    if not document.converges:
        text = plain_text(evict_table.blocks(document, wide=False))
        title = "The evictions don't converge under every tie"
        yield Finding("evictions-not-converging", "warning", title, text, ())


# check


def _checked(document: CheckDocument) -> Iterator[Check]:
    """One for each finding; without any, all rules passed."""
    for finding in document.findings:
        spot = _named_spot(finding)
        text = plain_text(list(check_table.finding_blocks(finding)))
        found = Finding(
            finding.rule,
            finding.severity,
            finding.title,
            text,
            () if spot is None else (spot,),
            fails=finding.severity == "error",
        )
        yield Check(finding.rule, finding.objects[0], (found,))
    if not document.findings:
        yield Check("check", "all rules")


def _named_spot(finding: CheckFinding) -> Spot | None:
    workload = _WORKLOAD.fullmatch(finding.objects[0])
    if workload is None:
        return None
    name = ObjectName(workload["kind"], workload["namespace"], workload["name"])
    return Spot(name, finding.field)


# capacity


def _fitting(document: Capacity) -> Iterator[Check]:
    """Every workload; one of which no more pod fits is worth a warning."""
    for line in document.lines:
        name = capacity_table.subject(line)
        found: tuple[Finding, ...] = ()
        if not line.now.count:
            title = f"no more pod of {name} fits"
            text = plain_text(capacity_table.blocks(document, wide=False))
            found = (Finding("no-room", "warning", title, text, ()),)
        yield Check("capacity", name, found)


# scale-up


def _scaled_up(document: NodePlan) -> Iterator[Check]:
    """Every pod that no pool takes, and whether the rest gets nodes."""
    for each in document.never:
        namespace, _, name = each.pod.partition("/")
        title = f"no pool's node takes {each.pod}"
        spots = (pod_spot(namespace, each.workload, name),)
        found = Finding("pod-unschedulable", "error", title, f"{title}: {each.reason}", spots)
        yield Check("scale-up", each.pod, (found,))
    title = scale_up_table.headline(document)
    text = plain_text(scale_up_table.blocks(document, wide=False))
    short: tuple[Finding, ...] = ()
    if document.status in ("impossible", "undecided"):
        short = (Finding("no-room", "warning", title, text, ()),)
    elif document.status == "feasible":
        short = (Finding("plan-not-proven", "warning", title, text, ()),)
    yield Check("scale-up", "nodes", short)


# drain


def _drained(document: DrainPlan) -> Iterator[Check]:
    """Every node, then whether ties matter."""
    for node in document.nodes:
        yield Check(
            "drain", node, tuple(_kept(pod) for pod in document.blocked if pod.node == node)
        )
    if document.status == "possible" and not document.converges:
        text = plain_text(drain_table.blocks(document, wide=False))
        title = "The drain does not end well under every tie"
        finding = Finding("evictions-not-converging", "warning", title, text, ())
        yield Check("drain", "converges", (finding,))


def _kept(pod: BlockedPod) -> Finding:
    namespace, _, name = pod.pod.partition("/")
    title = f"{name} can't leave {pod.node}"
    spot = pod_spot(namespace, pod.workload, name, pod.field if pod.conflict is not None else "")
    level: Level = "error" if pod.proven else "warning"
    return Finding("pod-blocks-drain", level, title, f"{title}: {pod.text}", (spot,))


# inspect


def _inspected(document: Inspection) -> Iterator[Check]:
    """Every workload; its own hard spread constraints are what it is judged by."""
    found: dict[tuple[str, str], list[Finding]] = {
        (each.namespace, short_name(each)): [] for each in document.workloads
    }
    for violation in document.spread.violations:
        for workload in violation.workloads:
            key = (workload.namespace, short_name(workload))
            found.setdefault(key, []).append(_unsteady(violation, *key))
    for (namespace, name), findings in found.items():
        yield Check(namespace, name, tuple(findings))


def _unsteady(violation: SpreadViolation, namespace: str, workload: str) -> Finding:
    key = short_key(violation.topology_key)
    counts = ", ".join(f"{domain.domain} {domain.count}" for domain in violation.domains)
    title = f"{workload} is not steady over {key}: {violation.excess} over the limit"
    limit = violation.minimum + violation.max_skew
    text = f"{title}. Matching pods: {counts}; at most {limit} (maxSkew {violation.max_skew})."
    spot = pod_spot(namespace, workload, "", violation.field)
    return Finding("rule-broken", "warning", title, text, (spot,), fails=False)


# fleet


def _decided(document: FleetDecision) -> Iterator[Check]:
    """The number of clusters, then every constraint."""
    namespace, _, name = document.placement.rpartition("/")
    object_name = ObjectName(document.placement_kind, namespace, name)
    group = f"{document.placement_kind}/{document.placement}"
    text = plain_text(fleet_table.blocks(document, wide=False))
    findings: list[Finding] = []
    if document.verdict in _FLEET:
        rule, level = _FLEET[document.verdict]
        fields = fleet_table.fields(document)
        spots = tuple(Spot(object_name, field) for field in fields)
        findings.append(Finding(rule, level, document.headline, text, spots))
    yield Check(group, "clusters", tuple(findings))
    for constraint in document.constraints:
        broken = not constraint.holds and constraint.when_unsatisfiable == "DoNotSchedule"
        title = f"the skew over {constraint.topology_key} is {constraint.skew}"
        title += f" (maxSkew {constraint.max_skew})"
        counts = ", ".join(f"{each.domain} {each.picked}" for each in constraint.domains)
        told = f"{title}. Picked clusters: {counts}."
        spot = Spot(object_name, constraint.field)
        finding = Finding("fleet-constraint-broken", "error", title, told, (spot,))
        name = f"{short_key(constraint.topology_key)} spread"
        yield Check(group, name, (finding,) if broken else ())


_CHECKS: Mapping[type[Document], Callable[[Any], Iterable[Check]]] = {
    Diagnosis: lambda document: map(_explained, document.parts or (document,)),
    Simulation: lambda document: map(_simulated, document.pods),
    Plan: _planned,
    EvictionPlan: _evicted,
    CheckDocument: _checked,
    Capacity: _fitting,
    NodePlan: _scaled_up,
    DrainPlan: _drained,
    WhatIf: _what_if,
    Inspection: _inspected,
    FleetDecision: _decided,
    FleetDecisionList: lambda document: chain.from_iterable(map(_decided, document.items)),
}


def checks_of(document: Document) -> tuple[Check, ...]:
    """Everything that the document judges, in its order."""
    return tuple(_CHECKS[type(document)](document))
