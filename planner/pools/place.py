"""Where a pool is described, so that what is wrong with it can be found."""

from __future__ import annotations

from dataclasses import dataclass

from planner.errors import PlannerError


@dataclass(frozen=True)
class Place:
    """An object of a file: `Node c7i.large`, `NodePool general`."""

    kind: str
    name: str
    file: str | None = None

    def error(
        self, what: str, annotation: str = "", *, field: str = "", advice: str | None = None
    ) -> PlannerError:
        """What is wrong with the pool, and where that stands."""
        place = annotation_field(annotation) if annotation else field
        return PlannerError(
            f"pool {self.name} {what}",
            file=self.file,
            object=f"{self.kind} {self.name}",
            field=place,
            help=advice,
        )


def annotation_field(key: str) -> str:
    """`metadata.annotations["planner/price"]`."""
    return f'metadata.annotations["{key}"]'
