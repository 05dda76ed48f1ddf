"""The cycles of a decision: who was judged how, who was filtered and why."""

from __future__ import annotations

from collections.abc import Sequence

from planner.fleet.decision import Decision
from planner.fleet.filters import Refusal
from planner.fleet.rounds import Candidate, Round
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import NAME as SPREAD
from planner.fleet.topology_spread import OUTSIDE, Step, Topology
from planner_models.fleet_decision import (
    CandidateOutcome,
    FleetCandidate,
    FleetRound,
    FleetScores,
    SkewStep,
)

ROWS = 10_000
"""Candidates listed in all rounds together; above that, all of the last round and else the best."""


def round_documents(decision: Decision) -> list[FleetRound]:
    """Every round with every candidate; in big fleets with those picked, but for the last round."""
    rounds = decision.picks.rounds
    everything = sum(each.size for each in rounds) <= ROWS
    return [
        _round(decision.setting, each, whole=everything or each is rounds[-1]) for each in rounds
    ]


def _round(setting: Setting, cycle: Round, *, whole: bool) -> FleetRound:
    shown = cycle.candidates if whole else cycle.chosen
    return FleetRound(
        round=cycle.number,
        picked=setting.names(cycle.picked),
        candidates=tuple(_candidate(setting, each, cycle.picked) for each in shown),
        left_out=cycle.size - len(shown),
    )


def _candidate(setting: Setting, candidate: Candidate, picked: Sequence[int]) -> FleetCandidate:
    name = setting.clusters[candidate.cluster].name
    skews = tuple(
        _skew_step(topology, topology.domain_of[candidate.cluster], step)
        for topology, step in zip(setting.topologies, candidate.steps, strict=True)
    )
    if candidate.refused_by is not None:
        reason = candidate.refused_by.violation
        return FleetCandidate(cluster=name, outcome="refused", skews=skews, reason=reason)
    outcome: CandidateOutcome = "picked" if candidate.cluster in picked else "passed"
    score = candidate.score
    return FleetCandidate(
        cluster=name,
        outcome=outcome,
        spread=score.spread,
        affinity=score.affinity,
        previous=score.previous,
        skews=skews,
    )


def _skew_step(topology: Topology, domain: int, step: Step | None) -> SkewStep:
    if step is None or domain == OUTSIDE:
        return SkewStep(topology_key=topology.key)
    return SkewStep(
        topology_key=topology.key,
        domain=topology.domains[domain],
        before=step.before,
        after=step.after,
    )


def scores(decision: Decision) -> dict[str, FleetScores]:
    """Scores of every cluster that was judged: when picked, or else in the last round."""
    setting = decision.setting
    found: dict[int, FleetScores] = {
        cluster: FleetScores(outcome="kept", affinity=setting.affinity[cluster])
        for cluster in decision.picks.picked
        if cluster in setting.current
    }
    for cycle in decision.picks.rounds:
        for candidate in cycle.chosen:
            found[candidate.cluster] = _scores(candidate, "picked", cycle.number)
    for cycle in decision.picks.rounds[-1:]:
        for candidate in cycle.candidates:
            if candidate.cluster not in found:
                refused = candidate.refused_by is not None
                outcome: CandidateOutcome = "refused" if refused else "passed"
                found[candidate.cluster] = _scores(candidate, outcome, cycle.number)
    return {setting.clusters[cluster].name: found[cluster] for cluster in sorted(found)}


def _scores(candidate: Candidate, outcome: CandidateOutcome, number: int) -> FleetScores:
    return FleetScores(
        outcome=outcome,
        round=number,
        spread=None if outcome == "refused" else candidate.score.spread,
        affinity=candidate.score.affinity,
        previous=candidate.score.previous,
    )


def filtered(decision: Decision) -> dict[str, list[Refusal]]:
    """Every cluster that is not picked because a filter refuses it, with all refusals."""
    setting = decision.setting
    picked = set(decision.picks.picked)
    by_type = setting.policy.placement_type
    found: dict[str, list[Refusal]] = {}
    if by_type == "PickFixed":
        return {name: [Refusal("", reason)] for name, reason in decision.picks.missing}
    for cluster, refusals in enumerate(setting.refusals):
        if refusals and cluster not in picked:
            found[setting.clusters[cluster].name] = list(refusals)
    for cycle in decision.picks.rounds[-1:]:
        for candidate in cycle.candidates:
            if candidate.refused_by is not None:
                refusal = Refusal(SPREAD, candidate.refused_by.violation)
                found[setting.clusters[candidate.cluster].name] = [refusal]
    return dict(sorted(found.items()))
