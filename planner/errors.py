"""What planner can't do, and where to look: a value until somebody prints it.

Arguments of the façade stand in backticks, with their value where that helps: `time_limit`,
`namespace=shop`. The command line puts its own options in their place.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 80
"""Places that don't fit this many columns put the field on a line of its own."""


@dataclass(eq=False)
class PlannerError(Exception):
    """One thing that the caller can put right, with the place to look at.

    `file` is the name as the user gave it, `object` names a Kubernetes object ("Deployment
    default/web"), `field` is a path inside it, `line` and `column` count from 1. `detail` says more
    about that very place; `help` is the next thing to do.
    """

    message: str
    file: str | None = None
    object: str | None = None
    field: str | None = None
    line: int | None = None
    column: int | None = None
    detail: str | None = None
    help: str | None = None

    def __post_init__(self) -> None:
        """Whoever sees the traceback sees what to do, too."""
        if self.help:
            self.add_note(f"help: {self.help}")

    def __str__(self) -> str:
        place = " ".join(self._place())
        return f"{self.message} ({place})" if place else self.message

    def render(self) -> str:
        """The lines for a terminal: the headline, `-->` with the place, and the help."""
        lines = [f"error: {self.message}"]
        place = self._place()
        if place:
            joined = f"  --> {' '.join(place)}"
            lines.extend([joined] if len(joined) <= WIDTH else _indented("  --> ", place))
        if self.help:
            lines.extend(_indented("help: ", self.help.split("\n")))
        return "\n".join(lines)

    def _place(self) -> list[str]:
        """The parts that may stand on lines of their own: file and object, then the field."""
        if not (self.line or self.object or self.field or self.detail):
            return []
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        inside = [part for part in (self.object, self.field) if part]
        if self.detail and inside:
            inside[-1] += f": {self.detail}"
        elif self.detail:
            inside = [self.detail]
        if not position:
            return inside
        return [f"{position}: {inside[0]}", *inside[1:]] if inside else [position]


class UsageError(PlannerError):
    """The call, or the command line, asks for something that it can't mean."""


class RefusedError(PlannerError):
    """What was asked for is possible to read and wrong to do: a negative answer."""


def _indented(prefix: str, lines: list[str]) -> list[str]:
    return [prefix + lines[0], *(" " * len(prefix) + line for line in lines[1:])]
