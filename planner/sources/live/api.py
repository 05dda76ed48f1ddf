"""A way to an API server, and what can go wrong on it."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec

from planner.sources.errors import SourceError


class Answer(NamedTuple):
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Api(Protocol):
    """A way to one API server: kubectl's proxy, or a service account."""

    @property
    def place(self) -> str:
        """What messages call the cluster: `the cluster of context prod-eu`."""

    @property
    def context(self) -> str | None:
        """The context of the kubeconfig."""

    @property
    def namespace(self) -> str:
        """Where objects are that name no namespace."""

    def ready(self) -> None:
        """Wait until requests can be sent; `place`, `context` and `namespace` are known then."""

    def connection(self) -> http.client.HTTPConnection:
        """A new connection to the server; whoever asks closes it."""

    def headers(self) -> Mapping[str, str]:
        """What each request has to carry: the login, where nobody else adds it."""

    def log_in_again(self) -> None:
        """The server has refused the login (401): forget what is known of it."""

    def login_help(self) -> str:
        """How to find out why a login is refused."""

    def close(self) -> None:
        """End it, and what was started for it."""


class Cause(msgspec.Struct, frozen=True):
    """One of the reasons that a `Status` names."""

    reason: str = ""
    message: str = ""


@dataclass
class ApiError(Exception):
    """An answer that is none of success, in the words of its `Status`."""

    code: int
    reason: str
    message: str
    causes: tuple[Cause, ...] = ()
    continue_: str = ""
    """With 410: the token to go on with, at a newer state."""
    retry_after: float | None = None
    """Seconds after which the server wants to be asked again, if it says so."""

    def cause(self, reason: str) -> Cause | None:
        """The cause of that name."""
        return next((each for each in self.causes if each.reason == reason), None)

    def __str__(self) -> str:
        return self.message


class UnreachableError(Exception):
    """No answer of the server: the network, a proxy between, or an answer that broke off."""


class _Details(msgspec.Struct):
    causes: list[Cause] | None = None


class _StatusMeta(msgspec.Struct, rename={"continue_": "continue"}):
    continue_: str = ""


class _Status(msgspec.Struct):
    kind: str
    message: str = ""
    reason: str = ""
    details: _Details | None = None
    metadata: _StatusMeta | None = None


def error_of(answer: Answer) -> ApiError | UnreachableError:
    """The error that a failed answer tells of.

    The server always sends a `Status`. kubectl's proxy, and others on the way, send plain text:
    where that comes with a 5xx, the server itself was not reached.
    """
    try:
        status = msgspec.json.decode(answer.body, type=_Status)
    except ValueError:
        text = " ".join(answer.body.decode("utf-8", "replace").split()) or f"HTTP {answer.status}"
        if answer.status >= 500:
            return UnreachableError(text)
        return ApiError(answer.status, "", text[:300])
    causes = (status.details.causes if status.details else None) or ()
    return ApiError(
        answer.status,
        status.reason,
        status.message or f"HTTP {answer.status}",
        tuple(causes),
        status.metadata.continue_ if status.metadata else "",
        retry_after(answer),
    )


def retry_after(answer: Answer) -> float | None:
    """Whole seconds above 0 of the header, where there is one."""
    given = answer.headers.get("Retry-After") or ""
    return float(given) if given.isascii() and given.isdigit() and int(given) else None


def unreachable(api: Api, error: Exception) -> SourceError:
    """The server doesn't answer at all."""
    return SourceError(f"can't reach {api.place}", detail=str(error) or type(error).__name__)


def unauthorized(api: Api) -> SourceError:
    """The server knows nobody by this login."""
    return SourceError(f"{api.place} doesn't accept your login (401)", help=api.login_help())
