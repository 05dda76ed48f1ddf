"""All lists of a cluster at one moment.

The list of nodes comes first; its resourceVersion is the moment at which all other kinds are asked
for. Two connections fetch, one for pods and one for the rest, while somebody else decodes. Where a
server can't tell of a past state, plain lists do, pods last: whatever owns them is read by then.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

from planner.sources.errors import SourceError
from planner.sources.live.api import Api, ApiError, UnreachableError, unreachable
from planner.sources.live.kinds import NODES, OTHERS, PODS, VERSION, Kind
from planner.sources.live.not_read import refused
from planner.sources.live.pages import NoListError, Page, pages
from planner.sources.live.requests import PAUSES, Requests

SCHEDULER = (1, 36)
"""The version of Kubernetes whose decisions planner reproduces."""

AT_ONCE = 30.0
"""Seconds that kinds may lie apart without a word about it."""

AHEAD = 4
"""Pages that wait to be decoded."""

GRACE = 1.0
"""Seconds that a request under way is given to end when nobody wants its answer any more."""

_NOT_EXACT = (400, 410, 504)
"""Answers of servers that can't list a kind as it was at a given resourceVersion."""

_RELEASE = re.compile(r"v(\d+)\.(\d+)\.\d+")


class ReadProgress(NamedTuple):
    """How far reading is."""

    place: str
    nodes: int
    pods: int


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _StoppedError(Exception):
    """Nobody takes any more pages."""


