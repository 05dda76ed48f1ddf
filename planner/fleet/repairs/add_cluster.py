"""Let more clusters join the fleet, in a place that helps."""

from __future__ import annotations

from collections.abc import Iterator

from planner.fleet.repairs.proposal import Proposal
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting
from planner.fleet.words import all_of, count_of, short_key
from planner_models.member_cluster import MemberCluster
from planner_models.meta import ObjectMeta

MOST = 8
"""Who needs more clusters than this has other worries."""

NAME = "new-cluster-{number}"


def proposals(setting: Setting) -> Iterator[Proposal]:
    """One cluster like an existing one, in every place there is; then two, and so on."""
    missing = setting.wanted - len(schedule(setting).picked)
    places = _places(setting)
    for number in range(1, max(1, missing) + 1):
        if number <= MOST or number == missing:
            for labels in places:
                yield _joined(setting, labels, number)


def _places(setting: Setting) -> list[dict[str, str]]:
    """Labels of one cluster for each combination of groups; pickable ones serve as the model."""
    keys = [topology.key for topology in setting.topologies if topology.binds]
    found: dict[tuple[str | None, ...], tuple[bool, dict[str, str]]] = {}
    for cluster, refusals in zip(setting.clusters, setting.refusals, strict=True):
        place = tuple(cluster.labels.get(key) for key in keys)
        pickable = not refusals
        if place not in found or (pickable and not found[place][0]):
            found[place] = (pickable, cluster.labels)
    ordered = sorted(found, key=lambda place: tuple(value or "" for value in place))
    return [found[place][1] for place in ordered]


def _joined(setting: Setting, labels: dict[str, str], number: int) -> Proposal:
    added = [
        MemberCluster(metadata=ObjectMeta(name=NAME.format(number=place + 1), labels=dict(labels)))
        for place in range(number)
    ]
    keys = [topology.key for topology in setting.topologies if topology.binds]
    where = all_of([f"{short_key(key)} {labels[key]}" for key in keys if key in labels])
    what = count_of(number, "cluster") if number > 1 else "a cluster"
    return Proposal(
        kind="addCluster",
        family=where,
        size=number,
        text=f"add {what} in {where}" if where else f"add {what}",
        before=setting,
        after=setting.with_clusters([*setting.clusters, *added]),
        object="MemberCluster",
    )
