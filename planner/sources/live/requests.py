"""Requests on one connection, repeated as long as that promises anything."""

from __future__ import annotations

import http.client
import time
import zlib
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from planner.sources.live.api import (
    Answer,
    Api,
    ApiError,
    UnreachableError,
    error_of,
    unauthorized,
)
from planner.version import __version__

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before the same request is sent again, after a reset, a timeout or a 502 to 504."""

THROTTLED = 60.0
"""Seconds for which a server may put planner off (429)."""

JSON = "application/json"
_TRANSIENT = (502, 503, 504)
_GZIP = 16 + zlib.MAX_WBITS


class Requests:
    """GET requests, one after the other."""

    def __init__(self, api: Api, sleep: Callable[[float], object] = time.sleep) -> None:
        self._api = api
        self._sleep = sleep
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
        again = iter(pauses)
        throttled, refused = 0.0, False
        while True:
            try:
                answer = self._once(target, accept)
            except UnreachableError:
                pause = next(again, None)
                if pause is None:
                    raise
                self._sleep(pause)
                continue
            if answer.status == 429 and throttled < THROTTLED:
                pause = _retry_after(answer)
                throttled += pause
                self._sleep(pause)
            elif answer.status == 401 and not refused:
                refused = True
                self._api.log_in_again()
            elif answer.status == 401:
                raise unauthorized(self._api)
            elif answer.status == http.HTTPStatus.OK:
                return answer
            else:
                error = error_of(answer)
                pause = next(again, None) if _transient(answer, error) else None
                if pause is None:
                    raise error
                self._sleep(pause)

    def _once(self, target: str, accept: str) -> Answer:
        """One request; whatever breaks it, the connection is of no more use."""
        headers = {
            "Accept": accept,
            "Accept-Encoding": "gzip",
            "User-Agent": f"planner/{__version__}",
            **self._api.headers(),
        }
        try:
            if self._connection is None:
                self._connection = self._api.connection()
            self._connection.request("GET", target, headers=headers)
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
    return answer.status in _TRANSIENT and "ResourceVersionTooLarge" not in error.causes


def _retry_after(answer: Answer) -> float:
    given = answer.headers.get("Retry-After") or ""
    return float(given) if given.isascii() and given.isdigit() and int(given) else 1.0


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
