"""Requests on one connection, repeated as long as that promises anything."""

from __future__ import annotations

import http.client
import time
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from planner.sources.live.api import (
    Answer,
    Api,
    ApiError,
    UnreachableError,
    error_of,
    retry_after,
    unauthorized,
)
from planner.version import __version__

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before the same request is sent again, after a reset, a timeout or a 502 to 504."""

THROTTLED = 60.0
"""Seconds for which a server may put planner off (429)."""

BUDGET = "DisruptionBudget"
"""The cause of a 429 that says no for a PodDisruptionBudget."""

JSON = "application/json"
_TRANSIENT = (502, 503, 504)
_GZIP = 16 + zlib.MAX_WBITS


class Message(NamedTuple):
    """What is sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Requests:
    """GET requests, one after the other; `agent` is what audit logs call planner."""

    def __init__(
        self,
        api: Api,
        sleep: Callable[[float], object] = time.sleep,
        agent: str = f"planner/{__version__}",
    ) -> None:
        self._api = api
        self._sleep = sleep
        self._agent = agent
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(
        self,
        path: str,
        query: Mapping[str, str | int] | None = None,
        accept: str = JSON,
        pauses: tuple[float, ...] = PAUSES,
    ) -> Answer:
        """The answer of success; any other is an ApiError, and none at all an UnreachableError."""
        target = f"{path}?{urlencode(query)}" if query else path
        return self._ask(Message("GET", target, {"Accept": accept}), pauses)

    def _ask(self, message: Message, pauses: tuple[float, ...]) -> Answer:
        again = iter(pauses)
        throttled, refused = 0.0, False
        while True:
            try:
                answer = self._once(message)
            except UnreachableError:
                pause = next(again, None)
                if pause is None:
                    raise
                self._sleep(pause)
                continue
            if answer.status == 429 and throttled < THROTTLED and _throttles(answer):
                pause = retry_after(answer) or 1.0
                throttled += pause
                self._sleep(pause)
            elif answer.status == 401 and not refused:
                refused = True
                self._api.log_in_again()
            elif answer.status == 401:
                raise unauthorized(self._api)
            elif answer.status in (http.HTTPStatus.OK, http.HTTPStatus.CREATED):
                return answer
            else:
                error = error_of(answer)
                pause = next(again, None) if _transient(answer, error) else None
                if pause is None:
                    raise error
                self._sleep(pause)

    def _once(self, message: Message) -> Answer:
        """One request; whatever breaks it, the connection is of no more use."""
        headers = {
            **message.headers,
            "Accept-Encoding": "gzip",
            "User-Agent": self._agent,
            **self._api.headers(),
        }
        try:
            if self._connection is None:
                self._connection = self._api.connection()
            self._connection.request(message.method, message.target, message.body, headers)
            response = self._connection.getresponse()
            body = response.read()
            if response.headers.get("Content-Encoding") == "gzip":
                body = _unpacked(body)
        except TimeoutError as error:
            self.close()
            raise UnreachableError("no answer in time") from error
        except (OSError, http.client.HTTPException, zlib.error, EOFError) as error:
            self.close()
            raise UnreachableError(_words(error)) from error
        return Answer(response.status, dict(response.headers.items()), body)


def _transient(answer: Answer, error: ApiError | UnreachableError) -> bool:
    """Whether the same request may go well in a moment.

    A server that doesn't know the state it was asked for (504) won't learn of it.
    """
    if isinstance(error, UnreachableError):
        return True
    return answer.status in _TRANSIENT and error.cause("ResourceVersionTooLarge") is None


def _throttles(answer: Answer) -> bool:
    """Whether a 429 is about too many requests: the one about a budget is an answer."""
    error = error_of(answer)
    return isinstance(error, UnreachableError) or error.cause(BUDGET) is None


def _unpacked(body: bytes) -> bytes:
    """EOFError if the text was cut off."""
    stream = zlib.decompressobj(_GZIP)
    text = stream.decompress(body)
    if not stream.eof:
        raise EOFError("the answer broke off")
    return text


def _words(error: BaseException) -> str:
    """`connection reset by peer`, as the system says it."""
    if isinstance(error, http.client.IncompleteRead | EOFError):
        return "the answer broke off"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError):
        return "connection reset by peer"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (text or type(error).__name__).lower()
