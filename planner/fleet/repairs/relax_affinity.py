"""Ask less of the clusters."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.repairs.proposal import Proposal, kubectl_object
from planner.fleet.setting import Setting

FIELD = "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def proposals(setting: Setting) -> Iterator[Proposal]:
    """No required affinity at all."""
    if setting.policy.required:
        old = setting.policy.affinity
        free = old.cluster_affinity.replace(
            required_during_scheduling_ignored_during_execution=None
        )
        yield Proposal(
            kind="relaxAffinity",
            family="",
            text="remove the required affinity",
            before=setting,
            after=setting.with_policy(affinity=old.replace(cluster_affinity=free)),
            object=kubectl_object(setting),
            field=FIELD,
        )
