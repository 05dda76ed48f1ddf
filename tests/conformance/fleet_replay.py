"""Replaying how KubeFleet schedules a placement: refusals, scores and picks, cycle by cycle.

What is compared is what planner tells users: its document where that has the field, otherwise what
the document is made from. The optimum, which Fleet does not know, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from planner.documents.fleet import placements, setting_of
from planner.documents.fleet_decision import fleet_decision
from planner.fleet.decision import Decision
from planner.fleet.filters import ALWAYS_UNHEALTHY, NEVER_HEARD
from planner.fleet.optimum import measure
from planner.fleet.rounds import Round
from planner.fleet.schedule import schedule
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from planner_models.fleet_decision import FleetDecision
from planner_models.meta import parse_time
from tests.conformance.case import FleetCase, FleetCycle, as_list
from tests.conformance.report import Comparison

ALREADY_PICKED = (
    "SamePlacementAntiAffinity",
    "resource placement has already been scheduled or bounded on the cluster",
)
NEVER = {
    "no recent heartbeat signals (last received 153722867.28 minutes ago)": NEVER_HEARD,
    "prolonged period of time (last transitioned 153722867.28 minutes ago)": ALWAYS_UNHEALTHY,
}
"""A time that is missing is the year 1 for Go, from which it counts as far as it can."""

Refused = dict[str, tuple[str, str]]
"""Cluster to plugin and reason."""


def replay_fleet(case: FleetCase) -> Comparison:
    """Load, schedule and compare; what is refused or fails has nothing else to compare."""
    result = Comparison("fleet", cases=1, noun="clusters")
    document = RawDocument(file=case.id, data=as_list(case.objects), line=1)
    try:
        inventory = load_documents([document])
    except SourceError as error:
        _check(case, result, "invalid", str(error), case.fleet.invalid)
        return result
    result.pods = len(inventory.member_clusters)
    _check(case, result, "invalid", None, case.fleet.invalid)
    if case.fleet.invalid is None:
        _compare(case, inventory, result)
    return result


def _check(case: FleetCase, result: Comparison, aspect: str, got: str | None, want: Any) -> None:
    """Whether something is refused on both sides; the words are each one's own."""
    agreed = (got is None) == (want is None)
    result.check(case.id, "placement", aspect, want if agreed else got, want)


def _compare(case: FleetCase, inventory: Inventory, result: Comparison) -> None:
    (placement,) = placements(inventory)
    try:
        setting = setting_of(inventory, placement, parse_time(case.now))
        picks = schedule(setting)
    except SourceError as error:
        _check(case, result, "error", str(error), case.fleet.error)
        return
    _check(case, result, "error", None, case.fleet.error)
    if case.fleet.error is not None:
        return
    decision = Decision(setting, picks, measure(setting, picks.picked), "fulfilled")
    document = fleet_decision(decision)
    want = case.fleet

    def check(aspect: str, got: Any, recorded: Any) -> None:
        result.check(case.id, placement.name, aspect, got, recorded)

    check("snapshot", document.policy_snapshot, want.snapshot)
    check("picked", sorted(document.picked), recorded_picks(case))
    lost = {name for cycle in want.cycles for name in cycle.given_up} - set(document.picked)
    check("given up", [each.cluster for each in document.dropped], sorted(lost))
    check("condition", _condition(document), want.condition and _told(want.condition))
    if setting.policy.placement_type == "PickFixed":
        # Here alone the decisions say what no cycle says: which of the named are missing, and why.
        check("decisions", sorted(document.filtered.items()), recorded_refusals(case))
        return
    rounds = picks.rounds or (Round(1, setting, tuple(sorted(setting.current)), frozenset(), ()),)
    if _nothing_to_do(want.cycles) and not picks.rounds:
        return
    check("cycles", len(rounds), len(want.cycles))
    check("refused", [_refused(each) for each in rounds], list(map(_recorded, want.cycles)))
    if picks.rounds:
        check("cluster scores", [_scores(each) for each in rounds], _recorded_scores(want.cycles))
        foreign = {binding.cluster for binding in _foreign(case)}
        check(
            "picks",
            [sorted(set(setting.names(each.picked)) - foreign) for each in rounds],
            [list(each.picked) for each in want.cycles],
        )


