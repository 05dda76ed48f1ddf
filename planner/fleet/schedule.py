"""What Fleet's own scheduler arrives at.

PickAll takes every cluster that passes the filters, PickFixed the named ones that are eligible,
PickN the best by rank. Clusters with a current binding stay picked, whatever the filters say now;
if there are more bindings than wanted, scheduled ones go first, then bound ones, each by the scores
they had when they were picked, of equals the smallest name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from planner.fleet import affinity, filters
from planner.fleet.binding_count import (
    BindingCount,
    require_binding_name,
    require_previous_state,
)
from planner.fleet.rounds import Round, pick_rounds
from planner.fleet.setting import Setting
from planner_models.fleet_binding import Binding

DropReason = Literal["left", "leaving", "scaledDown", "newPolicy"]

NOT_FOUND = 'Specified cluster "{name}" is not found'
NOT_ELIGIBLE = 'Cluster "{name}" is not eligible for resource placement yet: {reason}'


class Dropped(NamedTuple):
    """A cluster that loses its binding."""

    name: str
    reason: DropReason


@dataclass(frozen=True)
class Picks:
    """What Fleet arrives at; `missing` has the named clusters PickFixed can't pick, and why.

    `found` is the number that Fleet reports: of bindings, or with PickFixed of eligible clusters.
    """

    picked: tuple[int, ...]
    found: int
    rounds: tuple[Round, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def added(self) -> tuple[int, ...]:
        """What the rounds picked, in Fleet's order."""
        return tuple(cluster for each in self.rounds for cluster in each.picked)

    @property
    def order(self) -> tuple[int, ...]:
        """What was picked before, by name, then what is added."""
        added = self.added
        return (*sorted(set(self.picked) - set(added)), *added)


def schedule(setting: Setting) -> Picks:
    """The clusters that Fleet picks, and how; SourceError where Fleet fails."""
    match setting.policy.placement_type:
        case "PickAll":
            return _pick_all(setting)
        case "PickFixed":
            return _pick_fixed(setting)
        case "PickN":
            return _pick_n(setting)


def _pick_all(setting: Setting) -> Picks:
    affinity.require_readable(setting.clusters, setting.policy)
    bindings = BindingCount(setting)
    found = [
        index
        for index, refused in enumerate(setting.refusals)
        if not refused and index not in setting.current
    ]
    for index in found:
        bindings.pick(index)
    picked = (*setting.current, *found)
    return Picks(tuple(sorted(picked)), bindings.current, dropped=_dropped(setting, picked))


def _pick_fixed(setting: Setting) -> Picks:
    """Without any name Fleet does nothing; what is bound to no named cluster stays bound."""
    names = setting.policy.cluster_names
    if not names:
        untouched = (*setting.current, *setting.former)
        return Picks(tuple(sorted(setting.current)), 0, dropped=_dropped(setting, untouched))
    eligible, missing = [], []
    for name in names:
        index = setting.index_of.get(name)
        if index is None:
            missing.append((name, NOT_FOUND.format(name=name)))
            continue
        reason = filters.ineligible(setting.clusters[index], setting.now)
        if reason is None:
            eligible.append(index)
            _require_fixed(setting, index)
        else:
            missing.append((name, NOT_ELIGIBLE.format(name=name, reason=reason)))
    picked = setting.current | set(eligible)
    dropped = _dropped(setting, picked)
    return Picks(tuple(sorted(picked)), len(eligible), dropped=dropped, missing=tuple(missing))


def _require_fixed(setting: Setting, index: int) -> None:
    """A named cluster without a current or obsolete binding has one revived or made."""
    if index in setting.existing:
        return
    name = setting.clusters[index].name
    given_up = [b for b in setting.bindings.unscheduled if b.spec.target_cluster == name]
    if given_up:
        require_previous_state(given_up[-1])
    else:
        require_binding_name(setting.placement.name, name)


def _pick_n(setting: Setting) -> Picks:
    bindings = BindingCount(setting)
    too_many = bindings.current - setting.wanted
    if too_many >= 0:
        trimmed = _trim_order(setting)[:too_many]
        kept = [b for b in _trim_order(setting) if b not in trimmed]
        picked = sorted({setting.index_of[b.spec.target_cluster] for b in kept})
        gone = {b.spec.target_cluster for b in trimmed}
        return Picks(tuple(picked), len(kept), dropped=_dropped(setting, picked, gone))
    affinity.require_readable(setting.clusters, setting.policy)
    rounds = pick_rounds(setting, bindings)
    picked = sorted([*setting.current, *(cluster for each in rounds for cluster in each.picked)])
    return Picks(tuple(picked), bindings.current, rounds, _dropped(setting, picked))


def _trim_order(setting: Setting) -> list[Binding]:
    """The current bindings in the order in which Fleet gives them up when fewer are wanted.

    Scheduled ones first; of each state those without a score, then the lowest scores.
    """

    def rank(binding: Binding) -> tuple[bool, bool, int, int, str]:
        score = binding.spec.cluster_decision.cluster_score
        bound = binding.spec.state == "Bound"
        if score is None:
            return (bound, False, 0, 0, binding.spec.target_cluster)
        spread, affinity_score = score.priority_score, score.affinity_score
        return (bound, True, spread, affinity_score, binding.spec.target_cluster)

    return sorted((*setting.bindings.scheduled, *setting.bindings.bound), key=rank)


def _dropped(
    setting: Setting, kept: Iterable[int], scaled_down: Collection[str] = ()
) -> tuple[Dropped, ...]:
    stays = set(setting.names(kept))
    found: dict[str, DropReason] = {}
    for binding in setting.bindings.dangling:
        name = binding.spec.target_cluster
        found[name] = "leaving" if name in setting.index_of else "left"
    for name in sorted(setting.bindings.existing - stays):
        found[name] = "scaledDown" if name in scaled_down else "newPolicy"
    return tuple(Dropped(name, reason) for name, reason in sorted(found.items()))
