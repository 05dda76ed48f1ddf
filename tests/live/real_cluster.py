"""A whole control plane: the real API server, scheduler and controllers; kubelets of our own.

Beside what `tests.live.real_api` needs, KUBEBUILDER_ASSETS has to hold kube-scheduler and
kube-controller-manager, which bundles of envtest leave out. There are no machines: a kubelet here
says that a bound pod runs and is ready after some seconds, and that a deleted one is gone.
"""

from __future__ import annotations

import http
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.live import real_api
from tests.live.real_api import VARIABLE, RealApi, running

Json = dict[str, Any]
CONTROLLERS = ("kube-scheduler", "kube-controller-manager")
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
PATIENCE = 90.0
"""Seconds until a state that controllers should reach is given up."""


def missing() -> str | None:
    """Why there is no control plane to test with."""
    reason = real_api.missing()
    if reason is not None:
        return reason
    folder = Path(os.environ[VARIABLE])
    lacking = [name for name in CONTROLLERS if not (folder / name).exists()]
    return f"{folder} ({VARIABLE}) has no {', '.join(lacking)}" if lacking else None


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class Kubelets:
    """One loop that acts for the kubelets of all nodes that are alive."""

    api: RealApi
    ready_after: float = 0.5
    gone_after: float = 0.5
    dead: set[str] = field(default_factory=set)
    """Nodes whose kubelet no longer says anything."""
    _seen: dict[tuple[str, str], float] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Until `stop`; what the server refuses meanwhile is tried again in the next look."""
        beat = 0.0
        while not self._stop.wait(0.2):
            if time.monotonic() - beat > 3:
                self._beat()
                beat = time.monotonic()
            _, pods = self.api.request("GET", "/api/v1/pods")
            for pod in pods.get("items", ()):
                if pod["spec"].get("nodeName") and pod["spec"]["nodeName"] not in self.dead:
                    self._look_after(pod)

    def stop(self) -> None:
        self._stop.set()

    def _since(self, pod: Json, what: str) -> float:
        first = self._seen.setdefault((pod["metadata"]["uid"], what), time.monotonic())
        return time.monotonic() - first

    def _look_after(self, pod: Json) -> None:
        meta, status = pod["metadata"], pod.get("status", {})
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if "deletionTimestamp" in meta:
            if self._since(pod, "deleted") >= self.gone_after:
                uid = {"preconditions": {"uid": meta["uid"]}, "gracePeriodSeconds": 0}
                self.api.request("DELETE", path, uid)
        elif status.get("phase") == "Pending" and self._since(pod, "bound") >= self.ready_after:
            body = {**pod, "status": {**status, **running_status(pod)}}
            self.api.request("PUT", f"{path}/status", body)

    def _beat(self) -> None:
        """Each node's lease, by which the node lifecycle controller knows that it is alive."""
        _, nodes = self.api.request("GET", "/api/v1/nodes")
        for node in nodes.get("items", ()):
            name = node["metadata"]["name"]
            if name in self.dead:
                continue
            code, lease = self.api.request("GET", f"{LEASES}/{name}")
            spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now()}
            if code == http.HTTPStatus.NOT_FOUND:
                self.api.request("POST", LEASES, {"metadata": {"name": name}, "spec": spec})
            else:
                self.api.request("PUT", f"{LEASES}/{name}", {**lease, "spec": spec})


