"""The policy snapshot in force: the one that Fleet's placement controller keeps, or makes anew.

A snapshot is kept as long as the hash of the policy, all but its number of clusters, stays the
same. The hash is that of the JSON text which Go writes: an empty `affinity` is not an absent one,
`1` is not `1000m`, and the order of constraints counts. Bindings made under another snapshot are
obsolete, so this decides whether Fleet starts anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Literal

from planner.sources.errors import SourceError
from planner_models.fleet import ClusterSelectorTerm, Placement, PlacementPolicy
from planner_models.fleet_binding import (
    GENERATION_ANNOTATION,
    INDEX_LABEL,
    NUMBER_ANNOTATION,
    PolicySnapshot,
)
from planner_models.selectors import LabelSelector

_ESCAPED = {each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
"""What Go's encoder escapes beside what JSON asks for."""


def snapshot_in_force(placement: Placement, snapshots: Iterable[PolicySnapshot]) -> str:
    """The name of the snapshot under which Fleet schedules now, from those of the placement."""
    newest = _newest(placement, list(snapshots))
    if newest is None:
        return f"{placement.name}-0"
    index = _count(newest, "labels", INDEX_LABEL)
    if newest.spec.policy_hash != policy_hash(placement.policy):
        return f"{placement.name}-{index + 1}"
    _count(newest, "annotations", GENERATION_ANNOTATION)
    if placement.policy.placement_type == "PickN":
        _count(newest, "annotations", NUMBER_ANNOTATION)
    return newest.name


def _newest(placement: Placement, snapshots: list[PolicySnapshot]) -> PolicySnapshot | None:
    """The one labelled as the latest; if none is, the one with the highest index."""
    latest = [each for each in snapshots if each.latest]
    if len(latest) > 1:
        names = ", ".join(sorted(each.name for each in latest))
        raise SourceError(
            f"{len(latest)} policy snapshots are marked as the latest ({names}), so Fleet "
            "schedules nothing",
            object=f"{type(placement).__name__} {placement.name}",
        )
    if latest:
        return latest[0]
    return max(snapshots, key=lambda each: _count(each, "labels", INDEX_LABEL), default=None)


def _count(snapshot: PolicySnapshot, where: Literal["labels", "annotations"], key: str) -> int:
    """A number that the placement controller fails without."""
    text: str = getattr(snapshot.metadata, where).get(key, "")
    if not text.isascii() or not text.isdigit():
        raise SourceError(
            f'"{text}" is not a count, so Fleet schedules nothing',
            object=f"{type(snapshot).__name__} {snapshot.name}",
            field=f"metadata.{where}[{key}]",
        )
    return int(text)


def policy_hash(policy: PlacementPolicy) -> str:
    """The hash by which Fleet knows a policy, whatever its number of clusters."""
    text = json.dumps(_policy(policy), ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return hashlib.sha256(text.encode()).hexdigest()


def _policy(policy: PlacementPolicy) -> dict[str, Any]:
    """The fields in Go's order; those that are absent or empty are left out, as it does."""
    affinity = policy.affinity
    cluster = affinity.cluster_affinity if affinity else None
    required = cluster.required_during_scheduling_ignored_during_execution if cluster else None
    return _given(
        placementType=policy.placement_type,
        clusterNames=list(policy.cluster_names) or None,
        affinity=affinity
        and _given(
            clusterAffinity=cluster
            and _given(
                requiredDuringSchedulingIgnoredDuringExecution=required
                and {"clusterSelectorTerms": list(map(_term, required.cluster_selector_terms))},
                preferredDuringSchedulingIgnoredDuringExecution=[
                    {"weight": each.weight, "preference": _term(each.preference)}
                    for each in policy.preferred
                ]
                or None,
            )
        ),
        topologySpreadConstraints=[
            {
                "maxSkew": each.max_skew,
                "topologyKey": each.topology_key,
                "whenUnsatisfiable": each.when_unsatisfiable,
            }
            for each in policy.topology_spread_constraints
        ]
        or None,
        tolerations=[
            _given(
                key=each.key or None,
                operator=each.operator,
                value=each.value or None,
                effect=each.effect or None,
            )
            for each in policy.tolerations
        ]
        or None,
    )


def _term(term: ClusterSelectorTerm) -> dict[str, Any]:
    selector, sorter = term.property_selector, term.property_sorter
    return _given(
        labelSelector=None if term.label_selector is None else _labels(term.label_selector),
        propertySelector=selector
        and {
            "matchExpressions": [
                {
                    "name": each.name,
                    "operator": each.operator,
                    "values": [value.text for value in each.values],
                }
                for each in selector.match_expressions
            ]
        },
        propertySorter=sorter and {"name": sorter.name, "sortOrder": sorter.sort_order},
    )


def _labels(selector: LabelSelector) -> dict[str, Any]:
    return _given(
        matchLabels=dict(sorted(selector.match_labels.items())) or None,
        matchExpressions=[
            _given(key=each.key, operator=each.operator, values=list(each.values) or None)
            for each in selector.match_expressions
        ]
        or None,
    )


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
