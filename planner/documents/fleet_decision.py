"""A decision as a `FleetDecision`."""

from __future__ import annotations

from collections.abc import Iterable

from planner.documents.fleet_rounds import filtered, round_documents, scores
from planner.fleet import affinity, narrate
from planner.fleet.decision import Decision
from planner.fleet.filters import Refusal
from planner.fleet.headline import headline
from planner.fleet.repairs import Trial, stays_when_undone
from planner.fleet.schedule import DropReason
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import Topology, least_skew_alone, room, skew
from planner.fleet.words import NAMED, all_of, count_of, placement_object, spread_texts
from planner_models.fleet import ResourcePlacement
from planner_models.fleet_decision import (
    DroppedCluster,
    FleetChange,
    FleetCondition,
    FleetConflict,
    FleetConstraint,
    FleetDecision,
    FleetDomain,
    FleetObjective,
    FleetRepair,
    OptimalPicks,
)
from planner_models.notice import Notice

DROP_TEXTS: dict[DropReason, str] = {
    "left": "the cluster has left the fleet",
    "leaving": "the cluster is leaving the fleet",
    "scaledDown": "fewer clusters are wanted",
    "newPolicy": "the policy has changed, and the cluster is not picked again",
}
FULFILLED = "found all cluster needed as specified by the scheduling policy, found {} cluster(s)"
UNFULFILLED = (
    "could not find all clusters needed as specified by the scheduling policy, "
    "found {} cluster(s) instead"
)
LEVELS = {"soft_excess": "softExcess"}


def fleet_decision(decision: Decision, notices: Iterable[Notice] = ()) -> FleetDecision:
    """The document of one placement."""
    setting, picks = decision.setting, decision.picks
    order = setting.names(picks.order)
    kept = [name for name in order if name in setting.bindings.existing]
    reasons = filtered(decision)
    last = picks.rounds[-1] if picks.rounds else None
    accepted = narrate.kube_scheduler_would_accept(setting, last) if last else ()
    tried = None if decision.reach is None or decision.other_order else decision.reach.complete
    return FleetDecision.model_validate(
        {
            "placement": placement_name(setting),
            "placementKind": type(setting.placement).__name__,
            "placementType": setting.policy.placement_type,
            "policySnapshot": setting.bindings.snapshot,
            "verdict": decision.verdict,
            "wanted": _wanted(setting),
            "clusters": len(setting.clusters),
            "picked": order,
            "kept": kept,
            "added": [name for name in order if name not in kept],
            "dropped": _dropped(decision),
            "scores": scores(decision),
            "filtered": {name: [each.reason for each in found] for name, found in reasons.items()},
            "failingPlugins": {
                name: list(dict.fromkeys(each.plugin for each in found if each.plugin))
                for name, found in reasons.items()
            },
            "lacking": _lacking(setting, reasons),
            "rounds": round_documents(decision),
            "constraints": [_constraint(decision, each) for each in setting.topologies],
            "optimal": _optimal(decision),
            "differs": decision.differs,
            "deadlock": decision.verdict == "deadlock",
            "everyOrderTried": tried,
            "otherOrder": setting.names(decision.other_order),
            "kubeSchedulerAccepts": setting.names(accepted),
            "headline": headline(decision),
            "narrative": tuple(_narrative(decision)),
            "conflicts": _conflicts(decision),
            "repairs": [_repair(trial, decision) for trial in decision.repairs],
            "condition": _condition(decision),
            "notices": tuple(notices),
        }
    )


def placement_name(setting: Setting) -> str:
    """`crp`, or `namespace/name` of a ResourcePlacement."""
    placement = setting.placement
    return placement.key if isinstance(placement, ResourcePlacement) else placement.name


def _lacking(setting: Setting, reasons: dict[str, list[Refusal]]) -> dict[str, tuple[str, ...]]:
    return {
        name: affinity.lacking(setting.clusters[setting.index_of[name]], setting.policy)
        for name, found in reasons.items()
        if any(each.plugin == affinity.NAME for each in found)
    }


def _wanted(setting: Setting) -> int | None:
    match setting.policy.placement_type:
        case "PickN":
            return setting.wanted
        case "PickFixed":
            return len(setting.policy.cluster_names)
        case "PickAll":
            return None


def _dropped(decision: Decision) -> list[DroppedCluster]:
    return [
        DroppedCluster(cluster=each.name, reason=each.reason, text=DROP_TEXTS[each.reason])
        for each in decision.picks.dropped
    ]


