"""A real kube-apiserver with its etcd, from the binaries that KUBEBUILDER_ASSETS points to.

There is no kubelet and no controller: objects stay as they are put. `setup-envtest use -p path`
gets such binaries; kubectl is among them.
"""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from planner.sources.live.kinds import KINDS
from tests.live.certificates import certificate
from tests.live.fake_api import RESOURCES
from tests.live.kubeconfigs import kubeconfig

Json = dict[str, Any]
VARIABLE = "KUBEBUILDER_ASSETS"
NEEDED = ("etcd", "kube-apiserver", "kubectl")
START = 90.0
"""Seconds that the server may take to be ready."""

TOKENS = "admin-token,admin,1,system:masters\nalice-token,alice,2\n"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def missing() -> str | None:
    """Why there is no real server to test with."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return f"{VARIABLE} names no folder with {', '.join(NEEDED)}"
    lacking = [name for name in NEEDED if not (Path(folder) / name).exists()]
    if lacking:
        return f"{folder} ({VARIABLE}) has no {', '.join(lacking)}"
    return None if shutil.which("openssl") else "openssl is not installed"


class RealApi:
    """A server, as its administrator sees it."""

    def __init__(self, folder: Path, address: str, etcd: str) -> None:
        self.folder = folder
        self._place = urlsplit(address)
        self._etcd = urlsplit(etcd)
        self.kubeconfig = self._kubeconfig(address, "admin")
        self.kubectl = shlex.quote(str(Path(os.environ[VARIABLE]) / "kubectl"))

    def _kubeconfig(self, address: str, user: str) -> str:
        folder = self.folder / user
        folder.mkdir()
        file = Path(kubeconfig(folder, address, {"token": f"{user}-token"}))
        config = json.loads(file.read_text())
        config["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
        file.write_text(json.dumps(config))
        return str(file)

    def as_alice(self) -> str:
        """The kubeconfig of a user without any rights, yet."""
        found = self.folder / "alice" / "kubeconfig.json"
        return str(found) if found.exists() else self._kubeconfig(self._place.geturl(), "alice")

    def request(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        """As the administrator."""
        trusting = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(
            str(self._place.hostname), self._place.port, timeout=30, context=trusting
        )
        headers = {"Authorization": "Bearer admin-token", "Content-Type": "application/json"}
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def put(self, item: Json) -> Json:
        """Create an object; a status that the server drops then is put in afterwards."""
        path = self._path(item["kind"], item["metadata"].get("namespace"))
        code, told = self.request("POST", path, item)
        assert code == http.HTTPStatus.CREATED, told
        if "status" in item:
            name = item["metadata"]["name"]
            if item["kind"] == "Node":  # without a version, for a controller may have been faster
                del told["metadata"]["resourceVersion"]
            whole = {**told, "status": {**told.get("status", {}), **item["status"]}}
            code, told = self.request("PUT", f"{path}/{name}/status", whole)
            assert code == http.HTTPStatus.OK, told
        return told

    def clear(self, kind: str, prefix: str) -> None:
        """Remove all objects of a kind, by the prefix of its paths."""
        _, found = self.request("GET", f"{prefix}/{kind}")
        for item in found["items"]:
            meta = item["metadata"]
            inside = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
            path = f"{prefix}{inside}/{kind}/{meta['name']}?gracePeriodSeconds=0"
            assert self.request("DELETE", path)[0] == http.HTTPStatus.OK

    def delete(self, resource: str, key: str) -> None:
        """Remove the object `namespace/name` at once."""
        namespace, _, name = key.rpartition("/")
        kind = next(each for each, known in RESOURCES.items() if known == resource)
        path = f"{self._path(kind, namespace)}/{name}?gracePeriodSeconds=0"
        code, told = self.request("DELETE", path)
        assert code == http.HTTPStatus.OK, told

    def compact(self) -> None:
        """Have etcd forget all states but the newest."""
        _, nodes = self.request("GET", "/api/v1/nodes?limit=1")
        body = {"revision": nodes["metadata"]["resourceVersion"], "physical": True}
        connection = http.client.HTTPConnection(self._etcd.netloc, timeout=30)
        connection.request("POST", "/v3/kv/compaction", json.dumps(body))
        assert connection.getresponse().status == http.HTTPStatus.OK
        connection.close()

    def grant(self, role: Json, user: str) -> None:
        """A ClusterRole, and its binding to the user."""
        name = role["metadata"]["name"]
        self.request("POST", f"{RBAC}/clusterroles", role)
        binding = {
            "metadata": {"name": f"{name}-{user}"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": name,
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }
        code, told = self.request("POST", f"{RBAC}/clusterrolebindings", binding)
        assert code == http.HTTPStatus.CREATED, told

    def _path(self, kind: str, namespace: str | None) -> str:
        found = next(each for each in KINDS if each.resource == RESOURCES[kind])
        prefix = found.path.removesuffix(f"/{found.resource}")
        inside = f"/namespaces/{namespace}" if namespace else ""
        return f"{prefix}{inside}/{found.resource}"


@contextmanager
def real_api(folder: Path) -> Iterator[RealApi]:
    """A server of its own, with nothing in it but what every cluster has."""
    assets = Path(os.environ[VARIABLE])
    client, peer, secure = _free_port(), _free_port(), _free_port()
    crt, key = certificate(folder)
    (folder / "tokens.csv").write_text(TOKENS)
    etcd = f"http://127.0.0.1:{client}"
    address = f"https://127.0.0.1:{secure}"
    flags = {
        "etcd-servers": etcd,
        "bind-address": "127.0.0.1",
        "secure-port": secure,
        "tls-cert-file": crt,
        "tls-private-key-file": key,
        "token-auth-file": folder / "tokens.csv",
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": key,
        "service-account-signing-key-file": key,
        "service-cluster-ip-range": "10.0.0.0/24",
        "disable-admission-plugins": "ServiceAccount,TaintNodesByCondition",
    }
    with ExitStack() as stack:
        store = {
            "data-dir": folder / "etcd",
            "listen-client-urls": etcd,
            "advertise-client-urls": etcd,
            "listen-peer-urls": f"http://127.0.0.1:{peer}",
            "unsafe-no-fsync": "true",
        }
        stack.enter_context(running(assets / "etcd", store, folder / "etcd.log"))
        stack.enter_context(running(assets / "kube-apiserver", flags, folder / "apiserver.log"))
        api = RealApi(folder, address, etcd)
        _wait(api, folder / "apiserver.log")
        yield api


@contextmanager
def running(program: Path, flags: Mapping[str, object], log: Path) -> Iterator[None]:
    arguments = [f"--{name}={value}" for name, value in flags.items()]
    with (
        log.open("w") as out,
        subprocess.Popen([str(program), *arguments], stdout=out, stderr=out) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(api: RealApi, log: Path) -> None:
    """Until it is ready and has the namespaces that every cluster has."""
    end = time.monotonic() + START
    while time.monotonic() < end:
        try:
            code, _ = api.request("GET", "/api/v1/namespaces/kube-system")
            if code == http.HTTPStatus.OK:
                code, _ = api.request("GET", "/api/v1/namespaces/default")
            if code == http.HTTPStatus.OK:
                return
        except (OSError, ValueError, http.client.HTTPException):
            pass
        time.sleep(0.5)
    raise TimeoutError(
        f"kube-apiserver is not ready; the end of its log:\n{log.read_text()[-3000:]}"
    )


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
