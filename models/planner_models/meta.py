"""Object metadata: names, labels, owners, timestamps."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from planner_models.base import Bool, Int, KubeModel
from planner_models.labels import Labels

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


@lru_cache(maxsize=1 << 16)
def parse_time(text: str) -> int:
    """An RFC 3339 timestamp as whole seconds since the epoch, the precision of metav1.Time."""
    found = _RFC3339.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        return int(datetime.fromisoformat(found[1] + found[2]).timestamp())
    except ValueError:
        raise ValueError(f'"{text}" is not a time such as 2026-05-01T12:00:00Z') from None


def _time_of(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("a time is a string such as 2026-05-01T12:00:00Z")
    return parse_time(value)


Time = Annotated[int, BeforeValidator(_time_of)]


class OwnerReference(KubeModel):
    """One entry of `metadata.ownerReferences`; the one with `controller: true` manages the pod."""

    api_version: str = ""
    kind: str
    name: str
    uid: str = ""
    controller: Bool = False


class ObjectMeta(KubeModel):
    """What every object says about itself."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Labels = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    generation: Int | None = None
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The managing controller, as metav1.GetControllerOf finds it."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class KubeObject(KubeModel):
    """An API object: its kind stands in the class, its name in the metadata."""

    metadata: ObjectMeta = ObjectMeta.defaults()

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; `default` where absent, as kubectl applies it."""
        return self.metadata.namespace or "default"

    @property
    def key(self) -> str:
        """`namespace/name`, how namespaced objects are named everywhere in planner."""
        return f"{self.namespace}/{self.metadata.name}"
