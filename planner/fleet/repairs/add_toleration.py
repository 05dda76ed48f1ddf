"""Tolerate a taint that keeps clusters out."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.repairs.proposal import Proposal, kubectl_object
from planner.fleet.setting import Setting
from planner.fleet.taints import untolerated
from planner_models.fleet import ClusterToleration


def proposals(setting: Setting) -> Iterator[Proposal]:
    """Each taint by itself, then all of them."""
    given = setting.policy.tolerations
    found = {untolerated(cluster, given) for cluster in setting.clusters} - {None}
    taints = sorted((taint for taint in found if taint is not None), key=str)
    for chosen in [*([taint] for taint in taints), *([taints] if len(taints) > 1 else ())]:
        added = tuple(
            ClusterToleration(key=t.key, operator="Equal", value=t.value, effect=t.effect)
            for t in chosen
        )
        yield Proposal(
            kind="addToleration",
            family=str(chosen[0]) if len(chosen) == 1 else "all",
            text=f"tolerate {', '.join(map(str, chosen))}",
            before=setting,
            after=setting.with_policy(tolerations=(*given, *added)),
            object=kubectl_object(setting),
            field="spec.policy.tolerations",
        )
