"""`SweepGrid`: what users write for `planner sweep --grid`: growth by failures."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Name = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class Growth(_Part):
    """A row: what is changed before anything fails."""

    name: Name
    percent: Annotated[int, Field(ge=0, le=10_000)] = 0
    """So much more of every Deployment, StatefulSet and ReplicaSet with pods, rounded up."""
    scale: tuple[Name, ...] = ()
    """As `whatif --scale`: `deploy/web=30`."""
    namespace: Name | None = None
    """Of the workloads to scale."""
    add_nodes: tuple[Name, ...] = ()
    """As `whatif --add-nodes`: `node.yaml=3`."""


class GridFailure(_Part):
    """A column: nodes that fail together, or a column for each domain of `each`."""

    name: Name | None = None
    lose: tuple[Name, ...] = ()
    """As `whatif --lose`; nothing fails without it."""
    each: Name | None = None
    """As `whatif --each`: `zone`, `node` or a label."""


class SweepGrid(_Part):
    """Every growth under every failure."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["SweepGrid"] = "SweepGrid"
    growth: Annotated[tuple[Growth, ...], Field(min_length=1)]
    failures: Annotated[tuple[GridFailure, ...], Field(min_length=1)]
    manner: Literal["unreachable", "removed", "both"] = "both"
    seeds: Annotated[int, Field(ge=1, le=10_000)] = 5
    preempt: bool = False
