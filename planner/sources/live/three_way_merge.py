"""The three-way merge of `kubectl apply`.

What a manifest sets counts; what it leaves out stays as the cluster has it, unless the manifest
that was applied before had set it (`last-applied-configuration`). So a Deployment without
`replicas` keeps those that an autoscaler gave it.
"""

from __future__ import annotations

import json
from typing import Any

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

MERGED_BY = {
    "containers": ("name",),
    "initContainers": ("name",),
    "volumes": ("name",),
    "ports": ("containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
"""Lists whose items are merged one by one, and the fields that tell them apart; all others that
planner reads are replaced as a whole."""

RETAINED = frozenset(("strategy", "volumes"))
"""Here only what the manifest has is retained: a volume has one source."""

_DEFAULTS = {"protocol": "TCP", "whenUnsatisfiable": "DoNotSchedule"}

Json = dict[str, Any]
_Items = dict[tuple[str, ...], Any]


def applied(given: Json, live: Json) -> Json:
    """An object of the cluster after the manifest was applied."""
    # kubectl adds an annotation of its own, so those of others stay in any case.
    metadata = {"annotations": {}, **given["metadata"]}
    found: Json = merged(_last_applied(live), {**given, "metadata": metadata}, live)
    return found


def _last_applied(live: Json) -> Json:
    text = (live.get("metadata", {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        before = json.loads(text) if text else {}
    except ValueError:
        return {}
    return before if isinstance(before, dict) else {}


def merged(before: Any, given: Any, live: Any, field: str = "") -> Any:
    """The three-way merge of `kubectl apply`: last applied, to be applied, as it is."""
    if isinstance(given, dict) and isinstance(live, dict) and field not in RETAINED:
        before = before if isinstance(before, dict) else {}
        removed = before.keys() - given.keys()
        kept = {name: value for name, value in live.items() if name not in removed}
        for name, value in given.items():
            if value is None:
                kept.pop(name, None)
            else:
                kept[name] = merged(before.get(name), value, live.get(name), name)
        return kept
    if field in MERGED_BY and isinstance(given, list) and isinstance(live, list):
        return _merged_list(before, given, live, field)
    return given


def _merged_list(before: Any, given: list[Any], live: list[Any], field: str) -> list[Any]:
    """The items of the manifest, and those that somebody else has added."""
    had, wanted, has = (_by(MERGED_BY[field], items) for items in (before, given, live))
    if len(wanted) < len(given) or len(has) < len(live):
        return given  # they can't be told apart
    inside = field if field in RETAINED else ""
    found = [merged(had.get(key), item, has.get(key), inside) for key, item in wanted.items()]
    return [*found, *(item for key, item in has.items() if key not in wanted and key not in had)]


def _by(fields: tuple[str, ...], items: Any) -> _Items:
    """The items by what tells them apart; a port without a protocol is one of TCP."""
    if not isinstance(items, list):
        return {}
    return {_told(fields, item): item for item in items if isinstance(item, dict)}


def _told(fields: tuple[str, ...], item: Json) -> tuple[str, ...]:
    return tuple(str(item.get(name) or _DEFAULTS.get(name)) for name in fields)
