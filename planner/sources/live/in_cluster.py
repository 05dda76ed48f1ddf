"""The API server as a pod reaches it: with the files of its service account."""

from __future__ import annotations

import http.client
import os
import ssl
import time
from collections.abc import Mapping
from pathlib import Path

from planner.sources.errors import SourceError

FILES = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_AGE = 60.0
"""Seconds after which the token is read again: the kubelet renews it."""


def mounted(folder: Path = FILES) -> bool:
    """Whether this process has a service account."""
    return "KUBERNETES_SERVICE_HOST" in os.environ and (folder / "token").is_file()


class InCluster:
    """A way to the API server of the cluster that planner runs in; no proxy is used for it."""

    place = "this cluster"
    context = None

    def __init__(self, timeout: float | None, folder: Path = FILES) -> None:
        try:
            self._host = os.environ["KUBERNETES_SERVICE_HOST"]
            self._port = int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
            self.namespace = _text(folder / "namespace") or "default"
            self._tls = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        except (KeyError, ValueError, OSError) as error:
            raise SourceError(
                "this is no pod with a service account",
                detail=str(error),
                help="--in-cluster is for pods; elsewhere leave it out",
            ) from error
        self._timeout = timeout
        self._file = folder / "token"
        self._token, self._read = "", 0.0

    def ready(self) -> None:
        """At once."""

    def connection(self) -> http.client.HTTPConnection:
        """A connection that nobody is connected to yet."""
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._timeout, context=self._tls
        )

    def headers(self) -> Mapping[str, str]:
        """The token as it is now."""
        now = time.monotonic()
        if not self._token or now - self._read > TOKEN_AGE:
            self._token, self._read = _text(self._file), now
        return {"Authorization": f"Bearer {self._token}"}

    def log_in_again(self) -> None:
        """Read the token anew."""
        self._token = ""

    def login_help(self) -> str:
        """Where the login comes from."""
        return f"the token in {self._file.parent} is refused; is its service account still there?"

    def close(self) -> None:
        """Nothing was started."""


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"can't read {file}: {reason}") from error
