"""What the API server asks of an object that it has not stored yet, beyond what its fields say.

Stored objects have passed this; only manifests need be looked at.
"""

from __future__ import annotations

import json
from typing import Any

from planner.sources.defaulting import shared_key
from planner.sources.errors import SourceError
from planner.sources.seems import PATCH_HELP
from planner.sources.validation import field_path, short
from planner_models.pod import PodSpec

Path = list[str | int]


POD = "spec"
TEMPLATE = "spec.template.spec"
"""Where the spec of a pod stands."""


def check_manifest(data: bytes, file: str, name: str, spec: PodSpec | None, prefix: str) -> None:
    """Raise if a new object would be refused; `spec` is its pod's, and stands at `prefix`.

    A pod without containers is let through, to be named in a notice: such sketches of pods are good
    enough to plan with. A workload without them is most often a part of one.
    """
    path = _repeated_key(data)
    if path is not None:
        message = f'the key "{short(str(path[-1]))}" is set twice'
        raise SourceError(message, file=file, object=name, field=field_path(path))
    if spec is None:
        return
    if prefix == TEMPLATE and not spec.containers:
        raise SourceError(
            "it has no containers, so it seems to be a kustomize patch",
            file=file,
            object=name,
            field=f"{prefix}.containers",
            help=PATCH_HELP,
        )
    shared = shared_key(spec)
    if shared is not None:
        raise shared.at(file, name, prefix)


def _repeated_key(text: bytes) -> Path | None:
    """The path to the first key that a JSON object sets twice: msgspec would take the last one.

    The API server's strict validation refuses it, in JSON as in YAML. What msgspec passes over need
    not be UTF-8; that is nothing to stop at.
    """
    return _path_in(_DECODER.decode(text.decode("utf-8", "replace")))


class _Repeated:
    """Stands for an object in which a key is set twice, or in which such an object stands."""

    def __init__(self, path: Path) -> None:
        self.path = path


def _checked(pairs: list[tuple[str, Any]]) -> _Repeated | None:
    """Nothing is kept of an object that is all right."""
    seen: set[str] = set()
    for key, value in pairs:
        if key in seen:
            return _Repeated([key])
        seen.add(key)
        if (path := _path_in(value)) is not None:
            return _Repeated([key, *path])
    return None


def _path_in(value: Any) -> Path | None:
    if isinstance(value, _Repeated):
        return value.path
    if isinstance(value, list):
        for index, each in enumerate(value):
            if (path := _path_in(each)) is not None:
                return [index, *path]
    return None


_DECODER = json.JSONDecoder(object_pairs_hook=_checked, parse_int=str, parse_float=str)
