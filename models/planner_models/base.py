"""The common base of every model.

Kubernetes writes camelCase and adds fields with every release, so aliases are generated and unknown
fields are ignored. A `null` is an absent field, as for the API server. Numbers and booleans are
strict (`Int`, `Int32`, `Count`, `Bool`): the API server refuses `priority: "5"`, and so do we.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from planner_models.nulls import without_nulls

Int = Annotated[int, Strict()]
Int32 = Annotated[int, Strict(), Field(ge=-(2**31), lt=2**31)]
Count = Annotated[int, Strict(), Field(ge=0, lt=2**31)]
Bool = Annotated[bool, Strict()]


def _parsed(text: bytes | bytearray) -> Any:
    """The text as Python objects, or None where it is no JSON: that is for the model to say."""
    try:
        return from_json(text)
    except ValueError:
        return None


class FieldError(ValueError):
    """A refusal by a validator that looks at several fields; `field` is the one to mend."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@lru_cache(maxsize=1024)
def _all_fields(kind: type[BaseModel]) -> set[str]:
    """The names of all fields: one set for all copies, for frozen models never change theirs."""
    return set(kind.__pydantic_fields__)


class KubeModel(BaseModel):
    """A frozen value read from a Kubernetes object."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # a command starts sooner: it builds the validators that it uses
    )

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Validate Python objects; null fields count as absent."""
        return super().model_validate(without_nulls(cls, obj), **options)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Validate JSON text; null fields count as absent."""
        text = json_data.encode() if isinstance(json_data, str) else json_data
        if b"null" in text and (parsed := _parsed(text)) is not None:
            return cls.model_validate(parsed, **options)
        return super().model_validate_json(json_data, **options)

    @classmethod
    def defaults(cls) -> Self:
        """What a call without arguments gives, without the need to build the validator for it."""
        return cast("Self", cls.model_construct())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Frozen values are their own copies; pydantic would copy every default otherwise."""
        return self

    def replace(self, **changes: Any) -> Self:
        """A copy with other values for some fields; nothing cached on this one is carried over."""
        kind, own = type(self), self.__dict__
        names = kind.__pydantic_fields__
        fields = own if len(own) == len(names) else {name: own[name] for name in names}
        copy = kind.__new__(kind)
        # What model_construct does, without its look at aliases and defaults: a third of its time.
        object.__setattr__(copy, "__dict__", fields | changes)
        object.__setattr__(copy, "__pydantic_fields_set__", _all_fields(kind))
        object.__setattr__(copy, "__pydantic_extra__", None)
        object.__setattr__(copy, "__pydantic_private__", None)
        return copy


class Document(BaseModel):
    """A frozen value that planner writes; unknown fields are a mistake here."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,  # a command starts sooner: it builds the validators that it uses
    )
