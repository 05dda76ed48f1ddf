"""A dump holds every field that planner reads: none of the models' is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from pydantic import BaseModel

from planner.dump.object_shapes import SHAPES
from planner.dump.shapes import ByName, Each, Fields, Metadata, Shape
from planner.sources.kinds import FLEET, KINDS, UNNAMED, model_of
from planner.sources.pod_text import MetadataText, PodText, StatusText
from planner.sources.pods import WholePod

GROUP_OF = {kind: group for group, kind in KINDS}
LEFT_OUT = {"generateName"}
"""Read only until the object has its name."""


def fields_of(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, str]]:
    """Every field of a model and of those inside it, as the path of its owner and its name."""
    for name, field in model.model_fields.items():
        alias = field.alias or name
        if alias in LEFT_OUT:
            continue
        yield path, alias
        for inner in _models_in(field.annotation):
            yield from fields_of(inner, f"{path}.{alias}")


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for each in get_args(annotation):
        yield from _models_in(each)


def struct_fields(struct: type[msgspec.Struct], path: str = "") -> Iterator[tuple[str, str]]:
    """The same for the texts of pods."""
    for field in msgspec.structs.fields(struct):
        yield path, field.encode_name
        for inner in _structs_in(field.type):
            yield from struct_fields(inner, f"{path}.{field.encode_name}")


def _structs_in(annotation: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for each in get_args(annotation):
        yield from _structs_in(each)


def allowed(shape: Shape, path: str = "") -> Iterator[tuple[str, str]]:
    match shape:
        case Fields():
            for name, inner in shape.shapes.items():
                yield path, name
                yield from allowed(inner, f"{path}.{name}")
        case Each() | ByName():
            yield from allowed(shape.shape, path)
        case _:
            pass


@pytest.mark.parametrize("kind", sorted(SHAPES.keys() - {"Pod"}))
def test_every_field_of_a_kind_is_in_its_shape(kind: str) -> None:
    model = model_of(GROUP_OF[kind], kind)
    assert model is not None
    read = {each for each in fields_of(model) if not _of_no_use(*each)}
    assert read - set(allowed(SHAPES[kind])) == set()


def _of_no_use(path: str, name: str) -> bool:
    """Of the metadata of a template, nothing but labels and annotations is read."""
    inside = path.partition(".template.metadata")
    return bool(inside[1]) and (bool(inside[2]) or name not in ("labels", "annotations"))


def test_every_field_of_a_pod_is_in_its_shape() -> None:
    missing = set(fields_of(WholePod)) - set(allowed(SHAPES["Pod"]))
    assert missing == set()


def test_every_text_of_a_pod_is_in_its_shape() -> None:
    read = {*struct_fields(PodText), *struct_fields(StatusText, ".status")}
    annotations = {each for each in read if each[0] == ".metadata.annotations"}
    assert read - annotations - set(allowed(SHAPES["Pod"])) == set()
    assert {name for _, name in annotations} <= {
        name for path, name in allowed(SHAPES["Pod"]) if path == ".metadata.annotations"
    }


def test_every_kind_of_a_cluster_has_a_shape() -> None:
    assert {kind for _, kind in KINDS} - FLEET - UNNAMED | {"Pod"} == set(SHAPES)


def test_metadata_is_that_of_the_model() -> None:
    metadata = SHAPES["Pod"].shapes["metadata"]
    assert isinstance(metadata, Metadata)
    read = {field.encode_name for field in msgspec.structs.fields(MetadataText)}
    assert read <= set(metadata.shapes)