def _nothing_to_do(cycles: Sequence[FleetCycle]) -> bool:
    """Enough is picked: Fleet does not even ask its plugins."""
    return not any(cycle.refused or cycle.scores for cycle in cycles)


def recorded_picks(case: FleetCase) -> list[str]:
    """The clusters with a current binding in the end."""
    foreign = {binding.name for binding in _foreign(case)}
    return sorted(
        {
            binding.cluster
            for binding in case.fleet.bindings
            if binding.state != "Unscheduled"
            and not binding.deleting
            and binding.snapshot == case.fleet.snapshot
            and binding.name not in foreign
        }
    )


def recorded_refusals(case: FleetCase) -> list[tuple[str, tuple[str, ...]]]:
    """Named clusters that are not picked."""
    return sorted(
        (each.cluster_name, (_by_meaning(each.reason),))
        for each in case.fleet.decisions
        if not each.selected
    )


class _Metadata(msgspec.Struct, frozen=True):
    name: str
    labels: dict[str, str] = {}


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    target_cluster: str = ""


class _Object(msgspec.Struct, frozen=True):
    kind: str
    metadata: _Metadata
    spec: _Spec


class _Foreign(msgspec.Struct, frozen=True):
    name: str
    cluster: str


def _foreign(case: FleetCase) -> list[_Foreign]:
    """Bindings that lack the label by which Fleet finds them: recorded, but of no placement."""
    objects = [msgspec.json.decode(text, type=_Object) for text in case.objects]
    return [
        _Foreign(each.metadata.name, each.spec.target_cluster)
        for each in objects
        if each.kind.endswith("Binding")
        and "kubernetes-fleet.io/parent-CRP" not in each.metadata.labels
    ]


def _condition(document: FleetDecision) -> tuple[str, ...] | None:
    found = document.condition
    return None if found is None else (found.type, found.status, found.reason, found.message)


def _told(condition: Any) -> tuple[str, ...]:
    return tuple(condition[name] for name in ("type", "status", "reason", "message"))


def _refused(cycle: Round) -> Refused:
    """The first filter that refuses each cluster, in Fleet's order."""
    setting = cycle.setting
    found: Refused = {
        setting.clusters[place].name: (refusals[0].plugin, refusals[0].reason)
        for place, refusals in enumerate(setting.refusals)
        if refusals
    }
    for name in setting.names(cycle.before):
        found.setdefault(name, ALREADY_PICKED)
    for candidate in cycle.candidates:
        if candidate.refused_by is not None:
            name = setting.clusters[candidate.cluster].name
            found[name] = ("TopologySpreadConstraints", candidate.refused_by.violation)
    return dict(sorted(found.items()))


def _recorded(cycle: FleetCycle) -> Refused:
    return {
        name: (each.plugin, _by_meaning("; ".join(each.reasons)))
        for name, each in sorted(cycle.refused.items())
    }


def _by_meaning(reason: str) -> str:
    for text, ours in NEVER.items():
        if reason.endswith(text):
            start = reason.index("cluster is not connected")
            return reason[:start] + ours
    return reason


def _scores(cycle: Round) -> dict[str, tuple[int, ...]]:
    return {
        cycle.setting.clusters[each.cluster].name: tuple(each.score)
        for each in sorted(cycle.candidates)
        if each.refused_by is None
    }


def _recorded_scores(cycles: Sequence[FleetCycle]) -> list[dict[str, tuple[int, ...]]]:
    return [
        {
            name: (each.spread, each.affinity, each.obsolete)
            for name, each in sorted(cycle.scores.items())
        }
        for cycle in cycles
    ]