def running_status(pod: Json) -> Json:
    """What a kubelet says of a pod whose containers run and pass their probes."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
    kept = [c for c in pod["status"].get("conditions", ()) if c["type"] == "PodScheduled"]
    return {
        "phase": "Running",
        "startTime": moment,
        "conditions": kept
        + [{"type": kind, "status": "True", "lastTransitionTime": moment} for kind in kinds],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": moment}},
            }
            for container in pod["spec"]["containers"]
        ],
    }


@dataclass(frozen=True)
class RealCluster:
    """A running cluster, as the tests change it and look at it."""

    api: RealApi
    kubelets: Kubelets

    def add(self, items: Iterable[Json]) -> None:
        """Create objects as an administrator would: without uids and states."""
        for item in items:
            name = item["metadata"]["name"]
            if name != "kubernetes" and not name.startswith("system-"):  # every cluster has these
                self.api.put(fresh(item))

    def pods(self, **labels: str) -> list[Json]:
        """Those of all namespaces that have these labels, by name."""
        _, found = self.api.request("GET", "/api/v1/pods")
        chosen = (p for p in found["items"] if labels.items() <= labels_of(p).items())
        return sorted(chosen, key=lambda pod: str(pod["metadata"]["name"]))

    def ready(self, **labels: str) -> dict[str, list[str]]:
        """Names of ready pods by node."""
        found: dict[str, list[str]] = {}
        for pod in self.pods(**labels):
            conditions = {c["type"]: c["status"] for c in pod["status"].get("conditions", ())}
            if conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]:
                found.setdefault(pod["spec"]["nodeName"], []).append(pod["metadata"]["name"])
        return found

    def wait(self, what: str, holds: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Until it holds in two looks, a second apart: controllers may be halfway in one."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if holds():
                time.sleep(1)
                if holds():
                    return
            time.sleep(0.3)
        raise TimeoutError(f"waited {patience:.0f} s in vain: {what}")

    def wait_until_ready(self, count: int, **labels: str) -> None:
        def holds() -> bool:
            pods = self.pods(**labels)
            return len(pods) == count == sum(len(on) for on in self.ready(**labels).values())

        self.wait(f"{count} ready pods with {labels}", holds)

    def dump(self, path: Path) -> Path:
        """All objects that planner reads, as `kubectl get -o json` would give them."""
        from planner.sources.live.kinds import KINDS

        items: list[Json] = []
        for kind in KINDS:
            _, found = self.api.request("GET", kind.path)
            name = found.get("kind", "").removesuffix("List")
            version = {"apiVersion": found.get("apiVersion"), "kind": name}
            items += [{**version, **item} for item in found.get("items", ())]
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        return path


def fresh(item: Json) -> Json:
    """An object as it would be applied."""
    meta = item["metadata"]
    kept = {k: meta[k] for k in ("name", "namespace", "labels", "annotations") if k in meta}
    made = {k: v for k, v in item.items() if k not in ("metadata", "status")}
    if item["kind"] == "Node":
        made["spec"] = {k: v for k, v in item.get("spec", {}).items() if k in ("taints",)}
        status = item["status"]
        conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
        made["status"] = {
            "allocatable": status["allocatable"],
            "capacity": status.get("capacity", status["allocatable"]),
            "conditions": conditions,
        }
    return {**made, "metadata": kept}


def labels_of(item: Json) -> dict[str, str]:
    found: dict[str, str] = item["metadata"].get("labels", {})
    return found


@contextmanager
def real_cluster(folder: Path, *, grace: int = 50) -> Iterator[RealCluster]:
    """A control plane without nodes; one that is silent for `grace` seconds is unreachable."""
    assets = Path(os.environ[VARIABLE])
    with ExitStack() as stack:
        api = stack.enter_context(real_api.real_api(folder))
        common = {"kubeconfig": api.kubeconfig, "leader-elect": "false", "secure-port": "0"}
        manager = {
            **common,
            "node-monitor-period": "1s",
            "node-monitor-grace-period": f"{grace}s",
        }
        log = folder / "scheduler.log"
        stack.enter_context(running(assets / "kube-scheduler", common, log))
        log = folder / "controllers.log"
        stack.enter_context(running(assets / "kube-controller-manager", manager, log))
        kubelets = Kubelets(api)
        thread = threading.Thread(target=kubelets.run, daemon=True)
        thread.start()
        stack.callback(thread.join, 10)
        stack.callback(kubelets.stop)
        yield RealCluster(api, kubelets)
