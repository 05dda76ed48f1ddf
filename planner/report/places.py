"""Where the fields of an explanation stand: in which file and line, or in which workload.

A pod of a workload is written down in no file, and one that planner made from a template does not
even exist: the field to look at is the template's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.cluster.owners import SHORT
from planner.report.ci.findings import Spot, pod_spot
from planner.sources.locations import Locations
from planner_models.diagnosis import Diagnosis

MOST_BYTES = 8 << 20
"""Files up to here are read once more for the lines; larger ones are dumps that nobody edits."""
_FIELD = "spec."
_AND = " and ["
"""`spec.topologySpreadConstraints[0] and [1]`."""


def with_places(document: Diagnosis, paths: Sequence[str]) -> Diagnosis:
    """The same explanation, with places that can be opened."""
    return _placed(document, Locations(paths if _small(paths) else ()))


def _placed(document: Diagnosis, locations: Locations) -> Diagnosis:
    return document.model_copy(
        update={
            "where": _where(document, locations),
            "parts": tuple(_placed(part, locations) for part in document.parts),
        }
    )


def _where(document: Diagnosis, locations: Locations) -> tuple[str, ...]:
    """The first text names the pod, and mostly its first field; the others are fields alone."""
    if not document.where or not document.workloads:
        return document.where
    first, *others = document.where
    key, _, field = first.partition(" ")
    workload = document.workloads[0]
    if key not in document.targets or workload.partition("/")[0] not in SHORT.values():
        return document.where
    namespace, _, pod = key.partition("/")
    spot = pod_spot(namespace, workload, pod, field.partition(_AND)[0])
    found = spot.location(locations)
    words = [workload if namespace == "default" else f"{namespace}/{workload}"]
    words.append(_inside(spot, field))
    if found is not None:
        words.insert(0, f"{found.file}:{found.line}:")
    texts = (_inside(spot, text) for text in others)
    return (" ".join(word for word in words if word), *texts)


def _inside(spot: Spot, field: str) -> str:
    """A field of the pod as the manifest has it."""
    if spot.object.kind == "Pod" or not field.startswith(_FIELD):
        return field
    return f"spec.template.{field}"


def _small(paths: Sequence[str]) -> bool:
    left = MOST_BYTES
    for path in map(Path, paths):
        files = path.rglob("*") if path.is_dir() else (path,)
        for file in files:
            left -= file.stat().st_size if file.is_file() else 0
            if left < 0:
                return False
    return True
