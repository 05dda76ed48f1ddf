"""`metadata.managedFields`: who wrote which field, derived from the object itself.

Server-side apply tracks lists with merge keys element by element (`k:{...}`) and all other lists as
one leaf; see the FieldsV1 format of the API.
"""

from __future__ import annotations

import json
from typing import Any

MERGE_KEYS: dict[str, tuple[str, ...]] = {
    "addresses": ("type",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "ports": ("containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeMounts": ("mountPath",),
}
"""Merge keys of the lists that occur here."""

UNTRACKED = frozenset(
    {"creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion"}
    | {"uid", "nodeName", "priority", "preemptionPolicy", "tolerations", "volumes", "status"}
)
"""Set by the API server, by admission or by binding, which own no fields."""


def fields_v1(value: Any, key: str = "", depth: int = 0) -> dict[str, Any]:
    """The FieldsV1 set of a value; elements and owned maps also own themselves (`.`)."""
    if isinstance(value, dict):
        below = {f"f:{name}": fields_v1(child, name, depth + 1) for name, child in value.items()}
        return below if depth < 2 else {".": {}, **below}
    if isinstance(value, list) and key in MERGE_KEYS:
        elements = {
            f"k:{_element_key(item, MERGE_KEYS[key])}": fields_v1(item, "", depth + 1)
            for item in value
        }
        return {".": {}, **elements}
    return {}


def _element_key(item: dict[str, Any], parts: tuple[str, ...]) -> str:
    chosen = {part: item[part] for part in parts}
    return json.dumps(chosen, separators=(",", ":"), ensure_ascii=False)


def without_untracked(part: dict[str, Any]) -> dict[str, Any]:
    """A part of an object without the fields that no manager owns."""
    return {key: value for key, value in part.items() if key not in UNTRACKED}


def managed_entry(
    manager: str, api_version: str, time: str, owned: dict[str, Any], subresource: str = ""
) -> dict[str, Any]:
    """One manager's entry over the parts of an object (`metadata`, `spec`, `status`) it wrote."""
    entry: dict[str, Any] = {
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields_v1({name: without_untracked(part) for name, part in owned.items()}),
        "manager": manager,
        "operation": "Update",
        "time": time,
    }
    if subresource:
        entry["subresource"] = subresource
    return entry
