"""The API server through `kubectl proxy` on a unix socket of our own.

kubectl knows every way to log in. Its proxy gets the lists that planner reads as the only paths and
refuses every method that writes, so that not even a bug could change anything or see a secret.
Whoever carries plans out has an `Access` of its own.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from planner.sources.errors import SourceError
from planner.sources.live.kinds import KINDS, VERSION

VARIABLE = "PLANNER_KUBECTL"
"""Names another program than kubectl, such as `k3s kubectl`."""

LONGEST = 100
"""Characters in the path of a unix socket; some systems take no more than 104."""

# kubectl dies with planner, however that ends: its keeper's stdin is a pipe whose other end only
# planner has. Ctrl-C goes to all of them, and must not end the keeper before its work is done.
# Neither it nor its cat holds the outputs that planner reads to the end.
_KEEPER = """
trap "" INT HUP
"$@" </dev/null & p=$!
exec >/dev/null 2>&1
cat
kill $p
wait $p
rm -rf -- "$0"
"""
_KLOG = re.compile(r"[EWIF]\d{4} \d\d:\d\d:\d\d\.")
_FATAL = "error: "


@dataclass(frozen=True)
class Access:
    """What a proxy lets through: expressions of whole paths, without a comma, and methods."""

    paths: tuple[str, ...]
    rejected: tuple[str, ...] = ("POST", "PUT", "PATCH", "DELETE")

    def flags(self) -> tuple[str, str]:
        """The same for kubectl, which takes a comma for the end of an expression."""
        methods, paths = "|".join(self.rejected), "|".join(self.paths)
        return f"--reject-methods=^({methods})$", f"--accept-paths=^({paths})$"


READING = Access(tuple(map(re.escape, (VERSION, *(kind.path for kind in KINDS)))))
"""The lists of planner, and nothing that writes."""


class KubectlProxy:
    """A kubectl of our own; it starts at once, and `ready` returns when it serves."""

    def __init__(
        self, flags: Sequence[str], timeout: float | None, access: Access = READING
    ) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise SourceError(
                "planner reads running clusters over a unix socket, which this system doesn't have",
                help="WSL has them; or -f cluster.json",
            )
        command = shlex.split(os.environ.get(VARIABLE) or "kubectl")
        if not command or shutil.which(command[0]) is None:
            raise SourceError(
                "kubectl is not there, and planner reads clusters through it",
                help=f'install kubectl, or {VARIABLE}="k3s kubectl", or -f cluster.json',
            )
        self._command = command
        self._flags = flags
        self._timeout = timeout
        self._access = access
        self._folder = _private_folder()
        self._socket = str(Path(self._folder) / "api.sock")
        self._errors: list[str] = []
        self._keeper = self._start()
        self._reader = threading.Thread(target=self._pass_on, daemon=True)
        self._reader.start()
        self._config = self._kubectl("config", "view", "--minify", "--output", "json")
        self.context: str | None = None
        self.namespace = "default"

    def _start(self) -> subprocess.Popen[str]:
        arguments = [
            *self._command,
            "proxy",
            f"--unix-socket={self._socket}",
            *self._access.flags(),
            *self._flags,
        ]
        return subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, self._folder, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def _kubectl(self, *arguments: str) -> subprocess.Popen[str]:
        """Another kubectl beside it, with the same flags."""
        return subprocess.Popen(
            [*self._command, *arguments, *self._flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def _pass_on(self) -> None:
        """What kubectl and its login plugins say is for the user; a device code is, for one.

        Its log says again what the answers say; why it ends is told as an error of our own.
        """
        for line in _lines(self._keeper.stderr):
            if line.startswith(_FATAL):
                self._errors.append(line.removeprefix(_FATAL).strip())
            elif not _KLOG.match(line):
                sys.stderr.write(line)
                sys.stderr.flush()

    def ready(self) -> None:
        """Until it serves; what keeps it from that is an error."""
        served = next(_lines(self._keeper.stdout), "")
        text, complaint = self._config.communicate()
        if not served:
            self._reader.join()
            raise self._failed(" ".join(self._errors) or complaint.strip() or "it ended at once")
        if self._config.returncode:
            raise SourceError(
                "kubectl has no current context, so there is no cluster to read",
                detail=complaint.strip().removeprefix(_FATAL),
                help="--context NAME, or kubectl config use-context NAME, or -f cluster.json, or\n"
                "try planner inspect --example zone-outage",
            )
        config = json.loads(text)
        self.context = config["current-context"]
        context = config["contexts"][0]["context"]
        self.namespace = context.get("namespace") or "default"

    def _failed(self, reason: str) -> SourceError:
        names = self._kubectl("config", "get-contexts", "--output", "name").communicate()[0].split()
        known = f"contexts are: {', '.join(sorted(names))}" if names else None
        return SourceError(f"kubectl: {reason}", help=known if "context" in reason else None)

    @property
    def place(self) -> str:
        """By the context's name, as the user knows it."""
        return f"the cluster of context {self.context}"

    def connection(self) -> http.client.HTTPConnection:
        """A connection over the socket."""
        return UnixConnection(self._socket, self._timeout)

    def headers(self) -> Mapping[str, str]:
        """None: the login is added by kubectl."""
        return {}

    def log_in_again(self) -> None:
        """Nothing to do: kubectl logs in again at the next request."""

    def login_help(self) -> str:
        """The same login without planner; a plugin that asks questions needs a terminal for it."""
        asked = shlex.join(
            [*self._command, "get", "--raw", VERSION, "--context", f"{self.context}"]
        )
        return f"{asked} shows whether kubectl can log in"

    def close(self) -> None:
        """End kubectl, and wait until it has gone."""
        keeper = self._keeper
        for pipe in (keeper.stdin, keeper.stdout):
            if pipe is not None:
                pipe.close()
        keeper.wait()
        self._reader.join()
        _lines(keeper.stderr).close()
        if self._config.poll() is None:
            self._config.kill()
        for pipe in (self._config.stdout, self._config.stderr):
            _lines(pipe).close()
        self._config.wait()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _private_folder() -> str:
    """Nobody else may come in: whoever reaches the socket has the user's rights to read."""
    folder = tempfile.mkdtemp(prefix="planner-")
    if len(folder) > LONGEST - len("/api.sock"):
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix="planner-", dir="/tmp")
    return folder


def _lines(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
