"""Changes after which Fleet picks as many clusters as wanted; each is tried on a copy.

A proposal that Fleet's own scheduler does not make good is not shown. Fewest clusters that lose
their resources first, then the smaller change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from planner.fleet.bindings import Bindings
from planner.fleet.optimum import measure
from planner.fleet.proposals import PROPOSERS, Proposal
from planner.fleet.schedule import Picks, schedule
from planner.fleet.setting import Setting
from planner.sources.errors import SourceError
from planner_models.fleet_binding import Binding, BindingSpec
from planner_models.meta import ObjectMeta

EFFORT = 2_000_000
"""Clusters times picks that may be looked at by all trials together."""


@dataclass(frozen=True)
class Trial:
    """A proposal that works. `order` has the picks in Fleet's order, `drops` who loses out."""

    before: Setting
    proposal: Proposal
    picks: Picks
    order: tuple[str, ...]
    drops: tuple[str, ...]


def find_repairs(setting: Setting) -> tuple[Trial, ...]:
    """Every proposal that works, the best first; of a family only the first one that does."""
    tries = max(len(PROPOSERS), EFFORT // max(1, len(setting.clusters) * setting.wanted))
    share = max(1, tries // len(PROPOSERS))
    found = [
        (trial, order)
        for order, proposals in enumerate(PROPOSERS)
        for trial in _that_work(setting, islice(proposals(setting), share))
    ]
    found.sort(key=lambda each: (len(each[0].drops), each[1]))
    return tuple(trial for trial, _ in found)


def _that_work(before: Setting, proposals: Iterable[Proposal]) -> Iterator[Trial]:
    """The proposals come in the order of their size."""
    done: set[str] = set()
    size: int | None = None
    for proposal in proposals:
        if size is not None and proposal.size > size:
            return
        if proposal.family not in done:
            trial = attempt(before, proposal)
            if trial is not None:
                done.add(proposal.family)
                size = proposal.size
                yield trial


def attempt(before: Setting, proposal: Proposal) -> Trial | None:
    """What Fleet then picks, if it is all that is wanted and no hard constraint is broken."""
    setting = proposal.after
    picks = _picks(setting)
    if picks is None:
        return None
    measures = measure(setting, picks.picked)
    if measures.clusters < setting.wanted or measures.excess:
        return None
    had = set(before.names(before.existing))
    drops = tuple(sorted(had - set(setting.names(picks.picked))))
    return Trial(before, proposal, picks, setting.names(picks.added), drops)


def stays_when_undone(trial: Trial) -> bool:
    """Whether Fleet picks the same clusters again once the policy is as before."""
    before, names = trial.before, trial.proposal.after.names(trial.picks.picked)
    made = tuple(
        Binding(
            metadata=ObjectMeta(name=f"{before.placement.name}-{name}"),
            spec=BindingSpec(state="Bound", target_cluster=name),
        )
        for name in names
    )
    undone = replace(before, bindings=Bindings(obsolete=made))
    picks = _picks(undone)
    if picks is None or undone.names(picks.picked) != names:
        return False
    return not measure(undone, picks.picked).excess


def _picks(setting: Setting) -> Picks | None:
    """What Fleet picks; a change on which its scheduler fails helps nobody."""
    try:
        return schedule(setting)
    except SourceError:
        return None
