"""The fake API server's way to the network: plain HTTP, TLS, or a unix socket."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from tests.live.fake_requests import Fault, Request, Script, status

PACKED_FROM = 128 * 1024
"""Bytes from which on the API server packs an answer."""


class Answering(Protocol):
    """What is served."""

    @property
    def faults(self) -> Sequence[Script]: ...

    def answer(self, request: Request) -> tuple[int, Mapping[str, str], Any]: ...


@contextmanager
def serving(api: Answering, tls: ssl.SSLContext | None) -> Iterator[str]:
    """On a port of this machine; gives the address."""
    server = _Server(("127.0.0.1", 0), _handler(api))
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    with _running(server):
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"


@contextmanager
def serving_unix(api: Answering, path: Path) -> Iterator[None]:
    """On a unix socket."""
    with _running(_UnixServer((str(path), 0), _handler(api))):
        yield


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Who hangs up is no error of the server."""


class _UnixServer(_Server):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        self.socket.bind(str(self.server_address[0]))
        self.server_name, self.server_port = "localhost", 0

    def get_request(self) -> tuple[Any, Any]:
        connection, _ = self.socket.accept()
        return connection, ("", 0)


@contextmanager
def _running(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(api: Answering) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, or each answer waits for its receipt

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            size = int(self.headers.get("Content-Length") or 0)
            sent = json.loads(self.rfile.read(size)) if size else {}
            request = Request(self.command, parts.path, query, dict(self.headers.items()), sent)
            found = [fault for script in api.faults if (fault := script(request))]
            fault = found[0] if found else Fault()
            if fault.delay:
                time.sleep(fault.delay)
            if fault.reset:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if fault.text is not None:
                self._write(fault.status, {}, fault.text.encode(), False)
                return
            code, headers, body = (
                status(fault.status, fault.reason, f"{fault.reason} by a test")
                if fault.status
                else api.answer(request)
            )
            self._write(code, {**headers, **fault.headers}, _text(body), fault.cut)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server asks for these

        def _write(self, code: int, headers: Mapping[str, str], body: bytes, cut: bool) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            if len(body) > PACKED_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
                self.send_header("Content-Encoding", "gzip")
                body = gzip.compress(body, 1)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if cut else body)
            if cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Tests look at `FakeApi.requests`."""

    return Handler


def _text(body: Any) -> bytes:
    """As Go writes it: no blanks."""
    return json.dumps(body, separators=(",", ":")).encode()
