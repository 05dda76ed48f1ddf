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
from planner_models.fleet import Placement, PlacementPolicy
from planner_models.fleet_binding import (
    GENERATION_ANNOTATION,
    INDEX_LABEL,
    NUMBER_ANNOTATION,
    PolicySnapshot,
)

_ESCAPED = {each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
"""What Go's encoder escapes beside what JSON asks for."""


REQUIRED = frozenset({"topologyKey", "weight", "clusterSelectorTerms"})
"""Fields of a policy that may be empty and not absent, beside those of some objects."""


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
    fields = policy.replace(number_of_clusters=None).model_dump(by_alias=True)
    text = json.dumps(_as_go_writes(fields), ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return hashlib.sha256(text.encode()).hexdigest()


def _as_go_writes(value: Any, field: str = "") -> Any:
    """The value of a field without what Go leaves out, and maps in the order of their keys."""
    if isinstance(value, list | tuple):
        return [_as_go_writes(each) for each in value]
    if not isinstance(value, dict):
        return value
    inner = sorted(value.items()) if field == "matchLabels" else value.items()
    return {
        name: _as_go_writes(each, name) for name, each in inner if _is_written(name, each, field)
    }


def _is_written(name: str, value: Any, field: str) -> bool:
    """Absent values never; empty ones if they are objects, or of a field that is required."""
    if value is None:
        return False
    required = name in REQUIRED or field in ("matchLabels", "propertySelector")
    return bool(value) or required or (isinstance(value, dict) and name != "matchLabels")
