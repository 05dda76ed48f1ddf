"""Let the groups of one constraint be further apart."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.repairs.proposal import Proposal, change, kubectl_object
from planner.fleet.setting import Setting
from planner.fleet.words import short_key


def proposals(setting: Setting) -> Iterator[Proposal]:
    """The smallest value that helps, for each hard constraint; all picks in one group at most."""
    constraints = setting.policy.topology_spread_constraints
    values = [t.constraint.max_skew for t in setting.topologies if t.binds]
    for step in range(1, setting.wanted + 1 - min(values, default=setting.wanted)):
        for topology in setting.topologies:
            old = topology.constraint
            if not topology.binds or old.max_skew + step > setting.wanted:
                continue
            new = old.replace(max_skew=old.max_skew + step)
            changed = tuple(
                new if place == topology.index else each for place, each in enumerate(constraints)
            )
            yield Proposal(
                kind="raiseMaxSkew",
                family=topology.field,
                text=f"{short_key(topology.key)}: maxSkew {old.max_skew} -> {new.max_skew}",
                before=setting,
                after=setting.with_policy(topology_spread_constraints=changed),
                object=kubectl_object(setting),
                field=f"{topology.field}.maxSkew",
                change=change(old.max_skew, new.max_skew),
            )
