"""What the fake API server is asked, and what may go wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Json = dict[str, Any]


class Request(NamedTuple):
    """What was asked for."""

    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Json = {}  # noqa: RUF012 - nobody changes it

    @property
    def resource(self) -> str:
        """`pods`, also of one namespace."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Fault:
    """What happens to a request in place of its answer."""

    status: int = 0
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    """Plain text instead of a Status."""
    reset: bool = False
    cut: bool = False
    """The answer, but only half of its body."""
    delay: float = 0.0


Script = Callable[[Request], Fault | None]


def status(
    code: int, reason: str, message: str, causes: list[Json] | None = None
) -> tuple[int, Mapping[str, str], Any]:
    """A failure as the API server tells it."""
    body: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    if causes:
        body["details"] = {"causes": causes}
    return code, {}, body


def nth(resource: str, number: int, fault: Fault) -> Script:
    """The fault, at the request of that number for the resource, counted from 1."""
    seen = 0

    def script(request: Request) -> Fault | None:
        nonlocal seen
        if request.resource != resource:
            return None
        seen += 1
        return fault if seen == number else None

    return script


def always(resource: str, fault: Fault) -> Script:
    """The fault at every request for the resource."""
    return lambda request: fault if request.resource == resource else None
