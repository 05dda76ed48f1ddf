"""The rounds of PickN against a twin that counts everything anew in every cycle, as Fleet does."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from hypothesis import given, settings

from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting
from planner_models.fleet import ClusterSpreadConstraint
from tests.fleet.small_fleets import tangled_fleets


class Outcome(NamedTuple):
    rounds: list[list[str]]
    found: int


def naive_rounds(setting: Setting) -> Outcome:
    """Lists of clusters' names, one entry per binding."""
    bindings = setting.bindings
    current = [b.spec.target_cluster for b in (*bindings.bound, *bindings.scheduled)]
    obsolete = [b.spec.target_cluster for b in bindings.obsolete]
    given_up = [b.spec.target_cluster for b in bindings.unscheduled]
    rounds = []
    while True:
        desired = setting.wanted - len(current)
        limit = 1 if setting.topologies else desired
        picked = ranked(setting, current, obsolete)[:limit]
        rounds.append(picked)
        made = 0
        for name in picked:
            idle = obsolete.count(name) + given_up.count(name)
            current += [name] * max(1, idle)
            made += max(1, idle)
        given_up = [name for name in given_up + obsolete if name not in picked]
        obsolete = []
        if desired <= limit or made != limit:
            return Outcome(rounds, len(current))


def ranked(setting: Setting, current: list[str], obsolete: list[str]) -> list[str]:
    """The clusters that pass all filters, best first."""
    found = []
    for place, cluster in enumerate(setting.clusters):
        if setting.refusals[place] or cluster.name in current:
            continue
        spread, refused = 0, False
        for constraint in setting.policy.topology_spread_constraints:
            score = spread_score(setting, constraint, current, cluster.labels)
            refused = refused or (score == -1000 and constraint.hard)
            spread += score
        if not refused:
            found.append((spread, setting.affinity[place], cluster.name in obsolete, cluster.name))
    return [name for *_, name in sorted(found, reverse=True)]


def spread_score(
    setting: Setting,
    constraint: ClusterSpreadConstraint,
    current: list[str],
    labels: dict[str, str],
) -> int:
    """Minus the change of the skew, or -1000 beyond maxSkew; 0 without the label."""
    counts: Counter[str] = Counter()
    for cluster in setting.clusters:
        value = cluster.labels.get(constraint.topology_key)
        if value is not None:
            counts[value] += cluster.name in current
    domain = labels.get(constraint.topology_key)
    if domain is None:
        return 0
    smallest, *others = sorted(counts.values())
    largest, count = max(counts.values()), counts[domain]
    change = 0
    if largest == smallest:
        change = 1
    elif count == smallest and smallest != others[0]:
        change = -1
    elif count == largest:
        change = 1
    return -1000 if largest - smallest + change > constraint.max_skew else -change


@settings(max_examples=400, deadline=None)
@given(tangled_fleets())
def test_the_rounds_are_those_of_the_naive_twin(setting: Setting) -> None:
    picks = schedule(setting)
    if len(setting.bindings.bound) + len(setting.bindings.scheduled) >= setting.wanted:
        assert picks.rounds == ()
        return
    rounds = [list(setting.names(each.picked)) for each in picks.rounds]
    assert Outcome(rounds, picks.found) == naive_rounds(setting)
