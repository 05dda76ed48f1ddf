"""How to say what a dump may hold: which fields, and what kind of name stands in each.

A shape is called with a value and gives what is left of it; what becomes of the names in it is up
to whoever calls. Whatever no shape speaks of (environment, commands, probes, secrets, managed
fields, addresses, ...) never gets into a dump.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from planner.dump.kinds_of_names import NameKind


class Names(Protocol):
    """What becomes of the names in an object; None leaves the field out."""

    def name(self, kind: NameKind, name: str) -> str | None:
        """A name of this kind."""

    def stateful_set(self, name: str) -> str | None:
        """The name of a StatefulSet, which numbers its pods."""

    def value(self, key: str, value: str) -> str:
        """A value of the label, or taint, with this key."""

    def compared(self, key: str) -> None:
        """The values of this label are compared as numbers."""

    def time(self, time: str) -> str | None:
        """A moment."""

    def message(self, text: str) -> str | None:
        """Prose, in which anything may stand."""


Shape = Callable[[Names, Any], Any]


@dataclass(frozen=True)
class Fields:
    """An object with these fields and no others; null is an absent field."""

    shapes: Mapping[str, Shape]

    def __call__(self, names: Names, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        shapes = self.shapes
        found = {
            key: shapes[key](names, each)
            for key, each in value.items()
            if each is not None and key in shapes
        }
        return {key: each for key, each in found.items() if each is not None}


@dataclass(frozen=True)
class Each:
    """A list of such things."""

    shape: Shape

    def __call__(self, names: Names, value: Any) -> Any:
        shape = self.shape
        return [shape(names, each) for each in value]


@dataclass(frozen=True)
class Named:
    """A name of this kind."""

    kind: NameKind

    def __call__(self, names: Names, value: Any) -> Any:
        return names.name(self.kind, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class ByName:
    """Things by name."""

    kind: NameKind
    shape: Shape

    def __call__(self, names: Names, value: Any) -> Any:
        return {names.name(self.kind, key): self.shape(names, each) for key, each in value.items()}


def kept(names: Names, value: Any) -> Any:
    """Numbers, quantities, and words that the API server takes from a short list."""
    return value


def present(names: Names, value: Any) -> Any:
    """Something of which only matters that it is there."""
    return {}


def labels(names: Names, value: Any) -> Any:
    """Labels by key; null is the empty value."""
    return {
        names.name(NameKind.KEY, key): names.value(key, each or "") for key, each in value.items()
    }


def quota_amounts(names: Names, value: Any) -> Any:
    """Resources of a quota; `requests.` and `limits.` may stand before their names."""
    return {_of_quota(names, key): each for key, each in value.items()}


def _of_quota(names: Names, key: str) -> str:
    prefix, dot, name = key.partition(".")
    if dot and prefix in ("requests", "limits"):
        return f"{prefix}.{names.name(NameKind.RESOURCE, name)}"
    return names.name(NameKind.RESOURCE, key) or ""


def names_by_comma(names: Names, value: Any) -> Any:
    """Names of pods in one text."""
    return ",".join(names.name(NameKind.NAME, each) or "" for each in value.split(","))


def time(names: Names, value: Any) -> Any:
    """A moment."""
    return names.time(value)


def message(names: Names, value: Any) -> Any:
    """Prose."""
    return names.message(value)


@dataclass(frozen=True)
class Keyed(Fields):
    """A requirement, a taint or a toleration: its values are those of the label in `key`."""

    def __call__(self, names: Names, value: Any) -> Any:
        key = value.get("key") or ""
        if value.get("operator") in ("Gt", "Lt"):
            names.compared(key)
        found = super().__call__(names, value)
        if isinstance(value.get("value"), str):
            found["value"] = names.value(key, value["value"])
        if value.get("values") is not None:
            found["values"] = [names.value(key, each or "") for each in value["values"]]
        return found


@dataclass(frozen=True)
class NodeFields(Fields):
    """A requirement on fields of a node; the API knows `metadata.name` alone."""

    def __call__(self, names: Names, value: Any) -> Any:
        found = super().__call__(names, value)
        found["values"] = [names.name(NameKind.NODE, each) for each in value.get("values") or ()]
        return found


@dataclass(frozen=True)
class Owner(Fields):
    """An owner reference: the owner's kind tells what its name is a name of."""

    def __call__(self, names: Names, value: Any) -> Any:
        found = super().__call__(names, value)
        if isinstance(value.get("name"), str):
            found["name"] = _name_of(names, str(value.get("kind")), value["name"])
        return found


@dataclass(frozen=True)
class Metadata(Fields):
    """What an object of this kind says about itself."""

    kind: str

    def __call__(self, names: Names, value: Any) -> Any:
        found = super().__call__(names, value)
        if isinstance(value.get("name"), str):
            found["name"] = _name_of(names, self.kind, value["name"])
        return found


def _name_of(names: Names, kind: str, name: str) -> str | None:
    if kind == "StatefulSet":
        return names.stateful_set(name)
    return names.name(_NAMES_OF.get(kind, NameKind.NAME), name)


_NAMES_OF = {
    "Node": NameKind.NODE,
    "CSINode": NameKind.NODE,
    "Namespace": NameKind.NAMESPACE,
    "PersistentVolume": NameKind.PERSISTENT_VOLUME,
    "StorageClass": NameKind.STORAGE_CLASS,
    "PriorityClass": NameKind.PRIORITY_CLASS,
    "CSIDriver": NameKind.DRIVER,
    "VolumeAttachment": NameKind.ATTACHMENT,
}
"""All other objects are in a namespace."""
