"""The answer in one line: verdict, subject, cause."""

from __future__ import annotations

from planner.fleet import affinity
from planner.fleet.conflict import Conflict
from planner.fleet.decision import Decision
from planner.fleet.narrate import FILTER_WORDS
from planner.fleet.setting import Setting
from planner.fleet.words import NAMED, all_of, count_of, short_key


def headline(decision: Decision) -> str:
    """The verdict; a fulfilled placement has its clusters there instead."""
    setting = decision.setting
    number = len(decision.picks.picked)
    name = setting.placement.name
    match decision.verdict:
        case "deadlock":
            possible = decision.optimum.measures.clusters if decision.optimum else number
            return (
                f"dead-lock: Fleet stays at {number} of {count_of(setting.wanted, 'cluster')}, "
                f"though {possible} can be picked"
            )
        case "undecided":
            return (
                f"undecided: Fleet stays at {number} of {count_of(setting.wanted, 'cluster')} for "
                f"{name}; whether more can be picked is open"
            )
        case "impossible":
            return f"impossible: {_impossible(decision, name)}"
        case "fulfilled":
            return _fulfilled(decision, name)


def _impossible(decision: Decision, name: str) -> str:
    setting = decision.setting
    if decision.picks.missing:
        missing = [each for each, _ in decision.picks.missing]
        named = len(setting.policy.cluster_names)
        who = f": {', '.join(missing)}" if len(missing) <= NAMED else ""
        return f"{len(missing)} of the {named} clusters that {name} names can't be picked{who}"
    if decision.conflict is None:
        return f"no cluster passes the filters of {name}"
    if not decision.conflict.rules:
        size = count_of(len(setting.clusters), "cluster")
        return f"{name} wants {count_of(setting.wanted, 'cluster')}, and the fleet has {size}"
    most = decision.optimum.measures.clusters if decision.optimum else 0
    cause = all_of(_causes(setting, decision.conflict))
    first = decision.conflict.rules[0]
    single = first.topology is not None or first.plugin == affinity.NAME
    verb = "leaves" if single and len(decision.conflict.rules) == 1 else "leave"
    return f"{cause} {verb} {most} of the {setting.wanted} clusters that {name} wants"


def _causes(setting: Setting, conflict: Conflict) -> list[str]:
    return [
        FILTER_WORDS[rule.plugin].cause
        if rule.topology is None
        else f"{short_key(setting.topologies[rule.topology.index].key)} spread"
        for rule in conflict.rules
    ]


def _fulfilled(decision: Decision, name: str) -> str:
    setting, picks = decision.setting, decision.picks
    number = len(picks.picked)
    listed = f": {', '.join(setting.names(picks.order))}" if 0 < number <= NAMED else ""
    text = f"{name} picks {number} of {count_of(len(setting.clusters), 'cluster')}{listed}."
    if decision.optimum is None:
        return text
    if decision.measures.excess:
        return f"{text} A DoNotSchedule constraint is broken."
    if decision.differs:
        uneven = decision.optimum.measures.rank[:-1] == decision.measures.rank[:-1]
        return f"{text} There is a {'more even' if uneven else 'better'} choice."
    return f"{text} Optimal too." if decision.optimum.proven else f"{text} Nothing better found."