class Reader:
    """One reading; what it learns beside the objects is known when all pages were taken."""

    def __init__(
        self,
        api: Api,
        progress: Callable[[ReadProgress], object],
        limit: int,
        sleep: Callable[[float], object] | None,
    ) -> None:
        self._api = api
        self._limit = limit
        self._progress = progress
        self._stop = threading.Event()
        self._sleep = sleep or self._stop.wait
        self._rest_is_read = threading.Event()
        self._pages: queue.Queue[Page | Exception | None] = queue.Queue(AHEAD)
        self._threads: list[threading.Thread] = []
        self._nodes = self._pods = 0
        self._times: list[float] = []
        """When the kinds were asked for that could not be had at the moment itself."""
        self._pod_pages: list[Page] = []
        self.forbidden: list[Kind] = []
        self.server: str | None = None
        self.moment: str | None = None
        self.began = 0.0

    def pages(self) -> Generator[Page, None, None]:
        """Every page that has items, in the order in which they arrive."""
        try:
            yield from (page for page in self._read() if page.items)
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join(GRACE)

    def _read(self) -> Iterator[Page]:
        rest, pods = Requests(self._api, self._sleep), Requests(self._api, self._sleep)
        try:
            self.server = self._version(rest)
            nodes = pages(rest, NODES, limit=self._limit)
            first = self._first(nodes)
        except SourceError:
            rest.close()
            raise
        self.moment, self.began = first.resource_version, first.asked
        self._start(lambda: self._read_rest(rest, first, nodes), rest)
        self._start(lambda: self._read_pods(pods), pods)
        ended = 0
        while ended < 2:
            got = self._pages.get()
            if isinstance(got, Exception):
                raise got
            if got is None:
                ended += 1
                continue
            self._count(got)
            yield got

    def _start(self, read: Callable[[], None], requests: Requests) -> None:
        """Fetch in a thread of its own; its end, or its error, comes as the last page."""

        def run() -> None:
            try:
                read()
                self._put(None)
            except Exception as error:  # noqa: BLE001 - raised again by who takes it
                with suppress(_StoppedError):
                    self._put(error)
            finally:
                requests.close()

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _put(self, page: Page | Exception | None) -> None:
        while not self._stop.is_set():
            try:
                self._pages.put(page, timeout=0.1)
            except queue.Full:
                continue
            return
        raise _StoppedError

    def _version(self, requests: Requests) -> str | None:
        """The first request: a server that can't be reached is not waited for."""
        try:
            answer = requests.get(VERSION, pauses=())
            return msgspec.json.decode(answer.body, type=_Version).git_version or None
        except UnreachableError as error:
            raise unreachable(self._api, error) from error
        except (ApiError, ValueError):
            return None

    def _first(self, nodes: Iterator[Page]) -> Page:
        try:
            return next(nodes)
        except ApiError as error:
            raise refused(self._api, NODES, error) from error
        except NoListError as error:
            raise refused(self._api, NODES, ApiError(200, "", "the answer is no list")) from error
        except UnreachableError as error:
            raise self._broken(NODES, error) from error

    def _read_rest(self, requests: Requests, first: Page, nodes: Iterator[Page]) -> None:
        for page in self._whole(requests, NODES, lambda: [first, *nodes]):
            self._put(page)
        for kind in OTHERS:
            for page in self._kind(requests, kind):
                self._put(page)
        self._rest_is_read.set()

    def _kind(self, requests: Requests, kind: Kind) -> list[Page]:
        """The whole list; none if the server doesn't have the kind, or doesn't show it."""
        moment, limit = self.moment or "", self._limit
        try:
            return self._whole(requests, kind, lambda: list(pages(requests, kind, moment, limit)))
        except ApiError as error:
            if error.code == 403:
                self.forbidden.append(kind)
            elif error.code != 404:
                raise refused(self._api, kind, error) from error
            return []

    def _whole(self, requests: Requests, kind: Kind, read: Callable[[], list[Page]]) -> list[Page]:
        """A list at the moment, or else from the start as it is now."""
        try:
            try:
                return read()
            except ApiError as error:
                if error.code not in _NOT_EXACT:
                    raise
                found = list(pages(requests, kind, limit=self._limit))
        except (UnreachableError, NoListError) as error:
            raise self._broken(kind, error) from error
        self._times.append(found[0].asked)
        return found

    def _read_pods(self, requests: Requests) -> None:
        """Pods are too many to be kept until all of them are there."""
        try:
            self._take(pages(requests, PODS, self.moment or "", self._limit))
        except ApiError as error:
            if error.code not in _NOT_EXACT or self._pod_pages:
                raise refused(self._api, PODS, error) from error
            self._read_pods_last(requests)
        except (UnreachableError, NoListError) as error:
            raise self._broken(PODS, error) from error

    def _read_pods_last(self, requests: Requests) -> None:
        while not (self._rest_is_read.wait(0.1) or self._stop.is_set()):
            pass
        try:
            self._take(pages(requests, PODS, limit=self._limit))
        except ApiError as error:
            raise refused(self._api, PODS, error) from error
        self._times.append(self._pod_pages[0].asked)

    def _take(self, found: Iterator[Page]) -> None:
        for page in found:
            self._pod_pages.append(msgspec.structs.replace(page, data=b""))
            self._put(page)

    def _count(self, page: Page) -> None:
        if page.kind is NODES:
            self._nodes += page.items
        elif page.kind is PODS:
            self._pods += page.items
        self._progress(ReadProgress(self._api.context or self._api.place, self._nodes, self._pods))

    def _broken(self, kind: Kind, error: Exception) -> SourceError:
        reason = str(error) or "the answer is no list"
        read = sum(page.items for page in self._pod_pages)
        return SourceError(
            f"the list of {kind.resource} broke off {len(PAUSES)} times (last: {reason})",
            help=f"{read:,} pods were read until then; --request-timeout 5m, or try again",
        )

    def warnings(self) -> Iterator[str]:
        """What makes this reading less than one moment of a v1.36 cluster."""
        release = _RELEASE.match(self.server or "")
        if release and (int(release[1]), int(release[2])) != SCHEDULER:
            known = ".".join(map(str, SCHEDULER))
            yield f"the server is {release[0]}; planner decides as kube-scheduler v{known} does"
        newer = sum(page.newer for page in self._pod_pages)
        if newer:
            took = self._pod_pages[-1].asked - self._pod_pages[0].asked
            yield (
                f"pods were read over {_duration(took)}; the last {newer} of "
                f"{len(self._pod_pages)} pages are newer"
            )
        apart = max(self._times, default=self.began) - self.began
        if apart > AT_ONCE:
            yield f"the server shows no single moment: the kinds were read over {_duration(apart)}"


def _duration(seconds: float) -> str:
    """`6 min 10 s`, `42 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
