"""Make one constraint a preference."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.repairs.proposal import Proposal, change, kubectl_object
from planner.fleet.setting import Setting
from planner.fleet.words import short_key


def proposals(setting: Setting) -> Iterator[Proposal]:
    """Each hard constraint by itself, then all of them."""
    hard = [topology.index for topology in setting.topologies if topology.binds]
    for chosen in [*([place] for place in hard), *([hard] if len(hard) > 1 else ())]:
        constraints = tuple(
            each.replace(when_unsatisfiable="ScheduleAnyway") if place in chosen else each
            for place, each in enumerate(setting.policy.topology_spread_constraints)
        )
        keys = [short_key(setting.topologies[place].key) for place in chosen]
        yield Proposal(
            kind="scheduleAnyway",
            family=str(chosen) if len(chosen) == 1 else "all",
            text=f"{', '.join(keys)}: ScheduleAnyway",
            before=setting,
            after=setting.with_policy(topology_spread_constraints=constraints),
            object=kubectl_object(setting),
            field=f"{setting.topologies[chosen[0]].field}.whenUnsatisfiable",
            change=change("DoNotSchedule", "ScheduleAnyway"),
        )
