"""Be content with what can be had. The number alone makes no new policy: what is picked stays."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.repairs.proposal import Proposal, change, kubectl_object
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting


def proposals(setting: Setting) -> Iterator[Proposal]:
    """As many as Fleet finds by itself."""
    number = len(schedule(setting).picked)
    if number:
        yield Proposal(
            kind="fewerClusters",
            family="",
            text=f"numberOfClusters {setting.wanted} -> {number}",
            before=setting,
            after=setting.with_policy(number_of_clusters=number),
            object=kubectl_object(setting),
            field="spec.policy.numberOfClusters",
            change=change(setting.wanted, number),
        )