def _constraint(decision: Decision, topology: Topology) -> FleetConstraint:
    setting = decision.setting
    counts = topology.counts(decision.picks.picked)
    before = topology.counts(setting.current)
    best = None if decision.optimum is None else topology.counts(decision.optimum.picked)
    sizes = topology.counts(range(len(setting.clusters)))
    pickable, _ = room(topology, setting.candidates)
    constraint = topology.constraint
    inside = sum(sizes)
    return FleetConstraint(
        field=topology.field,
        topology_key=topology.key,
        max_skew=constraint.max_skew,
        when_unsatisfiable=constraint.when_unsatisfiable,
        domains=tuple(
            FleetDomain(
                domain=domain,
                clusters=sizes[place],
                pickable=pickable[place],
                before=before[place],
                picked=counts[place],
                optimal=None if best is None else best[place],
            )
            for place, domain in enumerate(topology.domains)
        ),
        outside=len(setting.clusters) - inside,
        skew_before=skew(before),
        skew=skew(counts),
        optimal_skew=None if best is None else skew(best),
        least_skew=least_skew_alone(topology, setting.candidates, len(decision.picks.picked)),
        holds=skew(counts) <= constraint.max_skew,
    )


def _optimal(decision: Decision) -> OptimalPicks | None:
    optimum, setting = decision.optimum, decision.setting
    if optimum is None:
        return None
    names = setting.names(optimum.picked)
    existing = setting.bindings.existing
    bounds = {level.name: level.bound for level in optimum.levels}
    best, fleet = optimum.measures._asdict(), decision.measures._asdict()
    objectives = [
        FleetObjective.model_validate(
            {
                "name": LEVELS.get(name, name),
                "fleet": fleet[name],
                "value": value,
                "bound": bounds.get(name, value),
            }
        )
        for name, value in best.items()
    ]
    return OptimalPicks(
        status="optimal" if optimum.proven else "feasible",
        picked=names,
        added=tuple(name for name in names if name not in existing),
        dropped=tuple(sorted(existing - set(names))),
        objectives=tuple(objectives),
    )


def _narrative(decision: Decision) -> Iterable[str]:
    """Why Fleet falls short; nothing is said where it does not."""
    setting = decision.setting
    if decision.verdict == "deadlock" and decision.optimum:
        yield from narrate.deadlock(
            setting, decision.picks, decision.optimum.picked, decision.other_order
        )
        lost = sorted(setting.bindings.existing - set(setting.names(decision.optimum.picked)))
        if lost:
            yield f"That choice gives up {all_of(lost)}, which Fleet never does by itself."
    if decision.conflict is not None and decision.optimum is not None:
        yield from (fact.text for fact in narrate.facts(setting, decision.conflict))
        most = decision.optimum.measures.clusters
        yield f"So at most {most} of the {setting.wanted} can be picked, in whatever order."
    if decision.verdict == "fulfilled" and decision.measures.excess:
        yield from narrate.broken(setting, decision.picks)
    yield from (f"{reason}." for _, reason in decision.picks.missing[:NAMED])
    if setting.policy.placement_type == "PickAll" and not decision.picks.picked:
        yield "Fleet itself calls this fulfilled: it has picked all clusters that pass, none."


def _conflicts(decision: Decision) -> list[FleetConflict]:
    if decision.conflict is None:
        return []
    facts = narrate.facts(decision.setting, decision.conflict)
    return [FleetConflict(facts=facts, minimal=decision.conflict.minimal)]


def _repair(trial: Trial, decision: Decision) -> FleetRepair:
    proposal, values = trial.proposal, trial.proposal.values
    undoable = None
    if proposal.kind in ("raiseMaxSkew", "scheduleAnyway") and decision.conflict is None:
        undoable = stays_when_undone(trial)
    return FleetRepair(
        kind=proposal.kind,
        object=proposal.object or placement_object(trial.before),
        field=proposal.fields[0] if len(proposal.fields) == 1 else None,
        fields=proposal.fields,
        change=None if values is None else FleetChange(from_=values[0], to=values[1]),
        command=proposal.command,
        picks=trial.order,
        drops=trial.drops,
        undoable=undoable,
        effect=_effect(trial, undoable=bool(undoable)),
        verified=True,
        text=proposal.text,
    )


def _effect(trial: Trial, *, undoable: bool) -> str:
    proposal = trial.proposal
    counts = spread_texts(proposal.after.topologies, trial.picks.picked)
    parts = [f"the {count_of(len(trial.picks.picked), 'picked cluster')} stay"]
    if trial.order:
        number = count_of(len(trial.order), "cluster")
        order = ", ".join(trial.order) if len(trial.order) <= NAMED else number
        parts = [f"picks {order}" + (f": {counts}" if counts else "")]
    if trial.drops:
        parts.append(f"{all_of(trial.drops)} lost")
    if undoable:
        parts.append(f"then back to {proposal.values[0]}" if proposal.values else "then back")
    return "; ".join(parts)


def _condition(decision: Decision) -> FleetCondition | None:
    """What Fleet writes into the policy's status; nothing where it finds no cluster named."""
    setting, picks = decision.setting, decision.picks
    short = picks.found < (_wanted(setting) or 0)
    if setting.policy.placement_type == "PickFixed":
        if not setting.policy.cluster_names:
            return None
        short = bool(picks.missing)
    return FleetCondition(
        status="False" if short else "True",
        reason=f"SchedulingPolicy{'Unfulfilled' if short else 'Fulfilled'}",
        message=(UNFULFILLED if short else FULFILLED).format(picks.found),
    )
