"""A change to try, and what Fleet makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.fleet.bindings import Bindings
from planner.fleet.measures import measure
from planner.fleet.schedule import Picks, schedule
from planner.fleet.setting import Setting
from planner_models.fleet_binding import Binding, BindingSpec
from planner_models.fleet_decision import FleetChange, FleetRepairKind
from planner_models.meta import ObjectMeta


@dataclass(frozen=True)
class Proposal:
    """A changed setting, and the change in words.

    Of one `family` (the same field with larger and larger values, say) only the first that works is
    of interest, and of one kind only those of the smallest `size`.
    """

    kind: FleetRepairKind
    family: str
    text: str
    before: Setting
    after: Setting
    object: str
    field: str | None = None
    change: FleetChange | None = None
    command: str | None = None
    size: int = 0


@dataclass(frozen=True)
class Trial:
    """A proposal that works. `order` has the picks in Fleet's order, `drops` who loses out."""

    proposal: Proposal
    picks: Picks
    order: tuple[str, ...]
    drops: tuple[str, ...]


def attempt(proposal: Proposal) -> Trial | None:
    """What Fleet then picks, if it is all that is wanted and no hard constraint is broken."""
    setting = proposal.after
    picks = schedule(setting)
    measures = measure(setting, picks.picked)
    if measures.clusters < setting.wanted or measures.excess:
        return None
    order = setting.names(cluster for each in picks.rounds for cluster in each.picked)
    had = set(proposal.before.names(proposal.before.existing))
    drops = tuple(sorted(had - set(setting.names(picks.picked))))
    return Trial(proposal, picks, order, drops)


def stays_when_undone(trial: Trial) -> bool:
    """Whether Fleet picks the same clusters again once the policy is as before."""
    before, names = trial.proposal.before, trial.proposal.after.names(trial.picks.picked)
    made = tuple(
        Binding(
            metadata=ObjectMeta(name=f"{before.placement.name}-{name}"),
            spec=BindingSpec(state="Bound", target_cluster=name),
        )
        for name in names
    )
    undone = replace(before, bindings=Bindings(obsolete=made))
    picked = schedule(undone).picked
    return undone.names(picked) == names and not measure(undone, picked).excess


def kubectl_object(setting: Setting) -> str:
    """`ClusterResourcePlacement/crp`."""
    return f"{type(setting.placement).__name__}/{setting.placement.name}"


def change(before: object, after: object) -> FleetChange:
    """A field's value, from and to."""
    return FleetChange.model_validate({"from": str(before), "to": str(after)})
