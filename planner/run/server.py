"""`/healthz`, `/readyz` and `/metrics` on a port of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from planner.errors import PlannerError

PLAIN = "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
Answer = tuple[int, str, bytes]


class Health:
    """Whether the loop is alive, and has something to show; it says so itself.

    It counts as alive while its last sign of life is younger than `patience`.
    """

    def __init__(self, now: Callable[[], float], patience: float) -> None:
        self._now = now
        self._last = now()
        self.patience = patience
        self.ready = False

    def alive(self) -> None:
        """A sign of life."""
        self._last = self._now()

    @property
    def healthy(self) -> bool:
        """Whether the loop goes round."""
        return self._now() - self._last < self.patience


def answer(path: str, health: Health, metrics: Callable[[], bytes]) -> Answer:
    """What is served at a path."""
    match path.partition("?")[0]:
        case "/healthz":
            return _yes_or_no(health.healthy, "the loop has stopped")
        case "/readyz":
            return _yes_or_no(health.ready, "the cluster was not read yet")
        case "/metrics":
            return 200, METRICS, metrics()
        case _:
            return 404, PLAIN, b"not found\n"


def _yes_or_no(yes: bool, why_not: str) -> Answer:
    return (200, PLAIN, b"ok\n") if yes else (503, PLAIN, f"{why_not}\n".encode())


class Server:
    """Serves in threads of its own until it is closed; port 0 takes any that is free."""

    def __init__(self, port: int, health: Health, metrics: Callable[[], bytes]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                code, kind, body = answer(self.path, health, metrics)
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Probes are no news."""

        try:
            self._server = ThreadingHTTPServer(("", port), Handler)
        except OSError as error:
            raise PlannerError(
                f"can't serve on port {port}: {(error.strerror or str(error)).lower()}",
                help="`port=0` takes any that is free",
            ) from error
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve no longer."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
