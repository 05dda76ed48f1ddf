"""`defaults()` stands for a call without arguments in every model that can be called so."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import pytest
from pydantic import ValidationError

import planner_models
from planner_models.base import KubeModel


def every_model(base: type[KubeModel] = KubeModel) -> Iterator[type[KubeModel]]:
    for each in base.__subclasses__():
        yield each
        yield from every_model(each)


def callable_without_arguments(model: type[KubeModel]) -> bool:
    try:
        model()
    except ValidationError:
        return False
    return True


def test_no_validator_would_change_a_default() -> None:
    for module in iter_modules(planner_models.__path__):
        import_module(f"planner_models.{module.name}")
    found = [model for model in every_model() if callable_without_arguments(model)]
    assert len(found) > 100
    assert [model for model in found if model.defaults() != model()] == []


def test_a_field_that_is_required_has_no_default() -> None:
    class Named(KubeModel):
        name: str

    with pytest.raises(AttributeError):
        _ = Named.defaults().name
